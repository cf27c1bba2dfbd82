package drive

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/internal/tasksapp"
	"github.com/ddpgate/ddpgate/scenario"
)

// Each way in which a session can fail has its cause, which names the step, and an example that tells more.
func TestFailures(t *testing.T) {
	const (
		insert = `  - call: {method: insert}
`
		subscribe = `  - subscribe: {name: p}
`
		own = `  - await: {collection: c, match: {owner: "${session}"}}
`
	)
	ready := func(c *client, m message) { c.ready(m) }
	for _, tt := range []struct {
		name     string
		session  string
		answer   func(c *client, m message)
		cause    string
		example  string
		censored []string // histograms with an attempt without an answer, besides session and session.wait
	}{
		{"method error with a text", insert, func(c *client, m message) {
			c.tell(`{"msg":"result","id":"1","error":{"error":"not-yours","reason":"Not yours","message":"Not yours [not-yours]","errorType":"Meteor.Error"}}`)
		}, "method failed in step 1 (call insert)", "Not yours [not-yours]", []string{"insert", "insert.updated"}},
		{"method error with a number", insert, func(c *client, m message) {
			c.tell(`{"msg":"updated","methods":["1"]}`, `{"msg":"result","id":"1","error":{"error":404,"reason":"Method 'insert' not found"}}`)
		}, "method failed in step 1 (call insert)", "404 Method 'insert' not found", []string{"insert"}},
		{"method error of no known form", insert, func(c *client, m message) { c.tell(`{"msg":"result","id":"1","error":"oops"}`) },
			"method failed in step 1 (call insert)", `"oops"`, []string{"insert", "insert.updated"}},
		{"no updated", insert, func(c *client, m message) { c.tell(`{"msg":"result","id":"1","result":1}`) },
			"timed out in step 1 (call insert)", "there is a result and no updated", []string{"insert.updated"}},
		{"no result", insert, func(c *client, m message) { c.tell(`{"msg":"updated","methods":["1"]}`) },
			"timed out in step 1 (call insert)", "there is an updated and no result", []string{"insert"}},
		{"no answer but to another", insert, func(c *client, m message) {
			c.tell(`{"msg":"result","id":"2","result":1}`, `{"msg":"updated","methods":["2"]}`)
		}, "timed out in step 1 (call insert)", "there is no answer", []string{"insert", "insert.updated"}},
		{"not ready", subscribe, func(c *client, m message) { c.tell(`{"msg":"ready","subs":["2"]}`) },
			"timed out in step 1 (subscribe to p)", "the subscription is not ready", []string{"ready"}},
		{"refused subscription", subscribe, func(c *client, m message) {
			c.tell(`{"msg":"nosub","id":"1","error":{"error":404,"reason":"Subscription 'p' not found","message":"Subscription 'p' not found [404]"}}`)
		}, "refused in step 1 (subscribe to p)", "Subscription 'p' not found [404]", []string{"ready"}},
		{"subscription that ends at once", subscribe, func(c *client, m message) { c.tell(`{"msg":"nosub","id":"1"}`) },
			"refused in step 1 (subscribe to p)", "no reason was given", []string{"ready"}},
		{"never unsubscribed", subscribe + `  - unsubscribe: {name: p}
`, func(c *client, m message) {
			if m["msg"] == "sub" {
				c.ready(m)
			}
		}, "timed out in step 2 (unsubscribe from p)", "the subscription has not ended", nil},
		{"document that never comes", subscribe + own, ready,
			"timed out in step 2 (await c)", `{owner: "ddpgate-`, nil},
		{"own document that never comes", insert + own, func(c *client, m message) { c.done(m, "1") },
			"timed out in step 2 (await c)", "has not come", []string{"visible"}},
		{"document that never goes", subscribe + own + `  - await: {collection: c, match: {owner: "${session}"}, gone: true}
`, func(c *client, m message) {
			c.tell(fmt.Sprintf(`{"msg":"added","collection":"c","id":"x","fields":{"owner":"%s"}}`, m["params"].([]any)[0]))
			c.ready(m)
		}, "timed out in step 3 (await c)", "has not gone", nil},
		{"own document twice", subscribe + own, func(c *client, m message) {
			added := fmt.Sprintf(`{"msg":"added","collection":"c","id":"x","fields":{"owner":"%s"}}`, m["params"].([]any)[0])
			c.tell(added, added)
		}, "a document came twice", "x of c", []string{"ready"}},
		{"result that is no list", `  - call: {method: fetch, find: {match: {a: 1}}}
`, func(c *client, m message) { c.done(m, `{"a":1}`) },
			"wrong result in step 1 (call fetch)", "no list of documents", []string{"fetch", "fetch.updated"}},
		{"result without the document", `  - call: {method: fetch, find: {match: {a: 1}}}
`, func(c *client, m message) { c.done(m, `[{"a":2},{"b":1}]`) },
			"wrong result in step 1 (call fetch)", "{a: 1} is not among 2 documents", []string{"fetch", "fetch.updated"}},
		{"result with a document that should be gone", `  - call: {method: fetch, find: {id: x, gone: true}}
`, func(c *client, m message) { c.done(m, `[{"_id":"x"}]`) },
			"wrong result in step 1 (call fetch)", `{_id: "x"} is there and should be gone`, []string{"fetch", "fetch.updated"}},
		{"fault found by the server", insert, func(c *client, m message) { c.tell(`{"msg":"error","reason":"Malformed method invocation"}`) },
			"the server found fault with a message: Malformed method invocation", "", []string{"insert", "insert.updated"}},
		{"closed", subscribe, func(c *client, m message) { c.close(1001, "going away") },
			"closed with code 1001 in step 1 (subscribe to p)", `closed with code 1001 "going away"`, []string{"ready"}},
		{"lost", insert, func(c *client, m message) { c.ws.NetConn().Close() },
			"connection lost in step 1 (call insert)", "", []string{"insert", "insert.updated"}},
		{"too long a pause", subscribe + `  - pause: 0..1h
`, ready, "timed out in step 2 (pause)", "a pause is not over", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := &app{t: t, answer: tt.answer}
			session := strings.ReplaceAll(tt.session, " subscribe: {name: p}", ` subscribe: {name: p, params: ["${session}"]}`)
			timeout := "timeout: 20s"
			if strings.HasPrefix(tt.cause, "timed out") {
				timeout = "timeout: 1s" // for all that is answered, however busy this machine is
			}
			p := driven(t, parsed(t, session, timeout), Options{URL: a.serve(), Seed: 3})
			if len(p.Failures) != 1 || p.Failures[0].Cause != tt.cause || p.Failures[0].Count != 1 {
				t.Fatalf("got %+v, want the cause %q", p.Failures, tt.cause)
			}
			if got := p.Failures[0].Example; !strings.HasPrefix(got, "session 0: ") || !strings.Contains(got, tt.example) {
				t.Errorf("got example %q, want it to tell %q", got, tt.example)
			}
			want := map[string]int64{"session": 1, "session.wait": 1}
			for _, name := range tt.censored {
				want[name] = 1
			}
			for name, h := range p.Histograms {
				if h.Censored() != want[name] {
					t.Errorf("%s: got %d attempts without an answer, want %d", name, h.Censored(), want[name])
				}
				if want[name] > 0 && h.Count() > 0 {
					t.Errorf("%s: got %d durations of what failed", name, h.Count())
				}
				delete(want, name)
			}
			if len(want) > 0 {
				t.Errorf("there is no histogram of %v", want)
			}
		})
	}
}

