package drive

import (
	"fmt"
	"hash/maphash"
	"time"
)

// The audit, after the load: what the sessions did to their own documents is held against what the others were told. A
// driver that only counts replies takes a server that loses data for a fast one.
//
// Messages of one connection come in the order in which the server sent them, and a document that was called for after
// another was visible comes after it. So a session that has been told of the later one must have been told of the earlier
// one, however slow the server is: nothing is judged by a time limit.

// settle is how long before a session's end a document must have come to be proof of what should have come before it: a server may
// tell of several at once in any order.
const settle = 250 * time.Millisecond

// sightings is a session's diary of documents.
type sightings struct {
	from, until time.Duration // of being subscribed, from the start of the load; until 0 for not yet over
	subscribed  bool
	owned       []ownership
	others      []sighting // in the order in which they came
}

// An ownership is the life of a document of the session's own. Times are from the start of the load.
type ownership struct {
	hash    uint64
	called  time.Duration // for by the method that made it
	visible time.Duration // to its owner
	gone    time.Duration // from its owner's copy; 0 for not yet
	owner   int
}

// A sighting is a data message about another session's document.
type sighting struct {
	hash    uint64
	at      time.Duration
	removed bool
}

func (l *sightings) begin(at time.Duration) {
	l.from, l.subscribed = at, true
	l.until = 0
}

func (l *sightings) end(at time.Duration) {
	if l.subscribed && l.until == 0 {
		l.until = at
	}
}

func (l *sightings) foreign(hash uint64, at time.Duration, removed bool) {
	if l.until == 0 {
		l.others = append(l.others, sighting{hash, at, removed})
	}
}

// own notes that the session saw its own document come, or go.
func (l *sightings) own(o ownership, gone bool) {
	if !gone {
		o.gone = 0
		l.owned = append(l.owned, o)
		return
	}
	for i := range l.owned {
		if l.owned[i].hash == o.hash {
			l.owned[i].gone = o.gone
		}
	}
}

// An auditor holds all that the sessions did.
type auditor struct {
	docs    map[uint64]*ownership
	foreign func(time.Duration) // is told of each latency from a call to another session's copy
}

func newAuditor(sessions []*session, foreign func(time.Duration)) *auditor {
	a := &auditor{make(map[uint64]*ownership), foreign}
	for _, s := range sessions {
		for i := range s.log.owned {
			o := &s.log.owned[i]
			o.owner = s.index
			a.docs[o.hash] = o
		}
	}
	return a
}

// told is what a session was told of one document.
type told struct{ there, removed bool }

// session returns why a session was told something wrong, nil if nothing is to be found.
func (a *auditor) session(index int, l *sightings) error {
	if !l.subscribed || len(a.docs) == 0 {
		return nil
	}
	heard := make(map[uint64]told, len(l.others)/2)
	var proof time.Duration // the latest call that the session was told the outcome of
	for _, s := range l.others {
		d := a.docs[s.hash]
		if !s.removed {
			if heard[s.hash].there {
				return twice(d)
			}
			if d != nil {
				a.foreign(s.at - d.called)
			}
		}
		heard[s.hash] = told{!s.removed, s.removed}
		if d != nil && !s.removed && (l.until == 0 || s.at < l.until-settle) {
			proof = max(proof, d.called)
		}
	}
	for _, d := range a.docs {
		if d.owner == index || d.called <= l.from {
			continue
		}
		h := heard[d.hash]
		switch {
		case d.visible < proof && !h.there && !h.removed:
			return &stepError{kind: "another session's document never came", err: lost(d)}
		case d.gone > 0 && d.gone < proof && h.there:
			return &stepError{kind: "another session's document never went", err: lost(d)}
		}
	}
	return nil
}

func lost(d *ownership) error {
	return fmt.Errorf("a document of session %d, made %.3f s and seen by it %.3f s into the load", d.owner, d.called.Seconds(), d.visible.Seconds())
}

func twice(d *ownership) error {
	e := &stepError{kind: "another session's document came twice"}
	if d != nil {
		e.err = lost(d)
	}
	return e
}

// hash gives a document's id a number. Numbers are alike only within one load.
func (l *load) hash(id []byte) uint64 { return maphash.Bytes(l.hashSeed, id) }

// since0 gives a time from the start of the load.
func (l *load) since0(t time.Time) time.Duration { return t.Sub(l.t0) }
