//go:build !linux

package probe

import "github.com/prometheus/procfs"

// processor knows nothing: the library reads processors on Linux only.
func processor(procfs.FS) (model string, virtual bool) { return "", false }
