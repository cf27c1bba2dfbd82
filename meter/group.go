package meter

import "github.com/ddpgate/ddpgate/internal/cgroup"

// A group is the control groups of a tree.
type group struct {
	directories []string
	first       float64 // CPU seconds when the metering began
	counted     bool    // first is known
	missing     map[cgroup.Figure]string
}

// begin notes what was used before. A nil group has nothing to note.
func (g *group) begin() {
	if g != nil {
		g.first, g.counted = cgroup.Read(g.directories).Values[cgroup.CPU]
	}
}

// charged are the figures that a role gets from its control group, by the names of their metrics.
var charged = map[string]cgroup.Figure{
	ramAnon: cgroup.Anon, ramFile: cgroup.File, ramShared: cgroup.Shared, ramCharged: cgroup.Peak,
	throttled: cgroup.Throttled, oomKills: cgroup.OOMKills,
}

// regroup adds what the trees' control groups know. What a tree used beyond what was seen of its processes ended unseen, and is that of the
// tree's own role. Both ways of counting lag behind and neither is ever more than the truth, so that the greater one is the better.
func (l *ledger) regroup(r *reading) {
	for _, t := range l.trees {
		if t.group == nil || t.role == none {
			continue
		}
		now := cgroup.Read(t.group.directories)
		t.group.missing = now.Missing
		if total, found := now.Values[cgroup.CPU]; found && t.group.counted {
			r.used[t.role] += max(0, total-t.group.first-t.found)
		}
		for name, figure := range charged {
			// Memory is charged to the group as a whole: where several roles share it, it is nobody's.
			if value, found := now.Values[figure]; found && (len(t.rules) == 0 || name == oomKills) {
				r.put(t.role, name, value)
			}
		}
	}
	for role := range r.used {
		r.used[role] = max(r.used[role], l.reported[role])
	}
	copy(l.reported, r.used)
}

// put notes one of the figures that there are not always.
func (r *reading) put(role int, name string, value float64) {
	if r.more[role] == nil {
		r.more[role] = make(map[string]float64)
	}
	r.more[role][name] = value
}

// share notes the proportional memory of the roles that have several processes. The error is the last of those that there were.
func (l *ledger) share(r *reading) error {
	count, sums := make([]int, len(l.roles)), make([]float64, len(l.roles))
	for _, m := range l.members {
		if !m.hidden && !m.zombie {
			count[m.role]++
		}
	}
	var failed error
	for pid, m := range l.members {
		if m.hidden || m.zombie || count[m.role] < 2 {
			continue
		}
		bytes, err := l.source.pss(pid)
		if err != nil {
			failed, count[m.role] = err, 0 // a sum of some of them is no sum
		}
		sums[m.role] += bytes
	}
	for role, n := range count {
		if n > 1 && role != none {
			r.put(role, ramPSS, sums[role])
		}
	}
	return failed
}
