//go:build !linux

package affinity

import (
	"fmt"
	"runtime"
)

func unsupported() error {
	return fmt.Errorf("a program can be kept on CPUs of its own on Linux only, and this is %s", runtime.GOOS)
}

// Available fails: CPUs cannot be chosen here.
func Available() (CPUs, error) { return nil, unsupported() }

// Thread fails where CPUs are asked for.
func Thread(c CPUs) error {
	if len(c) == 0 {
		return nil
	}
	return unsupported()
}

// Process fails where CPUs are asked for.
func Process(c CPUs) (restore func() error, err error) {
	if len(c) == 0 {
		return func() error { return nil }, nil
	}
	return nil, unsupported()
}