// A connection that cannot be made is a failed session, with the name of the cause.
func TestCannotConnect(t *testing.T) {
	closed := served(t, func(ctx context.Context, l net.Listener) error { return l.Close() })
	silent := served(t, func(ctx context.Context, l net.Listener) error {
		<-ctx.Done() // nobody accepts
		return l.Close()
	})
	for _, tt := range []struct{ url, cause string }{
		{closed, "refused"},
		{tasks(t, tasksapp.Options{}) + "/elsewhere", "upgrade refused with status 404"},
		{silent, "timed out connecting"},
	} {
		if tt.url == closed {
			waitClosed(t, closed)
		}
		p := driven(t, parsed(t, "  - subscribe: {name: p}\n", "timeout: 1s"), Options{URL: tt.url})
		if got := causes(p); len(got) != 1 || got[tt.cause] != 1 {
			t.Errorf("%s: got %v, want %q", tt.url, got, tt.cause)
		}
		if h := p.Histograms["connect"]; h.Censored() != 1 || h.Count() != 0 {
			t.Errorf("%s: connecting is not censored", tt.url)
		}
	}
}

// waitClosed returns when nothing listens any more.
func waitClosed(t *testing.T, url string) {
	t.Helper()
	for {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			return
		}
		c.Close()
	}
}

