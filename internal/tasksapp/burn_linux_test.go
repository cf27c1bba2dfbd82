package tasksapp

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"
)

func TestBurnUsesProcessorTime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const want = 30 * time.Millisecond
	before := usage(t, syscall.RUSAGE_THREAD)
	burn(want)
	if got := usage(t, syscall.RUSAGE_THREAD) - before; got < want-time.Millisecond || got > 2*want {
		t.Errorf("burnt %v of processor time, want %v", got, want)
	}
}

func TestCPU(t *testing.T) {
	server := startTCP(t, Options{CPU: 5 * time.Millisecond})
	c := server.connected(sockjsPath, false)
	before := usage(t, syscall.RUSAGE_SELF)
	const calls = 20
	for i := range calls {
		c.call(fmt.Sprint(i), "fetchTasks", "{}")
		c.until(fmt.Sprintf(`{"msg":"result","id":"%d"`, i))
	}
	if got := usage(t, syscall.RUSAGE_SELF) - before; got < calls*5*time.Millisecond {
		t.Errorf("%d methods used %v of processor time, want at least 5ms each", calls, got)
	}
	c.bye()
	if err := server.stop(); err != nil {
		t.Error(err)
	}
}

func usage(t *testing.T, who int) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
