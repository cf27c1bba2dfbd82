package drive

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"time"
)

// The audit, after the load: what the sessions did to their own documents is held against what the others were told. A
// driver that only counts replies takes a server that loses data for a fast one.
//
// Messages of one connection come in the order in which the server sent them, and what was called for after something else
// was visible comes after it. So a session that has been told of the later one must have been told of the earlier one,
// however slow the server is: nothing is judged by a time limit.

// settle is how long before a session's end a document must have come to be proof of what should have come before it: a server may
// tell of several at once in any order.
const settle = 250 * time.Millisecond

// sightings is a session's diary of documents.
type sightings struct {
	periods []period
	owned   []ownership
}

// A period is a time in which a session was subscribed. Times are from the start of the load.
type period struct {
	ready  bool          // a subscription was; else from says nothing
	from   time.Duration // when the newest subscription was ready
	ended  bool
	until  time.Duration
	others []sighting // in the order in which they came
}

// An ownership is the life of a document of the session's own. Times are from the start of the load.
type ownership struct {
	hash    uint64
	called  time.Duration // for by the method that made it
	visible time.Duration // to its owner
	ended   time.Duration // called for by the method that removed it
	gone    time.Duration // from its owner's copy; 0 for not yet
	owner   int
}

// A sighting is a data message about another session's document.
type sighting struct {
	hash    uint64
	at      time.Duration
	removed bool
}

// open returns the period that goes on, nil if there is none.
func (l *sightings) open() *period {
	if n := len(l.periods); n > 0 && !l.periods[n-1].ended {
		return &l.periods[n-1]
	}
	return nil
}

// subscribing begins a period, unless one goes on: documents come before a subscription is ready.
func (l *sightings) subscribing() {
	if l.open() == nil {
		l.periods = append(l.periods, period{})
	}
}

func (l *sightings) subscribed(at time.Duration) {
	if p := l.open(); p != nil {
		p.ready, p.from = true, at
	}
}

func (l *sightings) end(at time.Duration) {
	if p := l.open(); p != nil {
		p.ended, p.until = true, at
	}
}

func (l *sightings) foreign(hash uint64, at time.Duration, removed bool) {
	if p := l.open(); p != nil {
		p.others = append(p.others, sighting{hash, at, removed})
	}
}

// own notes that the session saw its own document come, or go.
func (l *sightings) own(o ownership, gone bool) {
	if !gone {
		o.ended, o.gone = 0, 0
		l.owned = append(l.owned, o)
		return
	}
	for i := range l.owned {
		if l.owned[i].hash == o.hash {
			l.owned[i].ended, l.owned[i].gone = o.ended, o.gone
		}
	}
}

// An auditor holds all that the sessions did.
type auditor struct {
	docs    map[uint64]*ownership
	called  []*ownership        // the same, in the order in which they were called for
	foreign func(time.Duration) // is told of each latency from a call to another session's copy
}

func newAuditor(sessions []*session, foreign func(time.Duration)) *auditor {
	a := &auditor{docs: make(map[uint64]*ownership), foreign: foreign}
	for _, s := range sessions {
		for i := range s.log.owned {
			o := &s.log.owned[i]
			o.owner = s.index
			a.docs[o.hash] = o
			a.called = append(a.called, o)
		}
	}
	slices.SortFunc(a.called, func(x, y *ownership) int { return cmp.Compare(x.called, y.called) })
	return a
}

// session returns why a session was told something wrong, nil if nothing is to be found.
func (a *auditor) session(index int, l *sightings) error {
	var first error
	for i := range l.periods {
		if err := a.period(index, &l.periods[i]); first == nil {
			first = err
		}
	}
	return first
}

// A fate is what a session was told of a document.
type fate struct {
	came bool // at any time
	here bool // at last
}

// asked returns when the document's making was called for, or its removal.
func (d *ownership) asked(removed bool) time.Duration {
	if removed {
		return d.ended
	}
	return d.called
}

func (a *auditor) period(index int, p *period) error {
	fates := make(map[uint64]fate, len(p.others)/2)
	var proof time.Duration // the latest call that the session was told the outcome of
	var again *ownership
	for _, s := range p.others {
		d, f := a.docs[s.hash], fates[s.hash]
		if !s.removed && f.here && again == nil {
			again = cmp.Or(d, new(ownership))
		}
		fates[s.hash] = fate{f.came || !s.removed, !s.removed}
		if d == nil {
			continue
		}
		if !s.removed {
			a.foreign(s.at - d.called)
		}
		if !p.ended || s.at < p.until-settle {
			proof = max(proof, d.asked(s.removed))
		}
	}
	if again != nil {
		return &stepError{"another session's document came twice", again.account()}
	}
	if d := a.missed(index, p, fates, proof); d != nil {
		return &stepError{"another session's document never came", d.account()}
	}
	if d := a.kept(fates, proof); d != nil {
		return &stepError{"another session's document never went", d.account()}
	}
	return nil
}

// missed returns a document that should have come: the session was told that it had gone, or of something called for later.
// What was called for before the session was ready may be older than its subscription.
func (a *auditor) missed(index int, p *period, fates map[uint64]fate, proof time.Duration) (found *ownership) {
	if !p.ready {
		return nil
	}
	for hash, f := range fates {
		if d := a.docs[hash]; d != nil && !f.came && d.called > p.from {
			found = earlier(found, d)
		}
	}
	next, _ := slices.BinarySearchFunc(a.called, p.from+1, func(d *ownership, t time.Duration) int { return cmp.Compare(d.called, t) })
	for _, d := range a.called[next:] {
		if d.called >= proof {
			break
		}
		if d.owner != index && d.visible < proof && !fates[d.hash].came {
			return earlier(found, d)
		}
	}
	return found
}

// kept returns a document that should have gone from a session which was told of something called for later.
func (a *auditor) kept(fates map[uint64]fate, proof time.Duration) (found *ownership) {
	for hash, f := range fates {
		if d := a.docs[hash]; d != nil && f.here && d.gone > 0 && d.gone < proof {
			found = earlier(found, d)
		}
	}
	return found
}

// earlier returns the one that was called for first; a may be nil.
func earlier(a, b *ownership) *ownership {
	if a == nil || b.called < a.called {
		return b
	}
	return a
}

func (d *ownership) account() error {
	if d.hash == 0 {
		return fmt.Errorf("a document that no session of this load made")
	}
	return fmt.Errorf("a document of session %d, made %.3f s and seen by it %.3f s into the load", d.owner, d.called.Seconds(), d.visible.Seconds())
}

// hash gives a document's id a number. Numbers are alike only within one load.
func (l *load) hash(id []byte) uint64 { return maphash.Bytes(l.hashSeed, id) }

// since0 gives a time from the start of the load.
func (l *load) since0(t time.Time) time.Duration { return t.Sub(l.t0) }