// A server that refuses all that comes after the crash, and the sessions that it had, are counted by cause.
func TestCrash(t *testing.T) {
	url := served(t, func(ctx context.Context, l net.Listener) error {
		if err := tasksapp.New(tasksapp.Options{CrashAt: 5}).Serve(ctx, l); !errors.Is(err, tasksapp.ErrCrashed) {
			return fmt.Errorf("got %v, want a crash", err)
		}
		return nil
	})
	p := driven(t, small(t, "tasks-reactive", func(s *scenario.Scenario) {
		s.Think = scenario.Range{Min: 100 * time.Millisecond, Max: 100 * time.Millisecond}
	}), Options{URL: url})
	if p.OK != 0 || p.Failed != 20 {
		t.Errorf("got %d ok and %d failed, want 0 and 20", p.OK, p.Failed)
	}
	var lost, refused int
	for cause, n := range causes(p) {
		switch {
		case strings.HasPrefix(cause, "connection lost"):
			lost += n
		case cause == "refused":
			refused += n
		}
	}
	if lost < 4 || lost+refused != 20 {
		t.Errorf("got %d lost and %d refused: %+v", lost, refused, p.Failures)
	}
}

// ctx ends a load in its middle: sessions that had begun have failed, those that were not yet due were dropped.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := &app{t: t, answer: func(c *client, m message) {
		if c.index == 2 {
			cancel()
		}
	}}
	sc := parsed(t, "  - subscribe: {name: p}\n", "arrivals: {rate: 20/s, for: 100s}", "timeout: 1h")
	p, err := Run(ctx, sc, Options{URL: a.serve()})
	if err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if p.Planned != 2000 || p.Planned != p.Started+p.Late+p.Dropped || p.OK != 0 || p.Failed != p.Started+p.Late || p.Failed < 3 || p.Dropped < 1000 {
		t.Errorf("the counts of sessions do not add up: %+v", p)
	}
}

// Sessions that start more than 50 ms after they were due are late, and count as started otherwise.
func TestLate(t *testing.T) {
	sc := parsed(t, "  - subscribe: {name: p}\n", "arrivals: {rate: 1000/s, for: 20ms}")
	a := &app{t: t, answer: func(c *client, m message) { c.ready(m) }}
	l, err := newLoad(&sc, Options{URL: a.serve()})
	if err != nil {
		t.Fatal(err)
	}
	held := &l.recorder.shards[0] // which arrivals report their lag to
	held.Lock()
	release := time.AfterFunc(150*time.Millisecond, held.Unlock)
	defer release.Stop()
	l.begin(t.Context(), time.Time{})
	p := l.run(t.Context(), nil, func() {})
	if p.Late < 19 || p.Started+p.Late != 20 || p.OK != 20 {
		t.Errorf("got %d on time, %d late, %d ok: want all but the first late", p.Started, p.Late, p.OK)
	}
	lag := p.Histograms["lag"]
	if median, _ := lag.Quantile(0.5); lag.Count() != 20 || median < 0.1 {
		t.Errorf("got %d lags, median %.3f s, want 20 above 0.1 s", lag.Count(), median)
	}
	// A session's length counts from when it was due.
	if median, _ := p.Histograms["session"].Quantile(0.5); median < 0.1 {
		t.Errorf("got sessions of %.3f s, want them to hold the lag", median)
	}
	if median, _ := p.Histograms["session.wait"].Quantile(0.5); median > 0.1 {
		t.Errorf("got waits of %.3f s, want them without the lag", median)
	}
}

