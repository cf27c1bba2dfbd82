package drive

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ddpgate/ddpgate/internal/tasksapp"
	"github.com/ddpgate/ddpgate/scenario"
)

// A world is a server's history: what its sessions did, in one order, and when each was told of it. Times are whole
// milliseconds from the start of the load.
type world struct {
	docs     []life
	watchers []watcher
}

// A life is a document's: its owner calls for it, the server makes it, and perhaps the owner calls for its end.
type life struct {
	owner          int
	called, made   time.Duration
	ended, removed time.Duration // 0 for never
}

// A watcher is a session with the delay of what it is told: never less than is left of the delay of what it was told before.
type watcher struct {
	from, until time.Duration // of the subscription, at the server
	delays      []time.Duration
}

// An event is one of a document's two data messages.
type event struct {
	doc     int
	at      time.Duration // at the server
	removed bool
}

// events are all data messages in the server's order.
func (w *world) events() []event {
	var all []event
	for i, d := range w.docs {
		all = append(all, event{i, d.made, false})
		if d.removed > 0 {
			all = append(all, event{i, d.removed, true})
		}
	}
	slices.SortStableFunc(all, func(a, b event) int { return int(a.at - b.at) })
	return all
}

// tell returns the sessions' diaries. lost, if set, takes away what a watcher is not told.
func (w *world) tell(lost func(watcher int, e event) bool) []*session {
	all := w.events()
	var sessions []*session
	for i, watcher := range w.watchers {
		s := &session{index: i}
		s.log.subscribing()
		var clock time.Duration // of the connection: nothing overtakes
		tell := func(n int, e event) {
			clock = max(clock, e.at+watcher.delays[n%len(watcher.delays)])
			w.hear(s, e, clock)
		}
		// Subscribing tells of what there is, then ready, then of what happens.
		for n, e := range all {
			if d := w.docs[e.doc]; e.at <= watcher.from && !e.removed && (d.removed == 0 || d.removed > watcher.from) {
				tell(n, event{e.doc, watcher.from, false})
			}
		}
		clock = max(clock, watcher.from)
		s.log.subscribed(clock)
		for n, e := range all {
			if e.at > watcher.from && e.at <= watcher.until && (lost == nil || !lost(i, e)) {
				tell(n, e)
			}
		}
		s.log.end(max(clock, watcher.until))
		sessions = append(sessions, s)
	}
	return sessions
}

// hear writes into a session's diary what it is told of a document.
func (w *world) hear(s *session, e event, at time.Duration) {
	d := w.docs[e.doc]
	hash := uint64(e.doc + 1)
	if d.owner != s.index {
		s.log.foreign(hash, at, e.removed)
		return
	}
	s.log.own(ownership{hash: hash, called: d.called, visible: at, ended: d.ended, gone: at}, e.removed)
}

func drawWorld(t *rapid.T) *world {
	ms := func(name string, low, high int) time.Duration {
		return time.Duration(rapid.IntRange(low, high).Draw(t, name)) * time.Millisecond
	}
	w := new(world)
	sessions := rapid.IntRange(2, 6).Draw(t, "sessions")
	for range sessions {
		from := ms("from", 0, 3000)
		watcher := watcher{from: from, until: from + ms("for", 0, 9000)}
		for range rapid.IntRange(1, 5).Draw(t, "delays") {
			watcher.delays = append(watcher.delays, ms("delay", 0, 2000))
		}
		w.watchers = append(w.watchers, watcher)
	}
	for range rapid.IntRange(1, 30).Draw(t, "documents") {
		d := life{owner: rapid.IntRange(0, sessions-1).Draw(t, "owner")}
		o := w.watchers[d.owner]
		d.called = o.from + ms("called", 0, 8000)
		d.made = d.called + ms("made", 0, 500)
		if rapid.Bool().Draw(t, "removed") {
			d.ended = d.made + ms("ended", 1, 3000)
			d.removed = d.ended + ms("gone", 0, 500)
		}
		// A session does nothing once it has left, and hears of what it did before it leaves.
		if last := max(d.made, d.removed); last >= o.until {
			w.watchers[d.owner].until = last + 1
		}
		w.docs = append(w.docs, d)
	}
	return w
}

