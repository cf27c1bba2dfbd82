package drive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ddpgate/ddpgate/ddp"
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
	since   time.Time     // when the pause, or the wait for a document, began
	until   time.Time     // of the pause
	paused  time.Duration // so far
	sent    time.Time     // when what is waited for was asked for
	id      string        // of the call or subscription that is waited for
	wrote   bool          // has called a method
	result  bool          // came
	updated bool          // came
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
	s.slots[sessionSlot], s.slots[loadSlot] = ddp.AppendString(nil, s.token), ddp.AppendString(nil, l.marker)
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
		if s.wrote && !s.program.ops[s.pc].doc.foreign {
			s.shard.censor(histVisible)
		}
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

// own tells whether a message's document carries the session's name.
func (s *session) own(fields []byte) bool { return bytes.Contains(fields, s.token) }

// ofLoad tells whether a message's document carries the load's name.
func (s *session) ofLoad(fields []byte) bool { return bytes.Contains(fields, s.marker) }
