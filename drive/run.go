package drive

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ddpgate/ddpgate/ddp"
	"github.com/ddpgate/ddpgate/scenario"
)

// Options of a load.
type Options struct {
	URL  string // of the app, as a browser has it
	Seed uint64 // of the think times: the same seed, the same pauses
	// Progress, if set, is called about four times a second, by one goroutine.
	Progress func(Progress)
	Header   http.Header // sent with each connection: cookies, a staging site's key
	TLS      *tls.Config // own certificates, as ddp.Trust makes it; nil for the system's
	// Env returns the value of an environment variable, which a login of the scenario names. It is sent to the app and told to
	// nobody else. Nil where nothing is set.
	Env func(name string) string

	// What follows is for one driver of several; the zero value is for one that drives alone.

	Share Share     // of the sessions, that this driver starts
	Name  string    // of the load, the same for all its drivers and unlike any other load's: 8 to 64 of a-z, 0-9 and -
	Start time.Time // when session 0 is due, for all drivers; zero for at once
	Cores float64   // that this process may use, where the system does not tell it; 0 for as many as Go uses
}

// lateAfter is how long after it was due a session counts as late.
const lateAfter = 50 * time.Millisecond

const (
	progressEvery = 250 * time.Millisecond
	levelEvery    = 500 * time.Millisecond
	lookEvery     = time.Second
)

// A load is one run of a scenario, shared by its sessions.
type load struct {
	scenario    *scenario.Scenario
	program     *program
	url         string
	dial        ddp.Options
	seed        uint64
	share       Share
	name        string // unlike any other load's; those of its sessions begin with it
	marker      []byte // the same
	t0          time.Time
	recorder    *recorder
	hashSeed    maphash.Seed
	failures    failures
	credentials credentials

	started, over, failed, exhausted atomic.Int64
	data, bytes, odd, actions        atomic.Int64
	extensions                       atomic.Pointer[string]
}

// Run puts the load on the app and returns when the last session is over. When ctx ends first it returns what there is,
// with ctx's error; other errors are faults of the scenario or the options, before anything was started.
func Run(ctx context.Context, sc scenario.Scenario, o Options) (*Part, error) {
	l, err := newLoad(&sc, o)
	if err != nil {
		return nil, err
	}
	l.begin(ctx, o.Start)
	self, err := startSelf(o.Cores)
	if err != nil {
		return nil, err
	}
	part := l.run(ctx, o.Progress, self.look)
	part.Self, err = self.stop()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return part, err
}

// begin waits for when the load starts, and sets the clock by which its sessions are due.
func (l *load) begin(ctx context.Context, start time.Time) {
	l.t0 = time.Now()
	if start.IsZero() {
		return
	}
	l.t0 = l.t0.Add(start.Sub(l.t0)) // with the monotonic clock, which nobody sets
	timer := time.NewTimer(time.Until(l.t0))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func newLoad(sc *scenario.Scenario, o Options) (*load, error) {
	p, err := compile(sc)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", sc.Name, err)
	}
	if _, err := ddp.ParseAddress(o.URL); err != nil {
		return nil, err
	}
	secrets, err := findCredentials(p.logins, o.Env)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", sc.Name, err)
	}
	name := o.Name
	if name == "" {
		name = fmt.Sprintf("ddpgate-%08x", rand.Uint32())
	}
	if err := errors.Join(o.Share.Check(), checkName(name)); err != nil {
		return nil, err
	}
	return &load{
		scenario: sc, program: p, url: o.URL, seed: o.Seed, share: o.Share,
		name: name, marker: []byte(name), credentials: secrets,
		hashSeed: maphash.MakeSeed(),
		recorder: newRecorder(p.methods, runtime.GOMAXPROCS(0)),
		dial: ddp.Options{
			Transport: ddp.Transport(sc.Transport), Compression: ddp.Compression(sc.Compression),
			Header: o.Header, TLS: o.TLS,
		},
	}, nil
}

func (l *load) run(ctx context.Context, progress func(Progress), look func()) *Part {
	watched := l.watch(progress, look)
	sessions, late := l.arrive(ctx)
	return l.part(sessions, late, watched())
}

