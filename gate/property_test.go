package gate

import (
	"math"
	"slices"
	"testing"

	"github.com/ddpgate/ddpgate/record"
	"pgregory.net/rapid"
)

// drawFigures draws an arm's figures, far above every floor.
func drawFigures(t *rapid.T, label string, n int) figures {
	f := make(figures)
	level := float64(rapid.IntRange(80, 125).Draw(t, label+" level")) / 100
	spread := rapid.SampledFrom([]float64{0, 0.01, 0.05, 0.2}).Draw(t, label+" spread")
	for _, name := range []string{"time", "cpu_seconds", "ram", "throughput"} {
		for range n {
			f[name] = append(f[name], 1e10*level*(1+spread*float64(rapid.IntRange(-1000, 1000).Draw(t, label))/1000))
		}
	}
	return f
}

var throughputToo = Policy{Thresholds: map[string]Percent{"throughput": 0.1}}

func judge(t *rapid.T, base, head *record.Record, p Policy) *Verdict {
	v, err := Judge(base, head, p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func alike(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-7*(1+math.Abs(a))
}

// The order of the runs and the unit of a metric do not matter.
func TestPropertyOrderAndUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 10).Draw(t, "n")
		b, h := drawFigures(t, "base", n), drawFigures(t, "head", n)
		factor := rapid.SampledFrom([]float64{0.25, 2, 1024}).Draw(t, "unit")
		scaled := func(f figures) figures {
			g := make(figures)
			for name, values := range f {
				for _, v := range values {
					g[name] = append(g[name], v*factor)
				}
			}
			return g
		}
		base, head := oneArm(b), oneArm(h)
		want := judge(t, base, head, throughputToo)
		shuffled := oneArm(h)
		runs := shuffled.Scenarios[0].Runs
		shuffled.Scenarios[0].Runs = rapid.Permutation(runs).Draw(t, "order")
		for what, got := range map[string]*Verdict{
			"order": judge(t, base, shuffled, throughputToo), "unit": judge(t, oneArm(scaled(b)), oneArm(scaled(h)), throughputToo),
		} {
			if got.Outcome != want.Outcome {
				t.Fatalf("%s: %s\nwas %s", what, describe(got), describe(want))
			}
			for i, f := range got.Metrics {
				if w := want.Metrics[i]; f.Outcome != w.Outcome || !alike(f.Change, w.Change) || !alike(f.Lower, w.Lower) || !alike(f.Upper, w.Upper) {
					t.Fatalf("%s: %s\nwas %s", what, describe(got), describe(want))
				}
			}
		}
	})
}

// What lies on its threshold exactly has reached it, whatever rounding makes of it in one unit or another, and so has an improvement.
func TestOnTheThresholdInEveryUnit(t *testing.T) {
	constant := func(level, unit float64) *record.Record {
		return oneArm(figures{"ram": {level * unit, level * unit, level * unit}})
	}
	for _, strict := range []bool{false, true} {
		for unit := 1e8; unit < 1e12; unit *= 1.7 {
			p := Policy{Strict: strict}
			if f := ramOf(t, mustJudge(t, constant(80, unit), constant(88, unit), p)); f.Outcome != Regression {
				t.Errorf("10 %% more in units of %g, strict %v: %v %q", unit, strict, f.Outcome, f.Reason)
			}
			if f := ramOf(t, mustJudge(t, constant(80, unit), constant(87.99, unit), p)); f.Outcome != Pass {
				t.Errorf("9.99 %% more in units of %g, strict %v: %v %q", unit, strict, f.Outcome, f.Reason)
			}
			if f := ramOf(t, mustJudge(t, constant(88, unit), constant(80, unit), p)); f.Outcome != Improvement {
				t.Errorf("back in units of %g, strict %v: %v %q", unit, strict, f.Outcome, f.Reason)
			}
		}
	}
}

