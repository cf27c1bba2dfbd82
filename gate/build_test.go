package gate

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/record"
)

// figures are an arm's metrics, one value a run.
type figures map[string][]float64

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// healthyRuns makes an arm's runs: 240 sessions each, all well, one every two minutes from start.
func healthyRuns(arm string, start time.Time, step time.Duration, f figures) []record.Run {
	n := 0
	for _, values := range f {
		n = max(n, len(values))
	}
	runs := make([]record.Run, n)
	for i := range runs {
		runs[i] = record.Run{
			Arm: arm, Index: i, Pair: i, Started: start.Add(time.Duration(i) * step), Outcome: record.OK,
			Sessions: record.Sessions{Planned: 240, Started: 240, OK: 240}, Metrics: map[string]float64{"ok": 1},
		}
		for _, name := range slices.Sorted(maps.Keys(f)) {
			if i < len(f[name]) {
				runs[i].Metrics[name] = f[name][i]
			}
		}
	}
	return runs
}

var thisMachine = record.Environment{Machine: "m1", CPU: "Test 1", Cores: 2, Arch: "amd64", OS: "linux", Kernel: "6.1"}

// recordOf makes a record of one scenario.
func recordOf(runs ...record.Run) *record.Record {
	return &record.Record{
		Format: record.Format, Created: noon, Environment: thisMachine, Apps: map[string]record.App{},
		Scenarios: []record.Scenario{{Name: "tasks-reactive", Identity: "sha256:1", Runs: runs}},
	}
}

// oneArm makes a record of one app.
func oneArm(f figures) *record.Record {
	return recordOf(healthyRuns(record.Head, noon, time.Minute, f)...)
}

// twoArms makes an A/B record in which the arms take turns to come first.
func twoArms(base, head figures) *record.Record {
	b := healthyRuns(record.Base, noon, 2*time.Minute, base)
	h := healthyRuns(record.Head, noon.Add(time.Minute), 2*time.Minute, head)
	for i := range h {
		if i%2 == 1 {
			b[i].Started, h[i].Started = h[i].Started, b[i].Started
		}
	}
	return recordOf(append(b, h...)...)
}

// around returns n values that lie evenly within the share spread of the middle.
func around(middle, spread float64, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = middle * (1 + spread*(2*float64((i*7)%n)/float64(max(1, n-1))-1))
	}
	return values
}

func mustJudge(t *testing.T, base, head *record.Record, p Policy) *Verdict {
	t.Helper()
	v, err := Judge(base, head, p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func mustJudgePairs(t *testing.T, rec *record.Record, p Policy) *Verdict {
	t.Helper()
	v, err := JudgePairs(rec, p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// find returns the finding of a metric.
func find(t *testing.T, v *Verdict, name string) Finding {
	t.Helper()
	for _, f := range v.Metrics {
		if f.Metric == name {
			return f
		}
	}
	t.Fatalf("no finding for %s in %+v", name, v.Metrics)
	return Finding{}
}

func describe(v *Verdict) string {
	s := fmt.Sprintf("%s: %s", v.Outcome, v.Reason)
	for _, f := range v.Metrics {
		s += fmt.Sprintf("\n  %s %s gated %v: change %.4f in %.4f..%.4f at %.4f and %.4f by %s, threshold %.3f, %d and %d runs, visible %.3f, needs %d, %q %q",
			f.Metric, f.Outcome, f.Gated, f.Change, f.Lower, f.Upper, f.LowerLevel, f.UpperLevel, f.Method, f.Threshold, f.NBase, f.NHead,
			f.SmallestVisible, f.RunsNeeded, f.Reason, f.Warnings)
	}
	return s
}
