//go:build unix

package usage

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// CPU returns the CPU seconds, user and system, that this process has used since it started, without its children.
func CPU() (float64, error) {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return 0, fmt.Errorf("read this process's own usage: %w", err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds(), nil
}