func ramOf(t *testing.T, v *Verdict) Finding {
	t.Helper()
	i := slices.IndexFunc(v.Metrics, func(f Finding) bool { return f.Metric == "ram" })
	if i < 0 {
		t.Fatal("ram was not judged")
	}
	return v.Metrics[i]
}

// Swapping the arms mirrors the verdict: a regression one way is an improvement the other way.
func TestPropertyMirror(t *testing.T) {
	mirror := func(t *rapid.T, there, back *Verdict) {
		for i, f := range there.Metrics {
			g := back.Metrics[i]
			if f.Metric == "ok" {
				continue
			}
			if (f.Outcome == Regression) != (g.Outcome == Improvement) || (f.Outcome == Improvement) != (g.Outcome == Regression) {
				t.Fatalf("%s\nand back %s", describe(there), describe(back))
			}
			if !alike(math.Log1p(f.Change), -math.Log1p(g.Change)) {
				t.Fatalf("%s changes by %v and by %v", f.Metric, f.Change, g.Change)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 11).Draw(t, "n")
		b, h := drawFigures(t, "base", n), drawFigures(t, "head", n)
		mirror(t, judge(t, oneArm(b), oneArm(h), throughputToo), judge(t, oneArm(h), oneArm(b), throughputToo))
		there, back := twoArms(b, h), twoArms(h, b)
		for i := range n { // the same runs at the same times, under the other name
			back.Scenarios[0].Runs[i].Started, back.Scenarios[0].Runs[n+i].Started = there.Scenarios[0].Runs[n+i].Started, there.Scenarios[0].Runs[i].Started
		}
		v, err := JudgePairs(there, throughputToo)
		w, err2 := JudgePairs(back, throughputToo)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		mirror(t, v, w)
	})
}

// More of the same evidence never turns a regression into an improvement, nor the other way.
func TestPropertyMoreOfTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, times := rapid.IntRange(2, 6).Draw(t, "n"), rapid.IntRange(2, 4).Draw(t, "times")
		b, h := drawFigures(t, "base", n), drawFigures(t, "head", n)
		more := func(f figures) figures {
			g := make(figures)
			for name, values := range f {
				g[name] = slices.Repeat(values, times)
			}
			return g
		}
		few, many := judge(t, oneArm(b), oneArm(h), throughputToo), judge(t, oneArm(more(b)), oneArm(more(h)), throughputToo)
		for i, f := range few.Metrics {
			g := many.Metrics[i]
			if f.Outcome == Regression && g.Outcome == Improvement || f.Outcome == Improvement && g.Outcome == Regression {
				t.Fatalf("%s\nand with %d times as much %s", describe(few), times, describe(many))
			}
		}
	})
}

// A record held against itself never regresses, and passes where it has enough quiet runs.
func TestPropertyItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		rec := oneArm(drawFigures(t, "arm", n))
		if v := judge(t, rec, rec, Policy{}); v.Outcome == Regression || n == 1 && v.Outcome != Inconclusive {
			t.Fatalf("%d runs: %s", n, describe(v))
		}
	})
	for n := 5; n <= 15; n++ {
		if v := mustJudge(t, oneArm(quiet(1, n)), oneArm(quiet(1, n)), Policy{}); v.Outcome != Pass {
			t.Errorf("%d quiet runs: %s", n, describe(v))
		}
	}
}

// The records are read, never changed.
func TestJudgeLeavesRecordsAlone(t *testing.T) {
	base, head, pairs := oneArm(quiet(1, 9)), oneArm(quiet(1.2, 9)), twoArms(quiet(1, 9), quiet(1.2, 9))
	before := []any{*oneArm(quiet(1, 9)), *oneArm(quiet(1.2, 9)), *twoArms(quiet(1, 9), quiet(1.2, 9))}
	mustJudge(t, base, head, Policy{History: []*record.Record{base, pairs}})
	mustJudgePairs(t, pairs, Policy{History: []*record.Record{base, pairs}})
	for i, r := range []*record.Record{base, head, pairs} {
		if !equalJSON(t, before[i], *r) {
			t.Errorf("record %d was changed", i)
		}
	}
}
