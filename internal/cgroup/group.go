// Package cgroup reads Linux's control groups, and makes one of its own for a process. Version 1, version 2 and both side by side are
// told apart by what is there, not by the kernel's version.
package cgroup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// A Group is a control group that a process is in, in one hierarchy.
type Group struct {
	// Path is its directory.
	Path string
	// Controllers are those of a version 1 hierarchy, empty for version 2.
	Controllers []string
}

// Has tells whether the group's hierarchy is of version 1 and has the controller.
func (g Group) Has(controller string) bool { return slices.Contains(g.Controllers, controller) }

// Unified tells whether the group is of version 2.
func (g Group) Unified() bool { return len(g.Controllers) == 0 }

// Of returns the groups of a process, as far as their hierarchies are mounted where this process sees them. The file system is
// at root, "/" but in tests. Hierarchies that have no controller are left out.
func Of(root string, pid int) ([]Group, error) {
	proc, err := procfs.NewFS(filepath.Join(root, "proc"))
	if err != nil {
		return nil, fmt.Errorf("control groups: %w", err)
	}
	p, err := proc.Proc(pid)
	if err != nil {
		return nil, fmt.Errorf("control groups of process %d: %w", pid, err)
	}
	memberships, err := p.Cgroups()
	if err != nil {
		return nil, fmt.Errorf("control groups of process %d: %w", pid, err)
	}
	self, err := proc.Self()
	if err != nil {
		return nil, fmt.Errorf("mounted control groups: %w", err)
	}
	mounts, err := self.MountInfo()
	if err != nil {
		return nil, fmt.Errorf("mounted control groups: %w", err)
	}
	var found []Group
	for _, m := range memberships {
		controllers := slices.DeleteFunc(slices.Clone(m.Controllers), func(c string) bool { return c == "" || strings.HasPrefix(c, "name=") })
		if m.HierarchyID != 0 && len(controllers) == 0 {
			continue // systemd's own
		}
		if path, ok := directory(mounts, controllers, m.Path); ok {
			found = append(found, Group{filepath.Join(root, path), controllers})
		}
	}
	return found, nil
}

// directory returns where a hierarchy's group is mounted.
func directory(mounts []*procfs.MountInfo, controllers []string, path string) (string, bool) {
	for _, m := range mounts {
		switch {
		case m.FSType == "cgroup2" && len(controllers) == 0:
		case m.FSType == "cgroup" && len(controllers) > 0 && hasOption(m, controllers[0]):
		default:
			continue
		}
		// In a container's namespace the mount shows a part of the hierarchy.
		below, ok := strings.CutPrefix(path, strings.TrimSuffix(m.Root, "/"))
		if !ok || below != "" && below[0] != '/' || strings.Contains(below, "/..") {
			continue
		}
		return filepath.Join(m.MountPoint, below), true
	}
	return "", false
}

func hasOption(m *procfs.MountInfo, controller string) bool {
	_, found := m.SuperOptions[controller]
	return found
}
