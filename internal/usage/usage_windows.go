package usage

import (
	"fmt"
	"time"

	"golang.org/x/sys/windows"
)

// CPU returns the CPU seconds, user and system, that this process has used since it started, without its children.
func CPU() (float64, error) {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		return 0, fmt.Errorf("read this process's own usage: %w", err)
	}
	return (span(kernel) + span(user)).Seconds(), nil
}

// span is a length of time that came as one: Filetime.Nanoseconds is for dates.
func span(f windows.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}
