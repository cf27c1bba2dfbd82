package probe

import (
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// processor returns the processor's model, and whether it says that it is a virtual machine's.
func processor(proc procfs.FS) (model string, virtual bool) {
	cpus, err := proc.CPUInfo()
	if err != nil || len(cpus) == 0 {
		return "", false
	}
	return strings.Join(strings.Fields(cpus[0].ModelName), " "), slices.Contains(cpus[0].Flags, "hypervisor")
}
