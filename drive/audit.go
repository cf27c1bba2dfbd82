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
// Messages of one connection come in the order in which the server sent them, and a document that was called for after
// another was visible comes after it. So a session that has been told of the later one must have been told of the earlier
// one, however slow the server is: nothing is judged by a time limit.

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

// The fates of a document, by what a session was last told of it. The zero value is a document that it was not told of.
type fate int

const (
	untold fate = iota
	there
	gone
)

func (a *auditor) period(index int, p *period) error {
	fates := make(map[uint64]fate, len(p.others)/2)
	var proof time.Duration // the latest call that the session was told the outcome of
	var again *ownership
	for _, s := range p.others {
		d := a.docs[s.hash]
		if s.removed {
			fates[s.hash] = gone
			continue
		}
		if fates[s.hash] == there && again == nil {
			again = cmp.Or(d, new(ownership))
		}
		fates[s.hash] = there
		if d == nil {
			continue
		}
		a.foreign(s.at - d.called)
		if !p.ended || s.at < p.until-settle {
			proof = max(proof, d.called)
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

// missed returns a document that should have come to a session which was told of one called for later.
func (a *auditor) missed(index int, p *period, fates map[uint64]fate, proof time.Duration) *ownership {
	if !p.ready {
		return nil
	}
	next, _ := slices.BinarySearchFunc(a.called, p.from, func(d *ownership, t time.Duration) int {
		if d.called <= t {
			return -1 // the session's subscription may be younger
		}
		return 1
	})
	for _, d := range a.called[next:] {
		if d.called >= proof {
			break
		}
		if d.owner != index && d.visible < proof && fates[d.hash] == untold {
			return d
		}
	}
	return nil
}

// kept returns a document that should have gone from a session which was told of one called for later.
func (a *auditor) kept(fates map[uint64]fate, proof time.Duration) (found *ownership) {
	for hash, f := range fates {
		d := a.docs[hash]
		if f == there && d != nil && d.gone > 0 && d.gone < proof && (found == nil || d.called < found.called) {
			found = d
		}
	}
	return found
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
