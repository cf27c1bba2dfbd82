package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// grouped starts an app that has children and orphans, and returns its process.
func grouped(t *testing.T, c *cast) (*App, Process) {
	t.Helper()
	a := started(t, familyOf(t, c), Options{Grace: 200 * time.Millisecond})
	for _, name := range family {
		c.enter(name)
	}
	p := a.Processes()[0]
	if (len(p.Groups) > 0) == (p.Ungrouped != "") {
		t.Fatalf("groups %v, and the reason why there are none is %q", p.Groups, p.Ungrouped)
	}
	return a, p
}

func wantRemoved(t *testing.T, groups []string) {
	t.Helper()
	for _, dir := range groups {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left behind: %v", dir, err)
		}
	}
}

// Where the system allows it, an app has control groups that hold all that descends from it and nothing else, and that go with it.
func TestGroupsHoldTheWholeTree(t *testing.T) {
	c := newCast(t)
	a, p := grouped(t, c)
	for _, dir := range p.Groups {
		held, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range family {
			if pid := strconv.Itoa(c.in[name].pid); !strings.Contains("\n"+string(held), "\n"+pid+"\n") {
				t.Errorf("%s (process %s) is not in %s, which holds %q", name, pid, dir, held)
			}
		}
		if guard := strconv.Itoa(p.Reaper); strings.Contains("\n"+string(held), "\n"+guard+"\n") {
			t.Errorf("the guard (process %s) is in %s", guard, dir)
		}
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	wantRemoved(t, p.Groups)
}

func TestGroupsOfAGuardThatWasKilled(t *testing.T) {
	c := newCast(t)
	a, p := grouped(t, c)
	if err := syscall.Kill(p.Reaper, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-a.Done()
	if err := a.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	for _, name := range family {
		if len(p.Groups) == 0 { // what left the app's process group is then not found
			_ = syscall.Kill(c.in[name].pid, syscall.SIGKILL)
		}
		c.leave(name)
	}
	wantRemoved(t, p.Groups)
}

// A guard that was put back is in no group that is to be removed.
func TestEncloseAndLeave(t *testing.T) {
	own := new(tree)
	leave := own.enclose()
	for _, dir := range own.groups.Directories {
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
	leave()
	leave()
	own.release()
	wantRemoved(t, own.groups.Directories)
}