// findings returns what the audit says of each session.
func findings(sessions []*session) (errs []error, foreign []time.Duration) {
	a := newAuditor(sessions, func(d time.Duration) { foreign = append(foreign, d) })
	for _, s := range sessions {
		errs = append(errs, a.session(s.index, &s.log))
	}
	return errs, foreign
}

// However slow a server is, and to whom, it is not found at fault as long as it tells everybody all of it in order.
func TestAuditOfSlowServers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		errs, _ := findings(drawWorld(t).tell(nil))
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	})
}

// One message that is lost to one watcher is found if that watcher is told of a document that was called for when the lost
// message's own session had seen it.
func TestAuditFindsWhatIsLost(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		victim := rapid.IntRange(0, len(w.watchers)-1).Draw(t, "victim")
		events := w.events()
		missing := events[rapid.IntRange(0, len(events)-1).Draw(t, "lost")]
		if w.docs[missing.doc].owner == victim {
			return // its session would wait for it until it times out
		}
		sessions := w.tell(func(i int, e event) bool { return i == victim && e == missing })
		errs, _ := findings(sessions)
		for i, err := range errs {
			if err != nil && i != victim {
				t.Fatalf("session %d, which was told everything: %v", i, err)
			}
		}
		if provable(w, sessions, victim, missing) {
			if errs[victim] == nil {
				t.Fatalf("session %d was not told of %+v, and nothing was found", victim, missing)
			}
			found++
		}
	})
	if found == 0 {
		t.Error("no lost message was one that must be found: the test shows nothing")
	}
}

// provable tells whether the audit must find that an event was lost.
func provable(w *world, sessions []*session, victim int, missing event) bool {
	v, d := w.watchers[victim], w.docs[missing.doc]
	if missing.at <= v.from || missing.at > v.until {
		return false // there was nothing to tell
	}
	var seen time.Duration // by the document's own session
	for _, o := range sessions[d.owner].log.owned {
		if o.hash == uint64(missing.doc+1) {
			seen = o.visible
			if missing.removed {
				seen = o.gone
			}
		}
	}
	period := &sessions[victim].log.periods[0]
	switch {
	case seen == 0:
		return false
	case !missing.removed && d.called <= period.from:
		return false // it may be older than the subscription
	case !missing.removed && d.removed > 0 && d.removed <= v.until:
		return true // its end was told
	}
	for _, s := range period.others {
		asked := w.docs[s.hash-1].called
		if s.removed {
			asked = w.docs[s.hash-1].ended
		}
		if s.at < period.until-settle && asked > seen {
			return true
		}
	}
	return false
}

// Each kind of finding by hand: session 0 makes documents 1 and 2, session 1 is told.
func TestAuditFindings(t *testing.T) {
	const s = time.Second
	owned := []ownership{
		{hash: 1, called: 1 * s, visible: 2 * s, ended: 2 * s, gone: 3 * s},
		{hash: 2, called: 4 * s, visible: 5 * s, ended: 6 * s, gone: 7 * s},
	}
	for _, tt := range []struct {
		name   string
		others []sighting
		want   string
	}{
		{"told all", []sighting{{1, 2 * s, false}, {1, 3 * s, true}, {2, 5 * s, false}}, ""},
		{"told nothing", nil, ""},
		{"told of the first only", []sighting{{1, 2 * s, false}, {1, 3 * s, true}}, ""},
		{"the first is lost", []sighting{{2, 5 * s, false}}, "another session's document never came"},
		{"the removal is lost", []sighting{{1, 2 * s, false}, {2, 5 * s, false}}, "another session's document never went"},
		{"the first twice", []sighting{{1, 2 * s, false}, {1, 2 * s, false}}, "another session's document came twice"},
		{"back again", []sighting{{1, 2 * s, false}, {1, 3 * s, true}, {1, 4 * s, false}, {1, 4 * s, true}, {2, 5 * s, false}}, ""},
		{"a stranger's twice", []sighting{{9, 2 * s, false}, {9, 2 * s, false}}, "another session's document came twice"},
		{"a stranger's removal", []sighting{{9, 2 * s, true}}, ""},
		{"only that it went", []sighting{{1, 3 * s, true}}, "another session's document never came"},
		{"the second just before leaving", []sighting{{2, 10*s - settle, false}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			watcher := &session{index: 1, log: sightings{periods: []period{{ready: true, ended: true, until: 10 * s, others: tt.others}}}}
			owner := &session{index: 0, log: sightings{owned: slices.Clone(owned)}}
			errs, _ := findings([]*session{owner, watcher})
			if errs[0] != nil {
				t.Errorf("the owner: %v", errs[0])
			}
			got := ""
			if errs[1] != nil {
				got = causeOf(errs[1])
			}
			if got != tt.want {
				t.Errorf("got %v, want %q", errs[1], tt.want)
			}
		})
	}
}

