package cgroup

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// hold starts a process that lives until its input ends.
func hold(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return cmd
}

// On the machine's own hierarchies: either there is a group, which holds the process and is gone after it, or a reason.
func TestOwn(t *testing.T) {
	cmd := hold(t)
	pid := cmd.Process.Pid
	o, err := Make("/", pid)
	if err != nil {
		if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) && !strings.Contains(err.Error(), "control group") {
			t.Fatalf("no group, and no reason that a reader understands: %v", err)
		}
		t.Logf("no group of its own here: %v", err)
		return
	}
	t.Cleanup(func() { o.Remove() })
	if err := o.Enter(pid); err != nil {
		t.Fatal(err)
	}
	now, err := Of("/", pid)
	if err != nil {
		t.Fatal(err)
	}
	inside := 0
	for _, g := range now {
		for _, dir := range o.Directories() {
			if g.Path == dir {
				inside++
			}
		}
	}
	if inside != len(o.Directories()) {
		t.Errorf("the process is in %v, want it in all of %v", now, o.Directories())
	}
	r := Read(o.Directories())
	if _, found := r.Values[CPU]; !found {
		t.Errorf("no CPU time: %s", r.Missing[CPU])
	}
	if err := o.Remove(); err == nil {
		t.Error("a group that holds a process was removed")
	}
	if err := o.Leave(pid); err != nil {
		t.Fatal(err)
	}
	if err := o.Remove(); err != nil {
		t.Errorf("remove: %v", err)
	}
	if err := o.Remove(); err != nil {
		t.Errorf("remove again: %v", err)
	}
}

// A group whose maker was killed goes when the next one is made; one whose maker lives stays.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(dir, prefix+strconv.Itoa(ended.Process.Pid))
	live := filepath.Join(dir, prefix+strconv.Itoa(os.Getpid()))
	other := filepath.Join(dir, prefix+"of-somebody")
	for _, path := range []string{filepath.Join(stale, "below"), live, other} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sweep("/", []Group{{Path: dir}})
	if _, err := os.Stat(stale); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the group of a dead maker: %v", err)
	}
	for _, path := range []string{live, other} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
