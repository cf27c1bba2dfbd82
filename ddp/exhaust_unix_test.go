//go:build unix

package ddp

import (
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// Descriptors run out in a process of their own: this one needs its own.
func TestExhausted(t *testing.T) {
	if address := os.Getenv("DDP_TEST_EXHAUST"); address != "" {
		exhaust(t, address)
		return
	}
	n := overTCP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := upgrade(w, r, "")
		if err != nil {
			return // the client is dead by then
		}
		defer ws.Close()
		_ = ws.greet(WebSocket)
		ws.drain()
	}))
	child := rerun(t, "TestExhausted", "DDP_TEST_EXHAUST="+n.address)
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// rerun is one test of this program in a process of its own.
func rerun(t *testing.T, test, variable string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), program, "-test.run=^"+test+"$")
	child.Env = append(os.Environ(), variable)
	return child
}

// exhaust opens connections until there are no more descriptors.
func exhaust(t *testing.T, address string) {
	few := syscall.Rlimit{Cur: 40, Max: 40}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	for range 60 {
		c, err := Dial(t.Context(), address, Options{Transport: WebSocket, Compression: Off})
		if err != nil {
			if !endedWith(err, Exhausted) {
				t.Errorf("got %v, want %s", err, Exhausted)
			}
			return
		}
		defer c.Abandon()
	}
	t.Error("descriptors never ran out")
}
