//go:build unix

package app

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ddpgate/ddpgate/internal/cgroup"
)

// A tree is a process that the guard started, in a process group of its own, and all that descends from it.
type tree struct {
	root   int
	groups groups
}

// start starts the tree's first process. The calling thread must last as long as the guard.
func (t *tree) start(s spec, output *os.File) error {
	adopt()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	// The process is born in its group, so that not even its first steps are missed.
	leave := t.enclose()
	defer leave()
	// Not os.StartProcess: it would want to wait for the process itself.
	t.root, err = syscall.ForkExec(s.Path, s.Args, &syscall.ProcAttr{
		Dir:   s.Dir,
		Env:   s.Env,
		Files: []uintptr{null.Fd(), output.Fd(), output.Fd()},
		Sys:   rootAttr(),
	})
	if err != nil {
		leave()
		t.release()
	}
	return err
}

// release removes the groups that were made for the tree. Nothing of it may be left.
func (t *tree) release() { _ = cgroup.Remove(t.groups.Directories) }

// reap waits for all that is the guard's child, by birth or because its parent ended, until there is nothing left; then
// it closes exits.
func (t *tree) reap(exits chan<- ended) {
	defer close(exits)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return
		}
		e := ended{PID: pid, Code: status.ExitStatus()}
		if status.Signaled() {
			e.Signal = unix.SignalName(status.Signal())
		}
		exits <- e
	}
}

// term sends SIGTERM to the root's process group. The root must not have been waited for: its number may be another's then.
func (t *tree) term() { _ = syscall.Kill(-t.root, syscall.SIGTERM) }

// termRest sends SIGTERM to all that is left outside of the root's process group, and in it too if group is set.
func (t *tree) termRest(group bool) {
	for _, d := range descendants() {
		if group || d.group != t.root {
			_ = syscall.Kill(d.pid, syscall.SIGTERM)
		}
	}
}

// kill sends SIGKILL to all that is left.
func (t *tree) kill() {
	found := descendants()
	for _, d := range found {
		_ = syscall.Kill(d.pid, syscall.SIGKILL)
	}
	if len(found) == 0 {
		_ = syscall.Kill(-t.root, syscall.SIGKILL)
	}
}

// A descendant is a process below the guard.
type descendant struct{ pid, group int }

// guardAttr gives a guard a process group of its own, so that Ctrl-C in a terminal does not reach it.
func guardAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills what is left of an app's process group when its guard was killed.
func killGroup(root int) { _ = syscall.Kill(-root, syscall.SIGKILL) }
