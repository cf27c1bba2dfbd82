//go:build unix

package drive

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/ddpgate/ddpgate/internal/tasksapp"
)

// Sessions that this machine had no descriptors for are counted apart: they say nothing of the app. It needs a process of its
// own.
func TestExhausted(t *testing.T) {
	if url := os.Getenv("DRIVE_TEST_EXHAUST"); url != "" {
		exhaust(t, url)
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), program, "-test.run=^TestExhausted$")
	child.Env = append(os.Environ(), "DRIVE_TEST_EXHAUST="+tasks(t, tasksapp.Options{}))
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func exhaust(t *testing.T, url string) {
	few := syscall.Rlimit{Cur: 40, Max: 40}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	sc := parsed(t, "  - subscribe: {name: fetchTasks}\n  - pause: {until: arrived}\n  - pause: 300ms\n", "arrivals: {rate: 300/s, for: 200ms}")
	p := driven(t, sc, Options{URL: url})
	if p.Exhausted < 10 || p.Exhausted != p.Failed || causes(p)["out of descriptors or ports"] != p.Failed || p.OK == 0 {
		t.Errorf("got %d ok, %d failed, %d of them exhausted: %+v", p.OK, p.Failed, p.Exhausted, p.Failures)
	}
}
