package app

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A tree is a process that the guard started, in a job: the system kills all of a job when the guard, which holds it, ends.
type tree struct {
	root    int
	process *os.Process
	job     windows.Handle
	groups  groups
}

// start starts the tree's first process.
func (t *tree) start(s spec, output *os.File) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("create a job: %w", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		return fmt.Errorf("set up the job: %w", err)
	}
	// In the job itself first, so that what it starts is born there.
	if err := windows.AssignProcessToJobObject(job, windows.CurrentProcess()); err != nil {
		return fmt.Errorf("enter the job: %w", err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	t.job, t.groups.Why = job, noGroups
	t.process, err = os.StartProcess(s.Path, s.Args, &os.ProcAttr{
		Dir: s.Dir, Env: s.Env, Files: []*os.File{null, output, output},
	})
	if err != nil {
		return err
	}
	t.root = t.process.Pid
	return nil
}

// reap waits for the first process; the others are the job's.
func (t *tree) reap(exits chan<- ended) {
	defer close(exits)
	if state, err := t.process.Wait(); err == nil {
		exits <- ended{PID: t.root, Code: state.ExitCode()}
	}
}

// term kills the first process: there is no gentler word that every program understands here.
func (t *tree) term() { _ = t.process.Kill() }

// termRest does nothing: the rest ends with the guard.
func (t *tree) termRest(bool) {}

// kill kills the first process; the guard's end kills the rest.
func (t *tree) kill() { _ = t.process.Kill() }

// release does nothing: there are no groups here but the job.
func (t *tree) release() {}

func guardAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// killGroup does nothing: a guard's end kills its job.
func killGroup(int) {}

func self() (string, error) { return os.Executable() }

// reaper is none: orphans go elsewhere here.
func (p *process) reaper() int { return 0 }
