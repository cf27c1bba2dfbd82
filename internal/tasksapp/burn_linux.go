package tasksapp

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// burn uses up d of processor time, however long that takes on a busy machine.
func burn(d time.Duration) {
	runtime.LockOSThread() // the clock is the thread's
	defer runtime.UnlockOSThread()
	for start := threadTime(); threadTime()-start < d; {
		_ = spin()
	}
}

func threadTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(err) // Linux has had this clock since 2.6.12
	}
	return time.Duration(ts.Nano())
}
