package affinity

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

var allowedLine = regexp.MustCompile(`(?m)^Cpus_allowed_list:\s*(\S+)$`)

// threads returns the different lists of CPUs that the threads of this process have.
func threads(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(files) == 0 {
		t.Fatalf("no threads: %v", err)
	}
	var all []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		m := allowedLine.FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s does not say which CPUs", file)
		}
		all = append(all, string(m[1]))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Every thread is moved, those that begin later too, and what is started from any of them; afterwards all is as before.
func TestProcess(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	runtime.SetDefaultGOMAXPROCS()
	before, parallel := threads(t), runtime.GOMAXPROCS(0)
	there, err := Available()
	if err != nil {
		t.Fatal(err)
	}
	one := there[len(there)-1:]
	restore, err := Process(one)
	if err != nil {
		t.Fatal(err)
	}
	var starting sync.WaitGroup
	children := make([]string, 8)
	for i := range children {
		starting.Go(func() { // each in a system call of its own, which takes threads
			out, err := exec.Command("grep", "Cpus_allowed_list", "/proc/self/status").Output()
			children[i] = fmt.Sprintf("%v: %s", err, strings.TrimSpace(string(out)))
		})
	}
	starting.Wait()
	want := one.String()
	for _, got := range children {
		if got != "<nil>: Cpus_allowed_list:\t"+want {
			t.Errorf("a child says %q, want CPU %s", got, want)
		}
	}
	if got := threads(t); !slices.Equal(got, []string{want}) {
		t.Errorf("threads may use %q, want %s alone", got, want)
	}
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Errorf("the runtime uses %d CPUs, want 1", n)
	}
	if now, err := Available(); err != nil || !slices.Equal(now, one) {
		t.Errorf("got %v, %v available, want %v", now, err, one)
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if got := threads(t); !slices.Equal(got, before) {
		t.Errorf("afterwards threads may use %q, want %q", got, before)
	}
	if n := runtime.GOMAXPROCS(0); n != parallel {
		t.Errorf("afterwards the runtime uses %d CPUs, want %d", n, parallel)
	}
}

// A CPU that is not there is told before anything is tried, with those that are; what is tried all the same changes nothing.
func TestNotThere(t *testing.T) {
	there, err := Available()
	if err != nil {
		t.Fatal(err)
	}
	before := threads(t)
	err = Split{App: there[:1], Driver: CPUs{most - 1}}.Check()
	if want := fmt.Sprintf("driver: this process may not use CPU 1023; it may use %v", there); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := Process(CPUs{most - 1}); err == nil || !strings.Contains(err.Error(), "CPU 1023") {
		t.Errorf("got %v, want CPU 1023 refused", err)
	}
	if got := threads(t); !slices.Equal(got, before) {
		t.Errorf("threads may use %q, want %q", got, before)
	}
}
