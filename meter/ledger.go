package meter

import (
	"fmt"
	"regexp"
	"slices"
)

// A ledger knows which processes belong to the targets and adds up what they have used. It is for one goroutine.
//
// The sum of own and reaped seconds over the living processes of a tree holds all that the tree has used, those that
// have ended included, as long as each is waited for within the tree. From one reading to the next, then, a tree has used
//
//	what the living ones used themselves
//	+ what the living ones reaped
//	- what had been seen already of those that were reaped (own and reaped)
//
// where the last two lines are what ended unseen. They come to less than nothing when a process has ended that nobody waited for
// (its parent ignores SIGCHLD): then what was last seen of it stays in the total, and the rest is lost.
type ledger struct {
	source    source
	roles     []string // by number
	trees     []*tree
	members   map[int]*member // by pid
	strangers map[int]bool    // processes that were listed the last time, and belong to no target
	used      []float64       // s by role since the first reading
	reported  []float64       // the greatest that was ever returned of them
}

// A tree is a process and all that descends from it.
type tree struct {
	root   int // pid
	reaper int // pid, or 0
	role   int
	rules  []rule
	unseen []float64 // s by role: what was reaped since the last reading, less what had been seen of it
	debt   float64   // s that were credited too early, because of rounding
	found  float64   // s that all roles of it have used since the first reading
	group  *group    // nil where it has none of its own
}

// A rule gives matching processes a role.
type rule struct {
	match *regexp.Regexp
	pid   int // instead of match, one process alone
	role  int

	optional bool
}

// A member is a process that belongs to a tree, with what was last seen of it.
type member struct {
	process
	tree   *tree
	role   int
	rule   int  // the role that a rule gives it, or none
	looks  int  // how often it was looked at
	hidden bool // a reaper: its own usage is nobody's
}

// A reading is what the roles have come to, by number.
type reading struct {
	used  []float64 // s since the first reading
	ram   []float64 // bytes
	alive []bool
	more  []map[string]float64 // by role, what there is not always: see the names in extra.go
	host  map[string]float64   // see vitals
	cost  float64              // CPU seconds of the meter since the first reading
}

// none is the role of processes that belong to a tree of which only parts are wanted.
const none = 0

// rounding is how much the seconds of one process may lack: see proc.fine.
const rounding = 2 * tick

// first finds the targets' processes. It must be called once, before take.
func (l *ledger) first() error {
	l.members, l.strangers = make(map[int]*member), make(map[int]bool)
	l.used, l.reported = make([]float64, len(l.roles)), make([]float64, len(l.roles))
	for _, t := range l.trees {
		t.unseen = make([]float64, len(l.roles))
		for _, pid := range []int{t.reaper, t.root} {
			if pid == 0 {
				continue
			}
			p, err := l.source.look(pid)
			if err == nil && p.zombie {
				err = errGone
			}
			if err != nil {
				return &targetError{l.roles[t.role], pid, err}
			}
			l.members[pid] = &member{process: p, tree: t, role: t.role, hidden: pid == t.reaper}
		}
	}
	s, err := l.settled()
	if err != nil {
		return err
	}
	l.refine(s)
	for pid, p := range s {
		l.admit(s, nil, pid).process = p
	}
	// Roles come down from parents, so they are given from the top; what was used until now is nobody's.
	l.book(s)
	clear(l.used)
	for _, t := range l.trees {
		t.found = 0
		t.group.begin()
	}
	return nil
}

// take reads all and returns what the roles have come to. With fine it takes the closest reading of CPU time that there is.
func (l *ledger) take(fine bool) (reading, error) {
	s, err := l.settled()
	if err != nil {
		return reading{}, err
	}
	if fine {
		l.refine(s)
	}
	l.book(s)
	r := reading{
		used: slices.Clone(l.used), ram: make([]float64, len(l.roles)), alive: make([]bool, len(l.roles)),
		more: make([]map[string]float64, len(l.roles)),
	}
	l.regroup(&r)
	for _, m := range l.members {
		if !m.hidden && !m.zombie {
			r.ram[m.role] += m.ram
			r.alive[m.role] = true
		}
	}
	return r, nil
}

