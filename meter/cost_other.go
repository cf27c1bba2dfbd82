//go:build !linux

package meter

import "time"

// cost returns the seconds that work takes by the clock on the wall, which is more than its CPU time where others are busy.
func cost(work func()) float64 {
	start := time.Now()
	work()
	return time.Since(start).Seconds()
}
