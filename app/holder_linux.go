package app

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/prometheus/procfs"
)

// listening is a TCP socket's state in /proc/net/tcp when it listens.
const listening = 10

// holder names the process that listens on a port of this machine, empty where that cannot be seen.
func holder(port uint64) string {
	all := holders(port)
	if len(all) == 0 {
		return ""
	}
	name, _ := all[0].Comm()
	return fmt.Sprintf("process %d (%s)", all[0].PID, name)
}

// holders returns the processes that listen on a port, by number, as far as that can be seen.
func holders(port uint64) procfs.Procs {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil
	}
	var sockets []string
	//lint:ignore SA1019 Netlink would be one more library for two short files that are read once.
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
		return nil
	}
	slices.SortFunc(procs, func(a, b procfs.Proc) int { return cmp.Compare(a.PID, b.PID) })
	return slices.DeleteFunc(procs, func(p procfs.Proc) bool {
		open, _ := p.FileDescriptorTargets() // of other users' processes there is nothing to see
		return !slices.ContainsFunc(open, func(target string) bool { return slices.Contains(sockets, target) })
	})
}

// meteorBuild is in the command line of the app that meteor run starts. What listens on the app's port is its tool, which hands on
// what comes.
var meteorBuild = regexp.MustCompile(`(^|/)\.meteor/local/build/main\.js$`)

// server returns the process that is the app proper: the nearest to the root of those that listen on the port, the root itself
// included, or the one that Meteor's tool has built. It is 0 where that cannot be seen.
func server(root int, port uint64) int {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0
	}
	procs, _ := fs.AllProcs()
	for _, p := range procs {
		words, _ := p.CmdLine()
		if slices.ContainsFunc(words, meteorBuild.MatchString) && depth(fs, root, p.PID) > 0 {
			return p.PID
		}
	}
	found, nearest := 0, math.MaxInt
	for _, p := range holders(port) {
		if d := depth(fs, root, p.PID); d >= 0 && d < nearest {
			found, nearest = p.PID, d
		}
	}
	return found
}

// depth returns how many generations a process is below the root, -1 if it is not.
func depth(fs procfs.FS, root, pid int) int {
	for d := 0; pid > 1; d++ {
		if pid == root {
			return d
		}
		p, err := fs.Proc(pid)
		if err != nil {
			return -1
		}
		s, err := p.Stat()
		if err != nil {
			return -1
		}
		pid = s.PPID
	}
	return -1
}
