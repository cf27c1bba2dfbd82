package drive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ddpgate/ddpgate/ddp"
	"github.com/ddpgate/ddpgate/scenario"
)

// A session is one virtual user. It is a state machine on the goroutine of its connection: what comes and the clock move it
// from one step to the next.
type session struct {
	*load
	index    int
	shard    *shard
	rng      *rand.Rand
	due      time.Time
	begun    time.Time
	deadline time.Time
	conn     *ddp.Conn

	pc    int
	slots [][]byte // raw JSON
	lists [][][]byte
	loops map[int]int // by opLoop: times begun
	open  []subscription

	waiting waiting
	since   time.Time     // when the pause began
	until   time.Time     // of the pause
	paused  time.Duration // so far
	sent    time.Time     // when what is waited for was asked for
	id      string        // of the call or subscription that is waited for
	called  time.Time     // when the last method was called
	result  bool          // came
	updated bool          // came
	found   error         // why the call's result was not the one wanted
	want    []wanted      // of the document that is waited for
	mirror  mirror
	token   []byte // the session's name, by which its documents are known
	log     sightings
	data    int64 // data messages that came
	actions int   // completed calls by the user
	buf     []byte
	over    time.Time // zero until every step is done or it has failed
	err     error     // why it failed; set when it is over
}

type subscription struct{ name, id string }

type waiting int

const (
	forNothing waiting = iota
	forPause
	forReady
	forNoSub
	forAnswer // of a call: both result and updated
	forDoc
)

func newSession(l *load, index int, due time.Time) *session {
	s := &session{
		load: l, index: index, due: due,
		shard:    &l.recorder.shards[index%len(l.recorder.shards)],
		rng:      rand.New(rand.NewPCG(l.seed, uint64(index))),
		deadline: due.Add(l.scenario.Timeout),
		slots:    make([][]byte, l.program.slots),
		lists:    make([][][]byte, l.program.lists),
		mirror:   newMirror(l.program.collections),
	}
	s.token = fmt.Appendf(nil, "%s-%07d", l.name, index) // no name is the start of another's
	s.slots[sessionSlot] = ddp.AppendString(nil, s.token)
	for _, p := range l.program.preset {
		s.slots[p.slot] = p.value
	}
	return s
}

// run does the whole session. It returns nil when every step was done.
func (s *session) run(ctx context.Context) error {
	start := time.Now()
	conn, err := s.connect(ctx)
	if err != nil {
		s.shard.censor(histConnect)
		s.over = time.Now()
		if err == context.DeadlineExceeded {
			return &stepError{kind: "timed out connecting"}
		}
		return err
	}
	s.begun = start
	s.shard.record(histConnect, time.Since(start))
	s.connected(conn)
	s.conn = conn
	err = s.advance(time.Now())
	if err == nil {
		err = conn.Run(ctx, s)
	} else {
		conn.Abandon()
	}
	s.received(conn)
	if s.over.IsZero() {
		s.over = time.Now()
		s.unanswered()
		return s.inStep(err)
	}
	return nil
}

// connect dials on a goroutine of its own, whose stack is given back: dialing needs a deep one, and a session that waits a
// shallow one.
func (s *session) connect(ctx context.Context) (conn *ddp.Conn, err error) {
	limited, cancel := context.WithDeadline(ctx, s.deadline)
	defer cancel()
	dialed := make(chan struct{})
	go func() {
		defer close(dialed)
		conn, err = ddp.Dial(limited, s.url, s.dial)
	}()
	<-dialed
	return conn, err
}

// waited returns how long the session waited for the app: its length from its own start, less its pauses.
func (s *session) waited() time.Duration { return s.over.Sub(s.begun) - s.paused }

// inStep adds to a broken connection's error where the session was.
func (s *session) inStep(err error) error {
	var conn *ddp.ConnError
	if s.pc >= len(s.program.ops) || !errors.As(err, &conn) {
		return err
	}
	return &stepError{conn.Kind() + " in " + s.program.ops[s.pc].what, err}
}

// unanswered notes what the failed session was waiting for as an attempt without an answer.
func (s *session) unanswered() {
	switch s.waiting {
	case forReady:
		s.shard.censor(histReady)
	case forDoc:
		s.shard.censor(histVisible)
	case forAnswer:
		m := s.program.ops[s.pc].method
		if !s.result {
			s.shard.censor(histResult(m))
		}
		if !s.updated {
			s.shard.censor(histUpdated(m))
		}
	}
}

// advance does steps until one has to wait. After the last it closes the connection.
func (s *session) advance(now time.Time) error {
	s.waiting = forNothing
	for s.pc < len(s.program.ops) {
		done, err := s.begin(&s.program.ops[s.pc], now)
		if err != nil || !done {
			s.wakeUp()
			return err
		}
		s.pc++
	}
	s.over = now
	s.log.end(s.since0(now))
	s.conn.Close()
	return nil
}

// next goes on behind the step that was waited for.
func (s *session) next(now time.Time) error {
	s.pc++
	return s.advance(now)
}

func (s *session) wakeUp() {
	at := s.deadline
	if s.waiting == forPause && s.until.Before(at) {
		at = s.until
	}
	s.conn.WakeAt(at)
}

// begin starts a step; done is true for one that need not wait.
func (s *session) begin(o *op, now time.Time) (done bool, err error) {
	switch o.kind {
	case opLoop:
		s.loop(o)
		return true, nil
	case opNext:
		s.pc = o.to - 1
		return true, nil
	case opPause:
		s.pause(o.pause, now)
		return s.waiting == forNothing, nil
	case opCall:
		if s.pause(o.pause, now); s.waiting == forPause {
			return false, nil
		}
		return false, s.call(o, now)
	case opSubscribe:
		return false, s.subscribe(o, now)
	case opUnsubscribe:
		return false, s.unsubscribe(o, now)
	case opAwait:
		return s.await(o)
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
	if d <= 0 {
		return
	}
	s.waiting, s.since, s.until = forPause, now, now.Add(d)
}

func (s *session) call(o *op, now time.Time) error {
	s.buf = o.params.expand(s.buf[:0], s.slots)
	if o.params == nil {
		s.buf = append(s.buf, "[]"...)
	}
	s.waiting, s.sent, s.called = forAnswer, now, now
	s.result, s.updated, s.found = false, false, nil
	s.wanted(o.doc)
	var err error
	s.id, err = s.conn.Call(o.name, s.buf)
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
	s.buf = o.params.expand(s.buf[:0], s.slots)
	if o.params == nil {
		s.buf = append(s.buf, "[]"...)
	}
	s.waiting, s.sent = forReady, now
	s.log.subscribing()
	s.id, err = s.conn.Subscribe(o.name, s.buf)
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

func (s *session) await(o *op) (done bool, err error) {
	s.wanted(o.doc)
	s.waiting = forDoc
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
	if !s.called.IsZero() && !e.at.Before(s.called) {
		s.shard.record(histVisible, e.at.Sub(s.called))
	}
	for _, a := range o.doc.append {
		s.lists[a.list] = append(s.lists[a.list], e.fields[a.field])
	}
	id := ddp.Text(e.fields["_id"])
	if e.gone {
		delete(c.docs, string(id))
	}
	if c.own {
		at := s.since0(e.at)
		s.log.own(ownership{hash: s.hash(id), called: s.since0(s.called), visible: at, gone: at}, e.gone)
	}
}

// own tells whether a message's document carries the session's name.
func (s *session) own(fields []byte) bool { return bytes.Contains(fields, s.token) }
