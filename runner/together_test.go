package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/scenario"
)

// pairs plays a pair of runs that both drive, or of which some end before they would.
func pairs(t *testing.T, arms map[string]string, h Hooks) *record.Record {
	t.Helper()
	p := Plan{Arms: bothArms(), Scenarios: []scenario.Scenario{load60("a")}, Runs: Runs{Min: 2, Max: 2}, Together: true}
	estimate, err := p.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	rec := new(record.Record)
	w := p.work(h, rec, estimate)
	w.measure = func(ctx context.Context, j job, tell teller) (measured, error) {
		switch arms[j.arm.Name] {
		case "not ready":
			return measured{run: record.Run{Outcome: record.Failed, Died: true}, broken: true}, nil
		case "late":
			pause(ctx, time.Minute)
		}
		tell(Driving, drive.Progress{})
		part, err := j.drive(ctx, j.scenario, drive.Options{URL: j.arm.Name})
		if part == nil || err != nil {
			return measured{}, errors.Join(err, errors.New("no part"))
		}
		return measured{run: record.Run{Outcome: record.OK, Sessions: record.Sessions{Planned: part.Planned}}}, nil
	}
	if err := w.do(t.Context()); err != nil {
		t.Fatal(err)
	}
	return rec
}

func TestTogether(t *testing.T) {
	for _, tt := range []struct {
		name string
		arms map[string]string
		want []string // that were driven
		runs string
	}{
		{"both", nil, []string{"base+head", "base+head"}, "a base0 ok\na head0 ok\na base1 ok\na head1 ok"},
		{"one is late", map[string]string{"base": "late"}, []string{"base+head", "base+head"}, "a base0 ok\na head0 ok\na base1 ok\na head1 ok"},
		{"base is not ready", map[string]string{"base": "not ready"}, []string{"head"}, "a base0 failed\na head0 ok"},
		{"head is not ready", map[string]string{"head": "not ready"}, []string{"base"}, "a base0 ok\na head0 failed"},
		{"neither is ready", map[string]string{"base": "not ready", "head": "not ready"}, nil, "a base0 failed\na head0 failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var driven []string
				var due []Due
				rec := pairs(t, tt.arms, Hooks{
					Drive: func(_ context.Context, _ scenario.Scenario, o drive.Options) (*drive.Part, error) {
						driven = append(driven, o.URL)
						return &drive.Part{Planned: 1}, nil
					},
					Together: func(_ context.Context, _ scenario.Scenario, base, head drive.Options) (*drive.Part, *drive.Part, error) {
						driven = append(driven, base.URL+"+"+head.URL)
						return &drive.Part{Planned: 10}, &drive.Part{Planned: 20}, nil
					},
					Next: func(d []Due) { due = append(due, d...) },
					Progress: func(p Progress) {
						if want := bothNames; p.Over == nil && p.Arm != want {
							t.Errorf("told of %q, want %q", p.Arm, want)
						}
					},
				})
				if diff := cmp.Diff(tt.want, driven); diff != "" {
					t.Errorf("driven (-want +got):\n%s", diff)
				}
				if got := outcomes(rec); got != tt.runs {
					t.Errorf("made\n%s\nwant\n%s", got, tt.runs)
				}
				for _, r := range rec.Scenarios[0].Runs {
					want := map[string]int{"base": 10, "head": 20}[r.Arm]
					if tt.arms["base"] != "not ready" && tt.arms["head"] != "not ready" && r.Sessions.Planned != want {
						t.Errorf("%s has the part of %d sessions, want %d", r.Arm, r.Sessions.Planned, want)
					}
				}
				if want := (Due{Scenario: "a", Arm: "head"}); due[1] != want {
					t.Errorf("the second run was announced as %+v, want %+v", due[1], want)
				}
			})
		})
	}
}

