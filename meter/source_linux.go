package meter

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
)

// A proc reads a proc file system.
type proc struct {
	fs   procfs.FS
	page float64 // bytes
}

func newSource(o Options) (source, error) {
	root := o.Proc
	if root == "" {
		root = procfs.DefaultMountPoint
	}
	at, err := procfs.NewFS(root)
	if err != nil {
		return nil, err
	}
	return proc{at, float64(os.Getpagesize())}, nil
}

func (p proc) list() ([]int, error) {
	all, err := p.fs.AllProcs()
	if err != nil {
		return nil, err
	}
	pids := make([]int, len(all))
	for i := range all {
		pids[i] = all[i].PID
	}
	return pids, nil
}

func (p proc) look(pid int) (process, error) {
	at, err := p.fs.Proc(pid)
	if err != nil {
		return process{}, gone(err)
	}
	s, err := at.Stat()
	if err != nil {
		return process{}, gone(err)
	}
	zombie := s.State == "Z" || s.State == "X" || s.State == "x"
	found := process{
		id:     identity{pid, s.Starttime},
		parent: s.PPID,
		name:   s.Comm,
		cpu:    float64(s.UTime+s.STime) * tick,
		reaped: float64(s.CUTime+s.CSTime) * tick,
		// A first thread that has ended before the others shows as a zombie, but the process lives.
		zombie: zombie && s.NumThreads <= 1,
	}
	if !zombie {
		found.ram = float64(s.RSS) * p.page
	}
	return found, nil
}

// gone gives the ways in which a file of a process that has ended cannot be read their one name.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return errGone
	}
	return err
}

// fine adds up the schedulers' nanoseconds of the threads. The times in stat are exact sums for the process, but cut to
// ticks, user and system each, so that they show up to two ticks less than was used; the threads' own have no such
// error, but lack those threads that have ended. Neither is ever more than the truth, so the greater one is the better.
func (p proc) fine(pid int) float64 {
	threads, err := p.fs.AllThreads(pid)
	if err != nil {
		return 0
	}
	var ns uint64
	for _, t := range threads {
		if s, err := t.Schedstat(); err == nil {
			ns += s.RunningNanoseconds
		}
	}
	return float64(ns) / 1e9
}

func (p proc) pss(pid int) (float64, error) {
	at, err := p.fs.Proc(pid)
	if err != nil {
		return 0, gone(err)
	}
	sums, err := at.ProcSMapsRollup()
	if err != nil {
		return 0, gone(err)
	}
	return float64(sums.Pss), nil
}

func (p proc) command(pid int) string {
	at, err := p.fs.Proc(pid)
	if err != nil {
		return ""
	}
	words, err := at.CmdLine()
	if err != nil {
		return ""
	}
	return strings.Join(words, " ")
}
