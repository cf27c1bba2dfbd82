package record

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	if err := Check(sample()); err != nil {
		t.Fatalf("a good record: %v", err)
	}
	for _, tt := range []struct {
		name  string
		spoil func(r *Record, s *Scenario, run *Run)
		want  string
	}{
		{"format", func(r *Record, _ *Scenario, _ *Run) { r.Format = "" }, `format is "", not "ddpgate/record/1"`},
		{"an app's arm", func(r *Record, _ *Scenario, _ *Run) { r.Apps["hed"] = App{} }, `apps: unknown arm "hed", known are base and head`},
		{"no name", func(_ *Record, s *Scenario, _ *Run) { s.Name = "" }, "scenario 0 has no name"},
		{"a name twice", func(r *Record, s *Scenario, _ *Run) { r.Scenarios = append(r.Scenarios, *s) }, `scenario "tasks-reactive" is in it twice`},
		{"rate", func(_ *Record, s *Scenario, _ *Run) { s.Load.Rate = math.NaN() }, "tasks-reactive: load: rate is no number: NaN"},
		{"a run's arm", func(_ *Record, _ *Scenario, run *Run) { run.Arm = "b" }, `run 0 of b: unknown arm "b"`},
		{"a run twice", func(_ *Record, s *Scenario, run *Run) { s.Runs = append(s.Runs, *run) }, "run 0 of base is in it twice"},
		{"outcome", func(_ *Record, _ *Scenario, run *Run) { run.Outcome = "" }, `unknown outcome ""`},
		{"index", func(_ *Record, _ *Scenario, run *Run) { run.Index = -1 }, "index -1 and pair 0 must not be negative"},
		{"metric", func(_ *Record, _ *Scenario, run *Run) { run.Metrics["ram"] = math.Inf(1) }, "ram is no number: +Inf"},
		{"series", func(_ *Record, _ *Scenario, run *Run) { run.Series["t"] = []float64{1} }, "series app.ram has 2 points, t has 1"},
		{"no t", func(_ *Record, _ *Scenario, run *Run) { delete(run.Series, "t") }, "series app.ram has 2 points, t has 0"},
		{"point", func(_ *Record, _ *Scenario, run *Run) { run.Series["t"][1] = math.NaN() }, "series t has a value that is no number: NaN"},
		{"negative", func(_ *Record, _ *Scenario, run *Run) { run.Sessions.Late = -1 }, "a negative number of sessions"},
		{"planned", func(_ *Record, _ *Scenario, run *Run) { run.Sessions.Planned++ }, "241 sessions planned, but 237 started, 2 late and 1 dropped"},
		{"started", func(_ *Record, _ *Scenario, run *Run) { run.Sessions.OK-- }, "239 sessions started, but 237 ok and 1 failed"},
		{"more ended", func(_ *Record, _ *Scenario, run *Run) { run.Outcome = Interrupted; run.Sessions.OK++ }, "239 sessions started, but 239 ok and 1 failed"},
		{"late", func(_ *Record, _ *Scenario, run *Run) { run.Sessions.Late = 240 }, "240 sessions planned, but 237 started, 240 late and 1 dropped"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := sample()
			tt.spoil(r, &r.Scenarios[0], &r.Scenarios[0].Runs[0])
			err := Check(r)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if _, encodeErr := Encode(r); tt.name != "format" && encodeErr == nil {
				t.Error("Encode takes it")
			}
		})
	}
}

func TestCheckInterrupted(t *testing.T) {
	r := sample()
	run := &r.Scenarios[0].Runs[0]
	run.Outcome, run.Sessions = Interrupted, Sessions{Planned: 240, Started: 10, OK: 3, Failed: 1}
	if err := Check(r); err != nil {
		t.Errorf("sessions that came to no end in an interrupted run: %v", err)
	}
}

func TestCheckTellsAllButNotThousands(t *testing.T) {
	r := sample()
	for range 50 {
		r.Scenarios[0].Runs = append(r.Scenarios[0].Runs, Run{Arm: Head, Outcome: OK})
	}
	err := Check(r)
	if err == nil {
		t.Fatal("a run 51 times: no fault")
	}
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) || len(joined.Unwrap()) != enough+1 || !strings.Contains(err.Error(), "and 40 more faults") {
		t.Errorf("got %v, want %d faults and how many more", err, enough)
	}
}
