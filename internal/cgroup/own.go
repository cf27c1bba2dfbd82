package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Own is a group made for one process tree, in one or more hierarchies. The zero value is none.
type Own struct {
	groups []string // directories
	homes  []string // where who makes it came from, in the same order
}

// prefix begins the names of groups of our own; the maker's process id follows.
const prefix = "ddpgate-"

// Make makes a group below those of a process, for what accounts for CPU time, and for memory where that can be without any effect on how
// the processes in it are treated. An error says why there is none.
func Make(root string, pid int) (Own, error) {
	groups, err := Of(root, pid)
	if err != nil {
		return Own{}, err
	}
	sweep(root, groups)
	var o Own
	name := prefix + strconv.Itoa(pid)
	cpu, err := accounting(groups, name)
	if err != nil {
		return Own{}, err
	}
	o.add(cpu, name)
	memory := slices.IndexFunc(groups, func(g Group) bool { return g.Has("memory") && len(g.Controllers) == 1 })
	if memory >= 0 && mkdir(groups[memory], name) == nil {
		o.add(groups[memory], name)
	}
	return o, nil
}

func (o *Own) add(g Group, name string) {
	o.groups = append(o.groups, filepath.Join(g.Path, name))
	o.homes = append(o.homes, g.Path)
}

// accounting makes a group that accounts for CPU time and returns what it was made below. A group of version 1's cpu controller
// would get a share of its own in the processors, so one that is tied to it will not do.
func accounting(groups []Group, name string) (Group, error) {
	var why error
	for _, unified := range []bool{false, true} {
		for _, g := range groups {
			if g.Unified() != unified || !unified && (!g.Has("cpuacct") || len(g.Controllers) > 1) {
				continue
			}
			if err := mkdir(g, name); err != nil {
				why = err
				continue
			}
			path := filepath.Join(g.Path, name)
			reason, missing := Read([]string{path}).Missing[CPU]
			if !missing {
				return g, nil
			}
			why = errors.Join(fmt.Errorf("%s: %s", path, reason), os.Remove(path))
		}
	}
	if why == nil {
		why = errors.New("no hierarchy of control groups accounts for CPU time alone")
	}
	return Group{}, why
}

func mkdir(g Group, name string) error {
	err := os.Mkdir(filepath.Join(g.Path, name), 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil // left by a process of the same number
	}
	return err
}

// sweep removes groups whose makers are gone, where they are empty.
func sweep(root string, groups []Group) {
	for _, g := range groups {
		entries, _ := os.ReadDir(g.Path)
		for _, e := range entries {
			maker, ours := strings.CutPrefix(e.Name(), prefix)
			if _, err := strconv.Atoi(maker); !ours || err != nil {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, "proc", maker)); errors.Is(err, fs.ErrNotExist) {
				_ = remove(filepath.Join(g.Path, e.Name())) // one that is in use stays
			}
		}
	}
}

// Directories returns where the group can be read.
func (o Own) Directories() []string { return slices.Clone(o.groups) }

// Enter puts a process into the group, with what it starts from now on.
func (o Own) Enter(pid int) error { return move(o.groups, pid) }

// Leave puts a process back to where the maker was.
func (o Own) Leave(pid int) error { return move(o.homes, pid) }

func move(directories []string, pid int) error {
	for _, dir := range directories {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes the group. All its processes must have ended.
func (o Own) Remove() error { return Remove(o.groups) }

// Remove removes groups by their directories, with those below them. One that is not there is no error.
func Remove(directories []string) error {
	var faults []error
	for _, dir := range directories {
		faults = append(faults, remove(dir))
	}
	return errors.Join(faults...)
}

// End kills what is in groups and removes them. It gives up after the limit.
func End(directories []string, limit time.Duration) error {
	over := time.Now().Add(limit)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		err := Remove(directories)
		if err == nil || time.Now().After(over) {
			return err
		}
		for _, dir := range directories {
			kill(dir)
		}
		<-again.C
	}
}

func kill(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "cgroup.procs" {
			return nil
		}
		text, _ := os.ReadFile(path)
		for _, field := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(field)
			if err != nil || pid <= 0 {
				continue // 0 is one that this process cannot see
			}
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
			}
		}
		return nil
	})
}

// remove removes the directories and lets the files be: they are the kernel's and go with them.
func remove(dir string) error {
	var all []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			all = append(all, path)
		}
		return nil
	})
	for _, path := range slices.Backward(all) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
