package app

import (
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/ddpgate/ddpgate/internal/cgroup"
)

// adopt makes the guard the parent of all orphans below it, so that a process that left its group and session, and whose
// parent has ended, is still found.
func adopt() {
	// It cannot fail on a kernel that Go runs on; without it the process group is still killed.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// enclose makes a control group for the tree and puts the guard into it until leave is called, so that what it starts is born
// there. Where that is not allowed the tree's groups say why.
func (t *tree) enclose() (leave func()) {
	self := os.Getpid()
	own, err := cgroup.Make("/", self)
	if err == nil {
		if err = own.Enter(self); err != nil {
			err = errors.Join(err, own.Leave(self), own.Remove())
		}
	}
	if err != nil {
		t.groups.Why = strings.ReplaceAll(err.Error(), "\n", "; ")
		return func() {}
	}
	t.groups.Directories = own.Directories()
	return sync.OnceFunc(func() { _ = own.Leave(self) }) // it came from there
}

// rootAttr gives the app a process group, and ends it when even the guard is killed.
func rootAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// descendants returns the processes below this one, nothing where /proc cannot be read.
func descendants() []descendant {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil
	}
	procs, err := fs.AllProcs()
	if err != nil {
		return nil
	}
	children := make(map[int][]descendant)
	for _, p := range procs {
		if s, err := p.Stat(); err == nil {
			children[s.PPID] = append(children[s.PPID], descendant{s.PID, s.PGRP})
		}
	}
	below := children[os.Getpid()]
	for i := 0; i < len(below); i++ {
		below = append(below, children[below[i].pid]...)
	}
	return below
}

// self is this program, also when its file was replaced since.
func self() (string, error) {
	const path = "/proc/self/exe"
	if _, err := os.Stat(path); err != nil {
		return os.Executable()
	}
	return path, nil
}

// reaper is the guard: see adopt.
func (p *process) reaper() int { return p.guard.Process.Pid }
