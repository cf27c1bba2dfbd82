//go:build unix && !linux

package app

import (
	"os"
	"syscall"
)

// adopt does nothing: orphans go to the first process here.
func adopt() {}

// enclose does nothing but say so.
func (t *tree) enclose() (leave func()) {
	t.groups.Why = noGroups
	return func() {}
}

func rootAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// descendants returns nothing: the process group is what is known here.
func descendants() []descendant { return nil }

func self() (string, error) { return os.Executable() }

// reaper is none: orphans go elsewhere here.
func (p *process) reaper() int { return 0 }
