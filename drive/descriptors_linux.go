package drive

import "os"

// openDescriptors returns how many descriptors this process has open, 0 if that cannot be known.
func openDescriptors() int {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return 0
	}
	return len(names) - 1 // without dir itself
}