// A driver that fails ends both runs with its error; nobody is left waiting.
func TestTogetherFails(t *testing.T) {
	p := Plan{Arms: bothArms(), Scenarios: []scenario.Scenario{load60("a")}, Runs: Runs{Min: 1, Max: 1}, Together: true}
	estimate, err := p.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("no fleet")
	w := p.work(Hooks{Together: func(context.Context, scenario.Scenario, drive.Options, drive.Options) (*drive.Part, *drive.Part, error) {
		return nil, nil, broken
	}}, new(record.Record), estimate)
	w.measure = func(ctx context.Context, j job, _ teller) (measured, error) {
		_, err := j.drive(ctx, j.scenario, drive.Options{})
		return measured{}, err
	}
	if err := w.do(t.Context()); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

// Two apps that run elsewhere are driven at once, each metered by its own endpoint.
func TestTogetherReally(t *testing.T) {
	base := elsewhere(t, func(n int64) (float64, bool) { return float64(n), true })
	head := elsewhere(t, func(n int64) (float64, bool) { return 2 * float64(n), true })
	p := Plan{
		Arms:      []Arm{{Name: record.Base, App: base}, {Name: record.Head, App: head}},
		Scenarios: []scenario.Scenario{tasks(t, 10, 600*time.Millisecond)}, Runs: Runs{Min: 1, Max: 1}, Together: true,
	}
	if err := Run(t.Context(), new(record.Record), p, Hooks{Drive: drive.Run}); err == nil {
		t.Error("a plan for both at once was begun with nothing to drive both with")
	}
	rec := new(record.Record)
	err := Run(t.Context(), rec, p, Hooks{Drive: drive.Run, Together: func(ctx context.Context, sc scenario.Scenario, b, h drive.Options) (onBase, onHead *drive.Part, err error) {
		if b.URL != base.URL || h.URL != head.URL {
			t.Errorf("driven are %s and %s", b.URL, h.URL)
		}
		var wg sync.WaitGroup
		var other error
		wg.Go(func() { onBase, err = drive.Run(ctx, sc, b) })
		wg.Go(func() { onHead, other = drive.Run(ctx, sc, h) })
		wg.Wait()
		return onBase, onHead, errors.Join(err, other)
	}})
	if err != nil {
		t.Fatal(err)
	}
	runs := rec.Scenarios[0].Runs
	for _, r := range runs {
		if r.Sessions.OK != 6 || !strings.HasPrefix(r.Metered["app"], "endpoint") || !(r.Metrics["cpu_seconds"] >= 1) {
			t.Errorf("%s: %s for %q, %+v, %v", r.Arm, r.Outcome, r.Reasons, r.Sessions, r.Metrics)
		}
	}
	if got := slices.Compact([]string{runs[0].Arm, runs[1].Arm}); len(got) != 2 {
		t.Errorf("the runs are of %q", got)
	}
}

func TestCheckTogether(t *testing.T) {
	away := Arm{App: app.Config{URL: "http://10.0.0.1"}}
	here := Arm{App: app.Config{Command: []string{"node"}}}
	for _, tt := range []struct {
		name string
		arms []Arm
		ok   bool
	}{
		{"both away", []Arm{away, away}, true},
		{"one alone", []Arm{away}, false},
		{"one started here", []Arm{away, here}, false},
		{"one with a container here", []Arm{away, {App: app.Config{URL: away.App.URL, Container: "c"}}}, false},
		{"one with a reset", []Arm{{App: app.Config{URL: away.App.URL, Reset: []string{"./drop"}}}, away}, false},
	} {
		for i := range tt.arms {
			tt.arms[i].Name = []string{record.Base, record.Head}[i+2-len(tt.arms)]
		}
		p := Plan{Arms: tt.arms, Scenarios: []scenario.Scenario{load60("a")}, Runs: Runs{Min: 1, Max: 1}, Together: true}
		if err := p.Check(); (err == nil) != tt.ok {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}

// The lead is part of every run's time, and a pair at once takes the time of one run.
func TestEstimateOfFleet(t *testing.T) {
	estimate := func(p Plan) time.Duration {
		t.Helper()
		p.Arms, p.Scenarios, p.Runs = bothArms(), []scenario.Scenario{load60("a")}, Runs{Min: 3, Max: 3}
		e, err := p.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		return e.Least
	}
	alone := estimate(Plan{})
	if got, want := estimate(Plan{Lead: 5 * time.Second}), alone+6*5*time.Second; got != want {
		t.Errorf("with a lead it takes %v, want %v", got, want)
	}
	if got, want := estimate(Plan{Together: true}), alone/2; got != want {
		t.Errorf("at once it takes %v, want %v", got, want)
	}
}
