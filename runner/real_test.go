package runner

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/scenario"
)

// tasks is the reactive scenario with a small load.
func tasks(t *testing.T, rate float64, length time.Duration) scenario.Scenario {
	t.Helper()
	s, err := scenario.Builtin("tasks-reactive")
	if err != nil {
		t.Fatal(err)
	}
	think := scenario.Range{Min: time.Millisecond, Max: time.Millisecond}
	s, err = s.With(scenario.Overrides{Rate: &rate, For: &length, Think: &think, Vars: map[string]string{"tasks": "2"}})
	if err != nil {
		t.Fatal(err)
	}
	return *s
}

// tasksApp is the tasks app as a process of its own, at a port that was free a moment ago.
func tasksApp(t *testing.T, crashAt int) app.Config {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return app.Config{Command: []string{self, serveTasks, address, strconv.Itoa(crashAt)}, URL: "http://" + address, Ready: time.Minute}
}

// gone fails the test where something still answers at the app's address.
func gone(t *testing.T, c app.Config) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.URL, "http://"))
	if err == nil {
		conn.Close()
		t.Errorf("the app still answers at %s", c.URL)
	}
}

func TestRealRecord(t *testing.T) {
	base, head := tasksApp(t, 0), tasksApp(t, 0)
	p := Plan{
		Arms:      []Arm{{Name: record.Base, App: base, Version: "1"}, {Name: record.Head, App: head, Version: "2"}},
		Scenarios: []scenario.Scenario{tasks(t, 10, 600*time.Millisecond)},
		Runs:      Runs{Min: 1, Max: 1, Warmup: 1},
		Seed:      3,
	}
	var phases []Phase
	saved := 0
	rec := &record.Record{Tool: record.Tool{Version: "test"}}
	err := Run(t.Context(), rec, p, Hooks{
		Drive:    drive.Run,
		Save:     func(*record.Record) error { saved++; return nil },
		Progress: func(p Progress) { phases = append(phases, p.Phase) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := record.Encode(rec); err != nil {
		t.Errorf("the record is not sound: %v", err)
	}
	runs := rec.Scenarios[0].Runs
	if rec.Apps[record.Head].Version != "2" || rec.Environment.Cores < 1 || rec.Seed != 3 || saved != len(runs)+1 {
		t.Errorf("apps %v, environment %+v, seed %d, saved %d times", rec.Apps, rec.Environment, rec.Seed, saved)
	}
	if e := rec.Environment; len(e.Calibration) != 2*calibrations || (e.CalibrationLoad == calibrationLoad) != (calibrations > 0) || len(e.Timers) < 3 {
		t.Errorf("calibration %v (%q), timers %v, want some before the first run and after the last", e.Calibration, e.CalibrationLoad, e.Timers)
	}
	// A pair that this machine was too busy to judge is made up for, once.
	unjudged := slices.ContainsFunc(runs, func(r record.Run) bool { return r.Outcome == record.Invalid })
	if len(runs) != 2 && !(len(runs) == 2*tries && unjudged) {
		t.Fatalf("%d runs, want one of each arm", len(runs))
	}
	for _, r := range runs {
		checkRun(t, r)
	}
	for _, want := range []Phase{Starting, Driving, Settling, Cooling} {
		if !slices.Contains(phases, want) {
			t.Errorf("phase %q was not told of, only %q", want, phases)
		}
	}
	gone(t, base)
	gone(t, head)
}

// checkRun looks for what every run of a whole load has. How fast it was is no matter here, nor whether this machine was too
// busy to judge it.
func checkRun(t *testing.T, r record.Run) {
	t.Helper()
	if r.Outcome != record.OK && r.Outcome != record.Invalid {
		t.Errorf("%s: %s for %q", r.Arm, r.Outcome, r.Reasons)
	}
	if r.Sessions.OK != 6 {
		t.Errorf("%s: sessions %+v, want 6 that ended well", r.Arm, r.Sessions)
	}
	for _, name := range []string{"time", "session.wait.p50", "cpu_seconds", "cpu", "ram", "ram_peak", "ram_settled", "startup",
		"latency.insertTask.p95", "driver.cpu_seconds"} {
		if !(r.Metrics[name] > 0) {
			t.Errorf("%s: %s is %v; missing: %q", r.Arm, name, r.Metrics[name], r.Missing[name])
		}
	}
	if r.Metrics["ram"] > 1e9 || r.Metrics["ram_peak"] < r.Metrics["ram"] {
		t.Errorf("%s: ram %v, at its peak %v", r.Arm, r.Metrics["ram"], r.Metrics["ram_peak"])
	}
	if len(r.Series["t"]) == 0 || len(r.Series["app.cpu"]) != len(r.Series["t"]) || len(r.Series["sessions"]) != len(r.Series["t"]) {
		t.Errorf("%s: series %v", r.Arm, r.Series)
	}
	if r.Histograms["session"] == "" || r.Extensions == "" {
		t.Errorf("%s: no histogram of sessions, or nothing negotiated (%q)", r.Arm, r.Extensions)
	}
}

// alone makes the runs of one app and returns the record.
func alone(t *testing.T, ctx context.Context, c app.Config, s scenario.Scenario, h Hooks) *record.Record {
	t.Helper()
	rec := new(record.Record)
	p := Plan{Arms: []Arm{{Name: record.Head, App: c}}, Scenarios: []scenario.Scenario{s}, Runs: Runs{Min: 1, Max: 1}}
	h.Drive = drive.Run
	if err := Run(ctx, rec, p, h); err != nil {
		t.Fatal(err)
	}
	if _, err := record.Encode(rec); err != nil {
		t.Errorf("the record is not sound: %v", err)
	}
	return rec
}

func TestAppThatDiesInTheMiddle(t *testing.T) {
	c := tasksApp(t, 3)
	rec := alone(t, t.Context(), c, tasks(t, 5, 2*time.Second), Hooks{})
	r := rec.Scenarios[0].Runs[0]
	if r.Outcome != record.Failed || !r.Died || r.LimitedBy != "app" || r.Reasons[0] != "app exited with status 7" {
		t.Errorf("outcome %s, died %v, limited by %s, for %q", r.Outcome, r.Died, r.LimitedBy, r.Reasons)
	}
	if n := r.Sessions; n.OK > 2 || n.Dropped == 0 || n.Planned != 10 {
		t.Errorf("sessions %+v: the load should have ended with the app", n)
	}
	if out := strings.Join(r.Output, "\n"); !strings.Contains(out, "serving at") || !strings.Contains(out, "crashed") {
		t.Errorf("the app's last lines are %q", r.Output)
	}
}

func TestAppThatDoesNotStart(t *testing.T) {
	for _, tt := range []struct {
		name    string
		app     app.Config
		outcome record.Outcome
		died    bool
		reason  string
		output  []string
	}{
		{"no such command", app.Config{Command: []string{"no-such-app"}, URL: "http://127.0.0.1:1"}, record.Invalid, false, "command not found", nil},
		{"nothing at the URL", app.Config{URL: "http://127.0.0.1:1", Ready: time.Second}, record.Invalid, false, "not reachable", nil},
		{"dies at start", app.Config{Command: []string{"sh", "-c", "echo oh; exit 5"}, URL: "http://127.0.0.1:1"}, record.Failed, true, "status 5", []string{"oh"}},
		{"never ready", app.Config{Command: []string{"sh", "-c", "echo well; exec sleep 600"}, URL: "http://127.0.0.1:1", Ready: 500 * time.Millisecond},
			record.Failed, true, "never ready", []string{"well"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := alone(t, t.Context(), tt.app, tasks(t, 5, time.Second), Hooks{})
			r := rec.Scenarios[0].Runs[0]
			if r.Outcome != tt.outcome || r.Died != tt.died || len(r.Reasons) == 0 || !strings.Contains(r.Reasons[0], tt.reason) {
				t.Errorf("outcome %s, died %v, for %q; want %s for %q", r.Outcome, r.Died, r.Reasons, tt.outcome, tt.reason)
			}
			if !slices.Equal(r.Output, tt.output) {
				t.Errorf("the app's last lines are %q, want %q", r.Output, tt.output)
			}
			if len(r.Metrics) > 0 {
				t.Errorf("figures of an app that never ran: %v", r.Metrics)
			}
		})
	}
}

func TestInterruptedRecord(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := tasksApp(t, 0)
	saved := 0
	rec := alone(t, ctx, c, tasks(t, 5, time.Minute), Hooks{
		Save: func(rec *record.Record) error {
			saved++
			return nil
		},
		Progress: func(p Progress) {
			if p.Phase == Driving && p.Load.Over > 0 {
				cancel()
			}
		},
	})
	if !rec.Interrupted || saved == 0 {
		t.Errorf("interrupted %v, saved %d times", rec.Interrupted, saved)
	}
	r := rec.Scenarios[0].Runs[0]
	if r.Outcome != record.Interrupted || r.Died || r.Sessions.Planned != 300 || r.Sessions.OK == 0 {
		t.Errorf("outcome %s, died %v, sessions %+v", r.Outcome, r.Died, r.Sessions)
	}
	if _, found := r.Metrics["time"]; found {
		t.Error("a load that was cut short has a length")
	}
	gone(t, c)
}

func TestInterruptedStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := app.Config{Command: []string{"sleep", "600"}, URL: "http://127.0.0.1:1"}
	rec := alone(t, ctx, c, tasks(t, 5, time.Second), Hooks{Progress: func(p Progress) { cancel() }})
	if r := rec.Scenarios[0].Runs[0]; !rec.Interrupted || r.Outcome != record.Interrupted || r.Died {
		t.Errorf("record interrupted %v, run %s, died %v", rec.Interrupted, r.Outcome, r.Died)
	}
}

func TestWrongPlanStartsNothing(t *testing.T) {
	drives := func(context.Context, scenario.Scenario, drive.Options) (*drive.Part, error) {
		t.Error("a load was driven")
		return nil, errors.New("not to be called")
	}
	if err := Run(t.Context(), new(record.Record), Plan{}, Hooks{Drive: drives}); err == nil {
		t.Error("an empty plan was carried out")
	}
	p := Plan{Arms: headOnly(), Scenarios: []scenario.Scenario{load60("a")}, Runs: Runs{Min: 1, Max: 1}}
	if err := Run(t.Context(), new(record.Record), p, Hooks{}); err == nil {
		t.Error("a plan was carried out without a driver")
	}
	p.Runs.Budget = time.Second
	if err := Run(t.Context(), new(record.Record), p, Hooks{Drive: drives}); err == nil {
		t.Error("a plan was carried out that does not fit its budget")
	}
}

func TestFaultOfTheDriverEndsTheRecord(t *testing.T) {
	fault := errors.New("no such option")
	c := tasksApp(t, 0)
	p := Plan{Arms: []Arm{{Name: record.Head, App: c}}, Scenarios: []scenario.Scenario{load60("a")}, Runs: Runs{Min: 3, Max: 3}}
	times := 0
	err := Run(t.Context(), new(record.Record), p, Hooks{Drive: func(context.Context, scenario.Scenario, drive.Options) (*drive.Part, error) {
		times++
		return nil, fault
	}})
	if !errors.Is(err, fault) || times != 1 {
		t.Errorf("got %v after %d loads, want %v after one", err, times, fault)
	}
	gone(t, c)
}
