package meter

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// cost returns the CPU seconds that work takes, which must not hand its work to other goroutines.
func cost(work func()) float64 {
	runtime.LockOSThread() // the clock is the thread's
	defer runtime.UnlockOSThread()
	before := threadTime()
	work()
	return (threadTime() - before).Seconds()
}

func threadTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
