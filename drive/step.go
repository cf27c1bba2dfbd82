package drive

import (
	"fmt"
	"time"

	"github.com/ddpgate/ddpgate/ddp"
	"github.com/ddpgate/ddpgate/scenario"
)

// begin starts a step; done is true for one that need not wait.
func (s *session) begin(o *op, now time.Time) (done bool, err error) {
	switch o.kind {
	case opLoop:
		s.loop(o)
		return true, nil
	case opNext:
		s.pc = o.to - 1
		return true, nil
	case opOnly:
		if !o.only.Has(s.index) {
			s.pc = o.to - 1
		}
		return true, nil
	case opPause:
		s.rest(o, now)
		return s.waiting == forNothing, nil
	case opLogin:
		return false, s.call(o, s.credentials.params[o.secrets], now)
	case opCall:
		if s.pause(o.pause, now); s.waiting == forPause {
			return false, nil
		}
		return false, s.call(o, s.params(o), now)
	case opSubscribe:
		return false, s.subscribe(o, now)
	case opUnsubscribe:
		return false, s.unsubscribe(o, now)
	case opAwait:
		return s.await(o, now)
	}
	return false, fmt.Errorf("op of unknown kind %d", o.kind)
}

// loop sets the loop's variable, or goes to behind the loop. The caller adds one to pc.
func (s *session) loop(o *op) {
	if s.loops == nil {
		s.loops = make(map[int]int)
	}
	n := s.loops[s.pc]
	s.loops[s.pc]++
	switch {
	case o.times >= 0 && n < o.times:
		s.slots[o.slot] = fmt.Appendf(nil, "%d", n+1)
	case o.times < 0 && n < len(s.lists[o.list]):
		s.slots[o.slot] = s.lists[o.list][n]
	default:
		s.loops[s.pc] = 0
		s.pc = o.to - 1
	}
}

func (s *session) pause(r scenario.Range, now time.Time) {
	d := r.Min
	if r.Max > r.Min {
		d += time.Duration(s.rng.Int64N(int64(r.Max - r.Min)))
	}
	s.pauseUntil(now.Add(d), now)
}

func (s *session) pauseUntil(t, now time.Time) {
	if t.After(now) {
		s.waiting, s.since, s.until = forPause, now, t
	}
}

// rest does a pause that is a step of its own.
func (s *session) rest(o *op, now time.Time) {
	if o.until > 0 {
		s.pauseUntil(s.t0.Add(o.until), now)
		return
	}
	s.pause(o.pause, now)
}

// params returns the params of a call or a subscription, good until the next is made.
func (s *session) params(o *op) []byte {
	if o.params == nil {
		return nil
	}
	s.buf = o.params.expand(s.buf[:0], s.slots)
	return s.buf
}

func (s *session) call(o *op, params []byte, now time.Time) (err error) {
	s.waiting, s.sent, s.wrote = forAnswer, now, true
	s.result, s.updated = false, false
	s.wanted(o.doc)
	s.id, err = s.conn.Call(o.name, params)
	return err
}

// wanted works out what a step's document must hold.
func (s *session) wanted(d *doc) {
	s.want = s.want[:0]
	if d == nil {
		return
	}
	for _, f := range d.fields {
		s.want = append(s.want, wanted{f.name, f.value.expand(nil, s.slots)})
	}
}

func (s *session) subscribe(o *op, now time.Time) (err error) {
	s.waiting, s.sent = forReady, now
	s.log.subscribing()
	s.id, err = s.conn.Subscribe(o.name, s.params(o))
	s.open = append(s.open, subscription{o.name, s.id})
	return err
}

func (s *session) unsubscribe(o *op, now time.Time) error {
	for i := len(s.open) - 1; i >= 0; i-- {
		if s.open[i].name != o.name {
			continue
		}
		s.waiting, s.sent, s.id = forNoSub, now, s.open[i].id
		s.open = append(s.open[:i], s.open[i+1:]...)
		s.log.end(s.since0(now))
		return s.conn.Unsubscribe(s.id)
	}
	return &stepError{kind: fmt.Sprintf("%s: no such subscription is open", o.what)}
}

func (s *session) await(o *op, now time.Time) (done bool, err error) {
	s.wanted(o.doc)
	s.waiting, s.since = forDoc, now
	c := s.mirror[o.name]
	e := c.find(s.want)
	if e == nil && !o.doc.gone {
		return false, nil
	}
	if e != nil && o.doc.gone {
		return false, nil
	}
	if o.doc.gone && o.doc.byID {
		e = c.docs[string(ddp.Text(s.want[0].value))]
	}
	s.seen(o, c, e)
	return true, nil
}

// seen ends an await: the document is there, or gone. e may be nil for one that was never there.
func (s *session) seen(o *op, c *collection, e *entry) {
	s.waiting = forNothing
	if e == nil {
		return
	}
	if e.foreign && e.at.After(s.since) {
		s.paused += e.at.Sub(s.since) // waiting for another session is not waiting for the app
	}
	if s.wrote && !e.foreign && !e.seen {
		s.shard.record(histVisible, e.at.Sub(e.asked))
	}
	for _, a := range o.doc.append {
		s.lists[a.list] = append(s.lists[a.list], e.fields[a.field])
	}
	id := ddp.Text(e.fields["_id"])
	if e.gone {
		delete(c.docs, string(id))
	}
	if e.own && (e.gone || !e.logged) {
		at := s.since0(e.at)
		s.log.own(ownership{hash: s.hash(id), called: s.since0(e.made), visible: at, ended: s.since0(e.asked), gone: at}, e.gone)
	}
	e.seen, e.logged = true, true
}