// Think time is drawn from the seed and the session, so that two runs with one seed think alike.
func TestThinkTime(t *testing.T) {
	sc := parsed(t, "  - pause: 1s..3s\n", "arrivals: {rate: 100/s, for: 1s}")
	pauses := func(seed uint64) (all []time.Duration) {
		l, err := newLoad(&sc, Options{URL: "http://127.0.0.1:1", Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			s := newSession(l, i, time.Time{})
			for range 3 {
				now := time.Now()
				s.pause(scenario.Range{Min: time.Second, Max: 3 * time.Second}, now)
				all = append(all, s.until.Sub(now))
			}
		}
		return all
	}
	first, again, other := pauses(1), pauses(1), pauses(2)
	var sum time.Duration
	alike := 0
	for i, d := range first {
		if d != again[i] {
			t.Fatalf("pause %d: got %v and %v from one seed", i, d, again[i])
		}
		if d < time.Second || d > 3*time.Second {
			t.Fatalf("pause %d: got %v, want it between 1 s and 3 s", i, d)
		}
		if d == other[i] {
			alike++
		}
		sum += d
	}
	if mean := sum / time.Duration(len(first)); mean < 1800*time.Millisecond || mean > 2200*time.Millisecond || alike > 3 {
		t.Errorf("got a mean of %v, and %d alike from another seed", mean, alike)
	}
}

// What a session is told decides what it asks: variables, lists and loops, over the wire.
func TestSteps(t *testing.T) {
	a := &app{t: t}
	a.answer = func(c *client, m message) {
		switch m["msg"] {
		case "sub":
			c.tell(`{"msg":"added","collection":"c","id":"a1","fields":{"n":1,"tag":"x\u0041"}}`,
				`{"msg":"added","collection":"c","id":"a2","fields":{"n":1.0e0,"tag":"y"}}`,
				`{"msg":"changed","collection":"c","id":"a2","fields":{"n":2},"cleared":["tag"]}`)
			c.ready(m)
		case "unsub":
			c.tell(`{"msg":"nosub","id":"` + m["id"].(string) + `"}`)
		case "method":
			c.done(m, `[{"_id":"r1","n":1},{"_id":"r2","n":2,"who":{"b":2,"a":[1,"t"]}}]`)
		}
	}
	sc := parsed(t, `
  - subscribe: {name: p, params: ["${n}", "${text} and ${n}", {deep: ["${yes}", null, "$${n}"]}]}
  - await: {collection: c, match: {n: 1, tag: xA}, append: {ids: _id, tags: tag}}
  - await: {collection: c, match: {n: 2}, append: {ids: _id}}
  - call: {method: fetch, find: {match: {who: {a: [1, t], b: 2}}, append: {ids: _id}}}
  - repeat: "${n}"
    steps:
      - each: {id: ids}
        steps:
          - call: {method: use, params: ["${id}", "${i}", "#${i} of ${id}"]}
  - each: {tag: tags}
    steps:
      - call: {method: tagged, params: ["<${tag}>"]}
  - unsubscribe: {name: p}
`, "vars: {n: 2, text: \"a \\\"b\\\"\", yes: true}")
	p := driven(t, sc, Options{URL: a.serve()})
	if p.OK != 1 {
		t.Fatalf("got %+v", p.Failures)
	}
	var got []string
	for _, m := range a.heard {
		got = append(got, fmt.Sprint(m["msg"], " ", m["name"], m["method"], " ", m["params"]))
	}
	want := []string{
		`sub p<nil> [2 a "b" and 2 map[deep:[true <nil> ${n}]]]`, `method <nil>fetch []`,
		`method <nil>use [a1 1 #1 of a1]`, `method <nil>use [a2 1 #1 of a2]`, `method <nil>use [r2 1 #1 of r2]`,
		`method <nil>use [a1 2 #2 of a1]`, `method <nil>use [a2 2 #2 of a2]`, `method <nil>use [r2 2 #2 of r2]`,
		`method <nil>tagged [<xA>]`, `unsub <nil> <nil> <nil>`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got, want := p.Results["fetch"], (Size{1, 65, 65}); got != want {
		t.Errorf("got results %+v, want %+v", got, want)
	}
	if got := p.Results["use"]; got.Count != 6 || got.Mean() != 65 {
		t.Errorf("got results %+v, want 6 of 65 bytes", got)
	}
}

// ${load} is one name for all sessions, and the beginning of each one's own.
func TestNames(t *testing.T) {
	a := &app{t: t, answer: func(c *client, m message) { c.done(m, "1") }}
	sc := parsed(t, `
  - only: first
    steps:
      - call: {method: m, params: [first, "${load}", "${session}"]}
  - only: others
    steps:
      - call: {method: m, params: [other, "${load}", "${session}"]}
`, "arrivals: {rate: 100/s, for: 50ms}")
	if p := driven(t, sc, Options{URL: a.serve()}); p.OK != 5 {
		t.Fatalf("got %+v", p.Failures)
	}
	names := make(map[string]bool)
	first := 0
	for _, m := range a.heard {
		params := m["params"].([]any)
		load, session := params[1].(string), params[2].(string)
		if params[0] == "first" {
			first++
		}
		if !strings.HasPrefix(session, load) || load != a.heard[0]["params"].([]any)[1] {
			t.Errorf("got session %q of load %q", session, load)
		}
		names[session] = true
	}
	if first != 1 || len(names) != 5 {
		t.Errorf("got %d first sessions and %d names", first, len(names))
	}
}

// Progress is told while the load goes on, and what the driver itself went through afterwards.
func TestProgressAndSelf(t *testing.T) {
	var told []Progress
	// Descriptors are looked at once a second.
	sc := small(t, "idle", func(s *scenario.Scenario) {
		s.Session[2].Pause.For = scenario.Range{Min: 1500 * time.Millisecond, Max: 1500 * time.Millisecond}
	})
	p := driven(t, sc, Options{URL: tasks(t, tasksapp.Options{}), Progress: func(p Progress) { told = append(told, p) }})
	if len(told) < 2 || told[0].Planned != 20 || told[len(told)-1].Started != 20 || told[len(told)-1].Elapsed <= told[0].Elapsed {
		t.Errorf("got %d reports: %+v", len(told), told)
	}
	most := 0
	for _, l := range p.Active {
		most = max(most, l.Sessions)
	}
	if most != 20 || p.Active[len(p.Active)-1].Sessions != 0 {
		t.Errorf("got levels %+v, want 20 at most and 0 at the end", p.Active)
	}
	if openDescriptors() > 0 && p.Self.Descriptors < 40 { // client and server are one process here
		t.Errorf("got %d descriptors with 20 connections open", p.Self.Descriptors)
	}
	if p.Self.Sched <= 0 || p.Self.Sched > 10 || p.Self.LongestStop > p.Self.Pauses*2 {
		t.Errorf("got %+v", p.Self)
	}
}
