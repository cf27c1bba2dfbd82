package baseline

import (
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

// TestKilledDir kills a save before each of its system calls that change something.
func TestKilledDir(t *testing.T) {
	spec := "dir:" + filepath.Join(t.TempDir(), "baselines")
	save(t, open(t, spec), "main", 1)
	entries, kept, n := 1, 0, 1
	for ended := false; !ended; n++ {
		ended = killAt(t, writer(spec, 10*n), n)
		was := entries
		entries = checkCut(t, spec, entries)
		kept += entries - was - 1
	}
	if n < 10 || kept == 0 {
		t.Errorf("%d system calls, %d whole saves: the test does not see them", n, kept)
	}
}

// killAt starts a process and kills it when it is about to make its nth changing system call. It returns true if the process came to its end before.
func killAt(t *testing.T, cmd *exec.Cmd, n int) (ended bool) {
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
	inside, seen, killed := make(map[int]bool), 0, false
	for at, signal := pid, 0; ; {
		_ = syscall.PtraceSyscall(at, signal) // a thread may be gone
		var err error
		if at, err = syscall.Wait4(-pid, &status, syscall.WALL, nil); err != nil {
			t.Fatal(err)
		}
		signal = 0
		switch {
		case (status.Exited() || status.Signaled()) && at == pid:
			return !killed
		case status.Exited() || status.Signaled():
			continue
		case status.StopSignal() == syscall.SIGTRAP|0x80:
			if inside[at] = !inside[at]; inside[at] && changes(at) {
				if seen++; seen == n {
					killed = true
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		case status.StopSignal() != syscall.SIGTRAP && status.StopSignal() != syscall.SIGSTOP:
			signal = int(status.StopSignal())
		}
	}
}

// changes says whether a thread that stopped before a system call is about to change something.
func changes(thread int) bool {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(thread, &regs); err != nil {
		return false
	}
	if regs.Orig_rax == syscall.SYS_OPENAT {
		return regs.Rdx&syscall.O_CREAT != 0
	}
	return changing[regs.Orig_rax]
}
