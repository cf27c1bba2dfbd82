package meter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Absent returns an error that names each part of a tree, by Target.Match or Target.Process, of which there is no process now, and what
// there is instead; nil if all are there.
func (m *Meter) Absent() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var faults []error
	for _, t := range m.ledger.trees {
		for _, r := range t.rules {
			if !r.optional && !m.ledger.lives(r.role) {
				faults = append(faults, fmt.Errorf("%s: no process below process %d %s; there are %s",
					m.ledger.roles[r.role], t.root, r.wants(), m.ledger.describe(t)))
			}
		}
	}
	return errors.Join(faults...)
}

func (r rule) wants() string {
	if r.pid != 0 {
		return fmt.Sprintf("has the number %d", r.pid)
	}
	return fmt.Sprintf("matches %q", r.match)
}

func (l *ledger) lives(role int) bool {
	for _, m := range l.members {
		if m.role == role && !m.hidden && !m.zombie {
			return true
		}
	}
	return false
}

const (
	mostShown   = 10 // processes
	widestShown = 80 // characters of a command line
)

// describe lists a tree's processes, for people.
func (l *ledger) describe(t *tree) string {
	var pids []int
	for pid, m := range l.members {
		if m.tree == t && !m.hidden && !m.zombie {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	var shown []string
	for _, pid := range pids[:min(len(pids), mostShown)] {
		line := l.source.command(pid)
		if line == "" {
			line = l.members[pid].name
		}
		if len(line) > widestShown {
			line = line[:widestShown] + "…"
		}
		shown = append(shown, fmt.Sprintf("%d (%s)", pid, line))
	}
	if more := len(pids) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("%d more", more))
	}
	if len(shown) == 0 {
		return "none"
	}
	return strings.Join(shown, ", ")
}