// book adds what was used since the last reading.
func (l *ledger) book(s snapshot) {
	gone := make(map[int]*member)
	for pid, m := range l.members {
		if p, there := s[pid]; !there || p.id != m.id {
			gone[pid] = m
			delete(l.members, pid)
		}
	}
	for pid, p := range s {
		l.assign(l.admit(s, gone, pid), p)
	}
	for pid, p := range s {
		m := l.members[pid]
		m.role = l.roleOf(m)
		if !m.hidden {
			l.credit(m.tree, m.role, max(0, p.cpu-m.cpu))
		}
		m.tree.unseen[m.role] += max(0, p.reaped-m.reaped)
		p.cpu, p.reaped = max(p.cpu, m.cpu), max(p.reaped, m.reaped)
		m.process = p
	}
	for _, m := range gone {
		if heir := l.heirOf(m, gone); heir != nil && !m.hidden {
			m.tree.unseen[heir.role] -= m.cpu + m.reaped
		}
	}
	for _, t := range l.trees {
		l.settle(t, rounding*float64(len(gone)+1))
	}
}

// settle credits what ended unseen in a tree. Where a role has less than nothing, somebody else of the tree has reaped what the
// role's heir was thought to. What is missing in the whole tree beyond the rounding was reaped by nobody.
func (l *ledger) settle(t *tree, rounding float64) {
	for role, seconds := range t.unseen {
		if seconds < 0 {
			t.debt -= seconds
			t.unseen[role] = 0
		}
	}
	for role, seconds := range t.unseen {
		paid := min(seconds, t.debt)
		t.debt -= paid
		l.credit(t, role, seconds-paid)
	}
	clear(t.unseen)
	t.debt = min(t.debt, rounding)
}

func (l *ledger) credit(t *tree, role int, seconds float64) {
	l.used[role] += seconds
	t.found += seconds
}

// admit returns the member for a process of a snapshot, made if need be, with its parents before it.
func (l *ledger) admit(s snapshot, gone map[int]*member, pid int) *member {
	p := s[pid]
	if m := l.members[pid]; m != nil {
		return m
	}
	parent := gone[p.parent]
	if _, found := s[p.parent]; found {
		parent = l.admit(s, gone, p.parent)
	}
	// Its counters start at 0: all that it ever used was since the last reading.
	m := &member{process: process{id: p.id}, tree: parent.tree, role: parent.role}
	l.members[pid] = m
	return m
}

// heirOf returns the member that has waited for a process that is gone: its parent, or whoever waited for the parent. It is nil
// where that is no member.
func (l *ledger) heirOf(m *member, gone map[int]*member) *member {
	for range len(gone) + 1 {
		if heir := l.members[m.parent]; heir != nil {
			return heir
		}
		if gone[m.parent] == nil {
			break
		}
		m = gone[m.parent]
	}
	return l.members[m.tree.reaper]
}

// assign finds the rule of its tree that a member falls under, in the two looks after its birth, between which it may have become
// another program, and whenever its name has changed.
func (l *ledger) assign(m *member, p process) {
	again := m.looks < 2 || p.name != m.name
	m.looks++
	m.parent, m.name = p.parent, p.name
	if !again || m.hidden || p.id.pid == m.tree.root || len(m.tree.rules) == 0 {
		return
	}
	m.rule = none
	line := l.source.command(p.id.pid)
	for _, r := range m.tree.rules {
		if r.pid == p.id.pid || r.pid == 0 && (r.match.MatchString(p.name) || r.match.MatchString(line)) {
			m.rule = r.role
			return
		}
	}
}

// roleOf returns a member's role: by rule, else its parent's. An orphan keeps the one that it had.
func (l *ledger) roleOf(m *member) int {
	if m.rule != none {
		return m.rule
	}
	parent := l.members[m.parent]
	if parent == nil || parent.hidden || parent == m || m.id.pid == m.tree.root {
		return m.role
	}
	return l.roleOf(parent)
}

// A targetError says that a target's process cannot be metered.
type targetError struct {
	role string
	pid  int
	err  error
}

func (e *targetError) Error() string { return fmt.Sprintf("%s: process %d: %v", e.role, e.pid, e.err) }

func (e *targetError) Unwrap() error { return e.err }