// arrive starts session i at i/rate, whatever became of the others, and waits for all.
func (l *load) arrive(ctx context.Context) (sessions []*session, late int) {
	var wg sync.WaitGroup
	timer := time.NewTimer(0)
	defer timer.Stop()
	shard := &l.recorder.shards[0]
	for n := range l.planned() {
		i := l.share.session(n)
		due := l.t0.Add(l.scenario.Arrivals.Due(i))
		timer.Reset(time.Until(due))
		select {
		case <-timer.C:
		case <-ctx.Done():
			wg.Wait()
			return sessions, late
		}
		lag := time.Since(due)
		shard.record(histLag, lag)
		if lag > lateAfter {
			late++
		}
		s := newSession(l, i, due)
		sessions = append(sessions, s)
		l.started.Add(1)
		wg.Go(func() { l.session(ctx, s) })
	}
	wg.Wait()
	return sessions, late
}

func (l *load) session(ctx context.Context, s *session) {
	s.err = s.run(ctx)
	l.data.Add(s.data)
	l.actions.Add(int64(s.actions))
	l.over.Add(1)
	var conn *ddp.ConnError
	if errors.As(s.err, &conn) && conn.Cause == ddp.Exhausted {
		l.exhausted.Add(1)
	}
	if s.err != nil {
		l.failed.Add(1)
	}
}

// planned is how many sessions this driver starts.
func (l *load) planned() int { return l.share.Sessions(l.scenario.Arrivals.Sessions()) }

// connected notes what the server agreed to; all sessions of a load offer the same.
func (l *load) connected(c *ddp.Conn) {
	e := c.Extensions()
	l.extensions.CompareAndSwap(nil, &e)
}

func (l *load) received(c *ddp.Conn) {
	l.bytes.Add(c.Bytes)
	l.odd.Add(c.Odd)
}

// watch samples how many sessions are at work, and reports progress, until the function it returns is called. Now and then
// it looks at something else too.
func (l *load) watch(progress func(Progress), look func()) (stop func() []Level) {
	var levels []Level
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for n := 0; ; n++ {
			if n%int(levelEvery/progressEvery) == 0 {
				levels = append(levels, l.level())
			}
			if n%int(lookEvery/progressEvery) == 0 {
				look()
			}
			if progress != nil {
				progress(l.progress())
			}
			select {
			case <-tick.C:
			case <-done:
				levels = append(levels, l.level())
				return
			}
		}
	}()
	return func() []Level {
		close(done)
		<-ended
		return levels
	}
}

func (l *load) level() Level {
	over := l.over.Load()
	return Level{time.Since(l.t0).Seconds(), int(l.started.Load() - over)}
}

func (l *load) progress() Progress {
	elapsed := time.Since(l.t0)
	return Progress{
		Elapsed: elapsed,
		Left:    max(0, l.scenario.Floor()-elapsed),
		Planned: l.planned(),
		Started: int(l.started.Load()),
		Over:    int(l.over.Load()),
		Failed:  int(l.failed.Load()),
	}
}

// part folds what the sessions did, once all are over.
func (l *load) part(sessions []*session, late int, levels []Level) *Part {
	p := &Part{
		Start: l.t0, Floor: l.scenario.Floor().Seconds(),
		Planned: l.planned(), Started: len(sessions) - late, Late: late,
		Active: levels, Exhausted: int(l.exhausted.Load()),
		DataMessages: l.data.Load(), Bytes: l.bytes.Load(), Odd: l.odd.Load(), Actions: int(l.actions.Load()),
	}
	p.Dropped = p.Planned - len(sessions)
	if e := l.extensions.Load(); e != nil {
		p.Extensions = *e
	}
	shard := &l.recorder.shards[0]
	audit := newAuditor(sessions, func(d time.Duration) { shard.hist(histForeign).Record(d.Seconds()) })
	for _, s := range sessions {
		p.Time = max(p.Time, s.over.Sub(l.t0).Seconds())
		if s.err == nil {
			if s.err = audit.session(s.index, &s.log); s.err != nil {
				shard.censor(histForeign)
			}
		}
		l.fold(p, s)
	}
	p.Failures = l.failures.sorted()
	p.Histograms, p.Results = l.recorder.merged(), l.recorder.sizes()
	return p
}

func (l *load) fold(p *Part, s *session) {
	if s.err != nil {
		p.Failed++
		l.failures.add(l.credentials.redacted(causeOf(s.err)), l.credentials.redacted(fmt.Sprintf("session %d: %v", s.index, s.err)))
		s.shard.censor(histSession)
		s.shard.censor(histWait)
		return
	}
	p.OK++
	s.shard.record(histSession, s.over.Sub(s.due))
	s.shard.record(histWait, s.waited())
}
