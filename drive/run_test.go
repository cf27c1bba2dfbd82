package drive

import (
	"fmt"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/internal/tasksapp"
	"github.com/ddpgate/ddpgate/scenario"
)

// small is a built-in scenario with a load that takes about a second.
func small(t testing.TB, name string, change func(*scenario.Scenario)) scenario.Scenario {
	t.Helper()
	sc, err := scenario.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	sc.Arrivals = scenario.Arrivals{Rate: 40, For: 500 * time.Millisecond}
	sc.Think = scenario.Range{Max: 10 * time.Millisecond}
	sc.Timeout = 2 * time.Minute // however busy this machine is
	if _, has := sc.Vars["tasks"]; has {
		sc.Vars["tasks"] = int64(8)
	}
	if change != nil {
		change(sc)
	}
	return *sc
}

// driven puts a load on an app and holds the part to what every part must keep.
func driven(t testing.TB, sc scenario.Scenario, o Options) *Part {
	t.Helper()
	p, err := Run(t.Context(), sc, o)
	if err != nil {
		t.Fatal(err)
	}
	if p.Planned != p.Started+p.Late+p.Dropped || p.Started+p.Late != p.OK+p.Failed {
		t.Errorf("the counts of sessions do not add up: %+v", p)
	}
	for name, h := range p.Histograms {
		if h.Outside() > 0 {
			t.Errorf("%s: %d durations could not be held", name, h.Outside())
		}
	}
	return p
}

// Every built-in scenario ends well on an app without faults, over both transports, and one in each way to compress.
func TestBuiltin(t *testing.T) {
	for _, name := range scenario.Names() {
		for _, transport := range []scenario.Transport{scenario.SockJS, scenario.WebSocket} {
			for _, compression := range []scenario.Compression{scenario.Browser, scenario.NoTakeover, scenario.Off} {
				if compression != scenario.Browser && name != "tasks-reactive" {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", name, transport, compression), func(t *testing.T) {
					t.Parallel()
					sc := small(t, name, func(s *scenario.Scenario) {
						s.Transport, s.Compression = transport, compression
						shorten(s.Session)
					})
					p := driven(t, sc, Options{URL: tasks(t, tasksapp.Options{}), Seed: 1})
					if p.OK != 20 || p.Planned != 20 {
						t.Errorf("got %d of %d sessions ok: %+v", p.OK, p.Planned, p.Failures)
					}
					if want := sc.Actions(); p.Actions != want {
						t.Errorf("got %d actions, want %d", p.Actions, want)
					}
					if (p.Extensions == "") != (compression == scenario.Off) {
						t.Errorf("negotiated %q", p.Extensions)
					}
				})
			}
		}
	}
}

// shorten makes pauses half a second at most.
func shorten(steps []scenario.Step) {
	for _, s := range steps {
		if s.Pause != nil {
			const most = 500 * time.Millisecond
			s.Pause.For = scenario.Range{Min: min(most, s.Pause.For.Min), Max: min(most, s.Pause.For.Max)}
		}
		if s.Only != nil {
			shorten(s.Only.Steps)
		}
	}
}

// In a fanout one session writes, and each of the others is told of every task: that is what latency.foreign counts.
func TestFanout(t *testing.T) {
	sc := small(t, "fanout", func(s *scenario.Scenario) {
		shorten(s.Session)
	})
	p := driven(t, sc, Options{URL: tasks(t, tasksapp.Options{})})
	if p.OK != 20 {
		t.Fatalf("got %d of %d sessions ok: %+v", p.OK, p.Planned, p.Failures)
	}
	if got, want := p.Histograms["foreign"].Count(), int64(19*8); got != want {
		t.Errorf("got %d foreign latencies, want %d", got, want)
	}
	if got, want := p.Histograms["visible"].Count(), int64(2*8); got != want {
		t.Errorf("got %d own writes visible, want %d: the writer's, and nobody else's", got, want)
	}
	if got, want := p.DataMessages, int64(20*2*8); got != want {
		t.Errorf("got %d data messages, want %d", got, want)
	}
	// The others wait for the writer, which is not waiting for the app.
	if longest := p.Histograms["session.wait"].Max(); longest > p.Time/2 {
		t.Errorf("a session waited %.3f s for the app, in a load of %.3f s", longest, p.Time)
	}
}
