//go:build !linux

package tasksapp

import "time"

// burn keeps the processor busy for d by the clock on the wall: less than d of processor time where it is contended.
func burn(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
		_ = spin()
	}
}