// A session that subscribed later is not owed what was called for before it was ready, and one that has left nothing more.
func TestAuditPeriods(t *testing.T) {
	const s = time.Second
	owner := &session{index: 0, log: sightings{owned: []ownership{
		{hash: 1, called: 1 * s, visible: 2 * s},
		{hash: 2, called: 3 * s, visible: 4 * s, gone: 5 * s},
		{hash: 3, called: 7 * s, visible: 8 * s},
	}}}
	var l sightings
	l.foreign(1, 1*s, false) // not subscribed yet
	l.subscribing()
	l.foreign(1, 2*s, false)
	l.foreign(2, 3*s, false)
	l.subscribed(3 * s)
	l.end(4 * s) // and is not told any more that the second goes
	l.foreign(3, 4*s, false)
	l.subscribing()
	l.subscribing() // to something else as well
	l.foreign(1, 6*s, false)
	l.subscribed(6 * s)
	l.foreign(3, 8*s, false)
	l.end(20 * s)
	l.end(30 * s)
	watcher := &session{index: 1, log: l}
	errs, foreign := findings([]*session{owner, watcher})
	if errs[1] != nil {
		t.Errorf("got %v, want nothing: it was told all that it was owed", errs[1])
	}
	if want := []time.Duration{1 * s, 0, 5 * s, 1 * s}; !slices.Equal(foreign, want) {
		t.Errorf("got latencies %v, want %v", foreign, want)
	}
	if len(l.periods) != 2 || l.periods[1].until != 20*s {
		t.Errorf("got periods %+v", l.periods)
	}
}

// A server that loses one data message in a hundred fails, for those that wait for their own and by the audit for the others'.
func TestDropFails(t *testing.T) {
	t.Parallel() // with what does not wait for a timeout
	sc := small(t, "tasks-reactive", func(s *scenario.Scenario) { s.Timeout, s.Vars["tasks"] = 10*time.Second, int64(20) })
	p := driven(t, sc, Options{URL: tasks(t, tasksapp.Options{Drop: 0.01, Seed: 7})})
	audited := 0
	for cause, n := range causes(p) {
		if strings.HasPrefix(cause, "another session's document never") {
			audited += n
		}
	}
	if audited == 0 || p.Failed < 10 {
		t.Fatalf("%d of %d ok, %d found by the audit: %+v", p.OK, p.Planned, audited, p.Failures)
	}
	if got := p.Histograms["foreign"].Censored(); got != int64(audited) {
		t.Errorf("%d foreign latencies are censored, want %d", got, audited)
	}
}

// A slow server is not found at fault, however uneven its delays.
func TestSlowServerPasses(t *testing.T) {
	sc := small(t, "tasks-reactive", func(s *scenario.Scenario) { s.Vars["tasks"] = int64(3) })
	p := driven(t, sc, Options{URL: tasks(t, tasksapp.Options{Slow: 30 * time.Millisecond, CPU: 2 * time.Millisecond})})
	if p.OK != p.Planned {
		t.Errorf("%d of %d ok: %+v", p.OK, p.Planned, p.Failures)
	}
}
