package meter

import (
	"errors"
	"maps"
)

// A snapshot is the members' processes by pid.
type snapshot map[int]process

// settled reads until two readings show the same processes with the same reaped seconds, or it was tried often enough. A
// child that is waited for between the reading of it and of its parent would count twice, or not at all.
func (l *ledger) settled() (snapshot, error) {
	if len(l.trees) == 0 {
		return nil, nil
	}
	last := make(snapshot, len(l.members))
	for pid, m := range l.members {
		last[pid] = m.process
	}
	for range 4 {
		s, err := l.read()
		if err != nil {
			return nil, err
		}
		if maps.EqualFunc(last, s, func(a, b process) bool { return a.id == b.id && a.reaped == b.reaped }) {
			return s, nil
		}
		last = s
	}
	return last, nil
}

// read reads the members and what has come to be below them. A process that was a stranger stays one, unread, as long as its number is
// listed: nothing enters a tree but by birth.
func (l *ledger) read() (snapshot, error) {
	pids, err := l.source.list()
	if err != nil {
		return nil, err
	}
	looked, strangers := make(snapshot), make(map[int]bool)
	for _, pid := range pids {
		if l.strangers[pid] {
			strangers[pid] = true
			continue
		}
		p, err := l.source.look(pid)
		switch {
		case errors.Is(err, errGone):
		case err == nil:
			looked[pid] = p
		case l.members[pid] != nil:
			return nil, err
		default:
			strangers[pid] = true // one of another user, hidden from us
		}
	}
	s := make(snapshot)
	for pid, p := range looked {
		_, parentSeen := looked[p.parent]
		switch {
		case l.belongs(looked, p):
			s[pid] = p
		case parentSeen || strangers[p.parent] || p.parent == 0:
			strangers[pid] = true
		}
		// One whose parent went away just now has another parent the next time.
	}
	l.strangers = strangers
	return s, nil
}

// belongs tells whether a process is a member or descends from one.
func (l *ledger) belongs(looked snapshot, p process) bool {
	for range len(looked) + 1 {
		if m := l.members[p.id.pid]; m != nil && m.id == p.id {
			return true
		}
		parent, found := looked[p.parent]
		if !found {
			return l.members[p.parent] != nil
		}
		p = parent
	}
	return false
}

func (l *ledger) refine(s snapshot) {
	for pid, p := range s {
		p.cpu = max(p.cpu, l.source.fine(pid))
		s[pid] = p
	}
}
