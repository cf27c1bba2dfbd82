package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/scenario"
)

// part is a load of 100 sessions that took 20 s, of which some failed.
func part(failed int) *drive.Part {
	h := metric.NewHistogram()
	for range 100 - failed {
		h.Record(1.5)
	}
	for range failed {
		h.Censor()
	}
	lag := metric.NewHistogram()
	lag.Record(0.001)
	return &drive.Part{
		Time: 20, Floor: 15, Planned: 100, Started: 100, OK: 100 - failed, Failed: failed,
		Histograms: map[string]*metric.Histogram{"session": h, "lag": lag},
		Self:       drive.Self{CPU: 2, Busy: 0.05},
	}
}

// quiet is a run of that part with nothing wrong on the machine.
func quiet(p *drive.Part) *seen {
	begun := time.Unix(1_800_000_000, 0)
	return &seen{part: p, begun: begun, ended: begun.Add(20 * time.Second), settled: begun.Add(22 * time.Second),
		startup: 0.25, started: true}
}

var load20 = scenario.Scenario{Name: "a", Arrivals: scenario.Arrivals{Rate: 5, For: 20 * time.Second}}

func fold(t *testing.T, s *seen) record.Run {
	t.Helper()
	run, err := s.fold(load20)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestOutcome(t *testing.T) {
	for _, tt := range []struct {
		name    string
		change  func(*seen)
		outcome record.Outcome
		limited string
		reason  string // is in one of the reasons
	}{
		{"all well", func(*seen) {}, record.OK, "none", ""},
		{"one odd failure", func(s *seen) { s.part = part(1) }, record.OK, "none", ""},
		{"sessions failed", func(s *seen) { s.part = part(2) }, record.Failed, "none", "2 of 100 sessions"},
		{"no session at all", func(s *seen) { s.part.Planned, s.part.Started, s.part.OK = 0, 0, 0 }, record.Failed, "none", "0 of 0"},
		{"the app died", func(s *seen) { s.exit, s.stopped = &app.Exit{Role: "app", Code: 3}, errDied }, record.Failed, "app", "app"},
		{"the app died after the load", func(s *seen) { s.exit = &app.Exit{Role: "app", Code: 3} }, record.Failed, "app", "app"},
		{"a service died", func(s *seen) { s.exit, s.stopped = &app.Exit{Role: "db", Signal: "SIGKILL"}, errDied }, record.Invalid, "none", "db was killed by SIGKILL"},
		{"stopped from outside", func(s *seen) { s.stopped = context.Canceled }, record.Interrupted, "none", "stopped from outside"},
		{"out of budget", func(s *seen) { s.stopped = errBudget }, record.Interrupted, "none", "budget"},
		{"the driver was the bottleneck", func(s *seen) { s.part.Self.Busy = 1e6 }, record.Invalid, "driver", "allowance"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := quiet(part(0))
			tt.change(s)
			run := fold(t, s)
			if run.Outcome != tt.outcome || run.LimitedBy != tt.limited {
				t.Errorf("got %s, limited by %s, for %q; want %s, limited by %s", run.Outcome, run.LimitedBy, run.Reasons, tt.outcome, tt.limited)
			}
			if all := strings.Join(run.Reasons, "\n"); !strings.Contains(all, tt.reason) || (all == "") != (tt.reason == "") {
				t.Errorf("reasons %q, want one with %q", run.Reasons, tt.reason)
			}
			if run.Died != (tt.limited == "app") {
				t.Errorf("died: %v", run.Died)
			}
		})
	}
}

func TestFiguresOfAnotherLoadAreMissing(t *testing.T) {
	s := quiet(part(30))
	s.exit, s.stopped = &app.Exit{Role: "app", Code: 3}, errDied
	s.part.Started, s.part.OK, s.part.Failed = 60, 20, 10 // and 30 were under way
	run := fold(t, s)
	for _, name := range []string{"time", "cpu_seconds", "cpu", "ram", "ram_settled"} {
		if v, found := run.Metrics[name]; found {
			t.Errorf("%s is %v, though the load was not carried out", name, v)
		}
		if run.Missing[name] == "" {
			t.Errorf("%s is missing without a reason", name)
		}
	}
	if want := (record.Sessions{Planned: 100, Started: 60, OK: 20, Failed: 40, Dropped: 40}); run.Sessions != want {
		t.Errorf("sessions %+v, want %+v", run.Sessions, want)
	}
	if len(run.Errors) != 1 || run.Errors[0].Count != 30 {
		t.Errorf("errors %+v, want the 30 sessions that were under way", run.Errors)
	}
}

func TestRecordOfARunIsSound(t *testing.T) {
	run := fold(t, quiet(part(1)))
	run.Arm = record.Head
	if run.Metrics["time"] != 20 || run.Metrics["startup"] != 0.25 || run.Metrics["ok"] != 0.99 {
		t.Errorf("metrics %v", run.Metrics)
	}
	if run.Censored["session"] != 1 {
		t.Errorf("censored %v, want the failed session", run.Censored)
	}
	h, err := metric.DecodeHistogram(run.Histograms["session"])
	if err != nil {
		t.Fatal(err)
	}
	if h.Count() != 99 {
		t.Errorf("%d sessions in the histogram, want 99", h.Count())
	}
	if missing := run.Missing["cpu_seconds"]; missing == "" {
		t.Error("nothing was metered, and cpu_seconds is not missing")
	}
	sc := Describe(load20)
	sc.Runs = []record.Run{run}
	if _, err := record.Encode(&record.Record{Scenarios: []record.Scenario{sc}}); err != nil {
		t.Error(err)
	}
}

