package baseline

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// changing are the system calls that change a file system, openat where it makes a file.
var changing = map[uint64]bool{
	syscall.SYS_WRITE: true, syscall.SYS_MKDIRAT: true, syscall.SYS_RENAMEAT: true, 316 /* renameat2 */ : true, syscall.SYS_LINKAT: true, syscall.SYS_UNLINKAT: true,
	syscall.SYS_FSYNC: true, syscall.SYS_FTRUNCATE: true, syscall.SYS_FCHMOD: true, syscall.SYS_FCHMODAT: true, syscall.SYS_CLOSE: true,
}

// showing are those of them after which others see something else, and openat.
var showing = map[uint64]bool{syscall.SYS_WRITE: true, syscall.SYS_RENAMEAT: true, 316: true, syscall.SYS_LINKAT: true, syscall.SYS_UNLINKAT: true}

// TestKilledDir kills a save before each of its system calls that change something.
func TestKilledDir(t *testing.T) {
	spec := "dir:" + filepath.Join(t.TempDir(), "baselines")
	save(t, open(t, spec), "main", 1)
	entries, kept, n := 1, 0, 1
	for ended := false; !ended; n++ {
		ended = !stopAt(t, writer(spec, 10*n), changing, n, kill)
		was := entries
		entries = checkCut(t, spec, entries)
		kept += entries - was - 1
	}
	if n < 10 || kept == 0 {
		t.Errorf("%d system calls, %d whole saves: the test does not see them", n, kept)
	}
}

// TestPruneAgainstSaveInDir stops at each system call that others see the outcome of.
func TestPruneAgainstSaveInDir(t *testing.T) {
	for _, m := range meetings {
		t.Run(m.name, func(t *testing.T) {
			filled := filepath.Join(t.TempDir(), "filled")
			contested(t, filled)
			n := 1
			for met := true; met; n++ {
				spec := filepath.Join(t.TempDir(), "baselines")
				if err := os.CopyFS(spec, os.DirFS(filled)); err != nil {
					t.Fatal(err)
				}
				other := open(t, spec)
				met = stopAt(t, m.process(spec), showing, n, func(pid int) {
					if err := m.other(t.Context(), other); err != nil {
						t.Error(err)
					}
					if m.killed {
						kill(pid)
					}
				})
				checkContested(t, spec, m.saved(met))
			}
			if n < 5 {
				t.Errorf("%d system calls: the test does not see them", n)
			}
		})
	}
}

func kill(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }

// stopAt starts a process, and does something when it is about to make the nth of these system calls. It returns false if the process came to its end before.
func stopAt(t *testing.T, cmd *exec.Cmd, calls map[uint64]bool, n int, do func(pid int)) (stopped bool) {
	t.Helper()
	runtime.LockOSThread() // the thread that starts a process is its tracer
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	defer func() { _ = cmd.Process.Release() }()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	const exitKill, sysGood = 0x100000, 1
	if err := syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACECLONE|sysGood|exitKill); err != nil {
		t.Fatal(err)
	}
	inside, seen := make(map[int]bool), 0
	for at, signal := pid, 0; ; {
		_ = syscall.PtraceSyscall(at, signal) // a thread may be gone
		var err error
		if at, err = syscall.Wait4(-pid, &status, syscall.WALL, nil); err != nil {
			t.Fatal(err)
		}
		signal = 0
		switch {
		case (status.Exited() || status.Signaled()) && at == pid:
			return stopped
		case status.Exited() || status.Signaled():
			continue
		case status.StopSignal() == syscall.SIGTRAP|0x80:
			if inside[at] = !inside[at]; inside[at] && isOneOf(calls, at) {
				if seen++; seen == n {
					stopped = true
					do(pid)
				}
			}
		case status.StopSignal() != syscall.SIGTRAP && status.StopSignal() != syscall.SIGSTOP:
			signal = int(status.StopSignal())
		}
	}
}

// isOneOf says whether a thread stopped before one of the calls, or before it makes a file.
func isOneOf(calls map[uint64]bool, thread int) bool {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(thread, &regs); err != nil {
		return false
	}
	if regs.Orig_rax == syscall.SYS_OPENAT {
		return regs.Rdx&syscall.O_CREAT != 0
	}
	return calls[regs.Orig_rax]
}
