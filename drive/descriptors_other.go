//go:build !linux

package drive

func openDescriptors() int { return 0 }