func TestListOfInvalidRuns(t *testing.T) {
	sound := load{cores: 2, busy: 0.25, seconds: 20, driver: 10, others: 10, arrival: 20, lag: 0.001, planned: 100}
	for _, tt := range []struct {
		name               string
		load               func(*load)
		driver, host, slow string
	}{
		{name: "sound", load: func(*load) {}},
		{name: "driver at its limit", load: func(l *load) { l.busy = 0.80 }},
		{name: "driver above its limit", load: func(l *load) { l.busy = 0.82 }, driver: "82 % of its CPU allowance"},
		{name: "out of descriptors", load: func(l *load) { l.exhausted = 1 }, driver: "descriptors for 1 sessions"},
		{name: "late on an idle machine", load: func(l *load) { l.lag = 0.06 }, host: "late, by 60ms"},
		{name: "late on a full machine", load: func(l *load) { l.lag, l.others = 0.06, 27 }, slow: "late"},
		{name: "a session dropped", load: func(l *load) { l.dropped = 1 }},
		{name: "sessions dropped", load: func(l *load) { l.dropped = 2 }, host: "98 of 100"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := sound
			tt.load(&l)
			driver, host, slow := l.faults()
			for _, list := range []struct {
				name, want string
				got        []string
			}{{"driver", tt.driver, driver}, {"host", tt.host, host}, {"slow", tt.slow, slow}} {
				got := strings.Join(list.got, "\n")
				if !strings.Contains(got, list.want) || (got == "") != (list.want == "") {
					t.Errorf("%s: %q, want %q", list.name, got, list.want)
				}
			}
		})
	}
}

func TestLevels(t *testing.T) {
	active := []drive.Level{{T: 0, Sessions: 1}, {T: 0.4, Sessions: 2}, {T: 1.1, Sessions: 0}}
	got := levels(active, []float64{0.05, 0.25, 0.5, 1, 1.25}, 0.1)
	if want := []float64{0, 1, 2, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := levels(nil, []float64{1, 2}, 0); !slices.Equal(got, []float64{0, 0}) {
		t.Errorf("no session at all: %v", got)
	}
}

func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := settle(t.Context(), nil); err != nil || time.Since(begun) != settleTime {
			t.Errorf("settled after %v with %v, want %v and no error", time.Since(begun), err, settleTime)
		}
		done := make(chan struct{})
		time.AfterFunc(settleTime/2, func() { close(done) })
		if err := settle(t.Context(), done); !errors.Is(err, errDied) {
			t.Errorf("the app ended, and settling said %v", err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(settleTime/2, func() { cancel(errBudget) })
		if err := settle(ctx, nil); !errors.Is(err, errBudget) {
			t.Errorf("time was up, and settling said %v", err)
		}
	})
}

// A load that several drove is judged by the worst of them, may not be judged where one was lost, and leaves out what this machine's
// processor was busy with where they were elsewhere.
func TestSharedLoad(t *testing.T) {
	p := part(0)
	p.Sources = []drive.Source{
		{Share: drive.Share{Index: 0, Of: 2}, Worker: "w0", Region: "eu-central-1", Sessions: 50, Self: drive.Self{CPU: 1, Busy: 0.1}, Ahead: drive.Range{Low: -0.01, High: 0.02}},
		{Share: drive.Share{Index: 1, Of: 2}, Region: "us-east-1", Sessions: 50, Fault: "gone"},
	}
	p.Regions = map[string]map[string]float64{"eu-central-1": {"session.p50": 1.5}}
	p.Faults = []string{"share 1 of 2: gone"}
	s := quiet(p)
	run := fold(t, s)
	if run.Outcome != record.Invalid || run.LimitedBy != "driver" || !slices.Contains(run.Reasons, "share 1 of 2: gone") {
		t.Errorf("got %s, limited by %s, for %q", run.Outcome, run.LimitedBy, run.Reasons)
	}
	want := []record.Shard{
		{Shard: 0, Worker: "w0", Region: "eu-central-1", Sessions: 50, CPUSeconds: 1, Busy: 0.1, Ahead: [2]float64{-0.01, 0.02}},
		{Shard: 1, Region: "us-east-1", Sessions: 50, Fault: "gone"},
	}
	if diff := cmp.Diff(want, run.Shards); diff != "" {
		t.Errorf("shards (-want +got):\n%s", diff)
	}
	if run.Regions["eu-central-1"]["session.p50"] != 1.5 || run.Metrics["driver.cpu_seconds"] != 2 {
		t.Errorf("regions %v, metrics %v", run.Regions, run.Metrics)
	}
	if !s.elsewhere() || s.driver() != 0 || quiet(part(0)).driver() != 2 {
		t.Error("drivers elsewhere count as here, or those here do not")
	}
}
