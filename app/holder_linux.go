package app

import (
	"fmt"
	"slices"

	"github.com/prometheus/procfs"
)

// listening is a TCP socket's state in /proc/net/tcp when it listens.
const listening = 10

// holder names the process that listens on a port of this machine, empty where that cannot be seen.
func holder(port uint64) string {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return ""
	}
	var sockets []string
	for _, read := range []func() (procfs.NetTCP, error){fs.NetTCP, fs.NetTCP6} {
		lines, _ := read()
		for _, l := range lines {
			if l.St == listening && l.LocalPort == port {
				sockets = append(sockets, fmt.Sprintf("socket:[%d]", l.Inode))
			}
		}
	}
	procs, err := fs.AllProcs()
	if err != nil || len(sockets) == 0 {
		return ""
	}
	for _, p := range procs {
		open, _ := p.FileDescriptorTargets() // of other users' processes there is nothing to see
		for _, target := range open {
			if slices.Contains(sockets, target) {
				name, _ := p.Comm()
				return fmt.Sprintf("process %d (%s)", p.PID, name)
			}
		}
	}
	return ""
}
