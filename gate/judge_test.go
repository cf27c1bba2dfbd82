package gate

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
)

// quiet are figures of a steady machine.
func quiet(factor float64, n int) figures {
	return figures{
		"time": around(86*factor, 0.004, n), "session.wait.p50": around(0.8*factor, 0.006, n),
		"cpu_seconds": around(40*factor, 0.006, n), "ram": around(4e8*factor, 0.006, n),
	}
}

func TestJudgeTable(t *testing.T) {
	with := func(r *record.Record, change func(*record.Record)) *record.Record { change(r); return r }
	failing := func(run *record.Run, failed int) {
		run.Outcome = record.Failed
		run.Sessions.OK, run.Sessions.Failed = 240-failed, failed
		if failed > 2 {
			delete(run.Metrics, "time")
		}
	}
	for _, tt := range []struct {
		name       string
		base, head *record.Record
		policy     Policy
		want       Outcome
		reason     string
	}{
		{"unchanged", oneArm(quiet(1, 5)), oneArm(quiet(1, 5)), Policy{}, Pass, "no gated metric of 5"},
		{"slower", oneArm(quiet(1, 5)), oneArm(quiet(1.3, 5)), Policy{}, Regression, "rose by 30.0 % (threshold"},
		{"faster", oneArm(quiet(1.3, 5)), oneArm(quiet(1, 5)), Policy{}, Pass, "no gated metric"},
		{"real but below the threshold", oneArm(quiet(1, 5)), oneArm(quiet(1.02, 5)), Policy{}, Pass, ""},
		{"one run", oneArm(quiet(1, 1)), oneArm(quiet(1, 1)), Policy{}, Inconclusive, "one run says nothing about the spread"},
		{"one run, much slower", oneArm(quiet(1, 1)), oneArm(quiet(3, 1)), Policy{}, Inconclusive, "one run"},
		{"noisy", oneArm(figures{"time": around(80, 0.3, 4)}), oneArm(figures{"time": around(84, 0.3, 4)}), Policy{}, Inconclusive, "as much by chance"},
		{"accepted", oneArm(figures{"ram": around(4e8, 0.01, 5)}), oneArm(figures{"ram": around(4.6e8, 0.01, 5)}),
			Policy{Accept: []Acceptance{{Metric: "ram", Change: 0.2, Reason: "driver", Until: "2026-11-30"}}}, Pass, ""},
		{"accepted until yesterday", oneArm(figures{"ram": around(4e8, 0.01, 5)}), oneArm(figures{"ram": around(4.6e8, 0.01, 5)}),
			Policy{Accept: []Acceptance{{Metric: "ram", Change: 0.2, Reason: "driver", Until: "2026-11-29"}}}, Regression, "ram"},
		{"accepted, but more than that", oneArm(figures{"ram": around(4e8, 0.01, 5)}), oneArm(figures{"ram": around(6e8, 0.01, 5)}),
			Policy{Accept: []Acceptance{{Metric: "ram", Change: 0.2, Reason: "driver"}}}, Regression, "ram"},
		{"metric only in base", oneArm(quiet(1, 5)), with(oneArm(quiet(1, 5)), func(r *record.Record) {
			for i := range r.Scenarios[0].Runs {
				delete(r.Scenarios[0].Runs[i].Metrics, "cpu_seconds")
				r.Scenarios[0].Runs[i].Missing = map[string]string{"cpu_seconds": "no permission"}
			}
		}), Policy{}, Inconclusive, "head does not have it: no permission"},
		{"named metric that neither has", oneArm(quiet(1, 5)), oneArm(quiet(1, 5)),
			Policy{Thresholds: map[string]Percent{"session.p95": 0.1}}, Inconclusive, "neither side has it"},
		{"zero", oneArm(figures{"time": {80, 81, 80, 79, 80}}), oneArm(figures{"time": {80, 0, 80, 79, 80}}), Policy{}, Inconclusive, "only values above 0"},
		{"not a number", oneArm(figures{"time": {80, 81, 80, 79, 80}}), oneArm(figures{"time": {80, math.NaN(), 80, 79, 80}}), Policy{}, Inconclusive, "it is no number"},
		{"one odd failure", oneArm(quiet(1, 5)), with(oneArm(quiet(1, 5)), func(r *record.Record) { failing(&r.Scenarios[0].Runs[2], 1) }), Policy{}, Pass, ""},
		{"broken arm", oneArm(quiet(1, 5)), with(oneArm(quiet(1, 5)), func(r *record.Record) {
			for i := range r.Scenarios[0].Runs {
				failing(&r.Scenarios[0].Runs[i], 30)
			}
		}), Policy{}, Regression, "ok of tasks-reactive fell by 12.5"},
		{"one broken run", oneArm(quiet(1, 5)), with(oneArm(quiet(1, 5)), func(r *record.Record) { failing(&r.Scenarios[0].Runs[2], 200) }), Policy{}, Inconclusive, "ok of tasks-reactive"},
		{"crash in head", oneArm(quiet(1, 5)), with(oneArm(quiet(1, 5)), func(r *record.Record) {
			run := &r.Scenarios[0].Runs[4]
			run.Outcome, run.Died, run.Metrics = record.Failed, true, nil
			run.Sessions = record.Sessions{Planned: 240, Started: 100, OK: 90, Failed: 10, Dropped: 140}
		}), Policy{}, Regression, "the app died in 1 of 5 runs of head"},
		{"crash in both", with(oneArm(quiet(1, 3)), func(r *record.Record) {
			r.Scenarios[0].Runs[0].Died, r.Scenarios[0].Runs[0].Outcome = true, record.Failed
		}),
			with(oneArm(quiet(1, 3)), func(r *record.Record) {
				r.Scenarios[0].Runs[0].Died, r.Scenarios[0].Runs[0].Outcome = true, record.Failed
			}),
			Policy{}, Unmeasured, "no healthy base"},
		{"all invalid", oneArm(quiet(1, 3)), with(oneArm(quiet(1, 3)), func(r *record.Record) {
			for i := range r.Scenarios[0].Runs {
				r.Scenarios[0].Runs[i].Outcome = record.Invalid
			}
		}), Policy{}, Unmeasured, "no run of tasks-reactive may be judged"},
		{"interrupted", oneArm(quiet(1, 5)), with(oneArm(quiet(1, 5)), func(r *record.Record) { r.Interrupted = true }), Policy{}, Inconclusive, "interrupted"},
		{"full machine, no slower", oneArm(quiet(1, 5)), with(oneArm(quiet(1, 5)), func(r *record.Record) { r.Scenarios[0].Runs[1].Reasons = []string{"late"} }), Policy{}, Inconclusive, "machine was full"},
		{"full machine in base", with(oneArm(quiet(1, 5)), func(r *record.Record) { r.Scenarios[0].Runs[1].Reasons = []string{"late"} }), oneArm(quiet(1, 5)), Policy{}, Inconclusive, "machine was full"},
		{"full machine, slower", oneArm(quiet(1, 5)), with(oneArm(quiet(1.5, 5)), func(r *record.Record) { r.Scenarios[0].Runs[1].Reasons = []string{"late"} }), Policy{}, Regression, "rose"},
		{"another machine", with(oneArm(quiet(1, 5)), func(r *record.Record) { r.Environment.Machine = "m2" }), oneArm(quiet(1, 5)), Policy{}, Inconclusive, "interleaved on one machine"},
		{"another kind of machine, slower", with(oneArm(quiet(1, 5)), func(r *record.Record) { r.Environment.Cores = 64 }), oneArm(quiet(3, 5)), Policy{}, Inconclusive, "interleaved on one machine"},
		{"nothing known of the machine", with(oneArm(quiet(1, 5)), func(r *record.Record) { r.Environment = record.Environment{} }), oneArm(quiet(1, 5)), Policy{}, Pass, ""},
		{"both constant, below", oneArm(figures{"time": {80, 80, 80}}), oneArm(figures{"time": {82, 82, 82}}), Policy{}, Pass, ""},
		{"both constant, above", oneArm(figures{"time": {80, 80, 80}}), oneArm(figures{"time": {88, 88, 88}}), Policy{}, Regression, "rose by 10.0"},
		{"below the floor", oneArm(figures{"session.wait.p50": around(0.010, 0.02, 5)}), oneArm(figures{"session.wait.p50": around(0.020, 0.02, 5)}), Policy{}, Pass, ""},
		{"strict, just above", oneArm(figures{"time": around(80, 0.02, 5)}), oneArm(figures{"time": around(85, 0.02, 5)}), Policy{Strict: true}, Inconclusive, ""},
		{"timers moved, far slower", with(oneArm(quiet(1, 5)), func(r *record.Record) { r.Environment.Timer = 0.001 }),
			with(oneArm(quiet(2, 5)), func(r *record.Record) { r.Environment.Timer = 0.05 }), Policy{}, Regression, "rose by 100.0"},
		{"timers moved, slower", with(oneArm(quiet(1, 5)), func(r *record.Record) { r.Environment.Timer = 0.001 }),
			with(oneArm(quiet(1.2, 5)), func(r *record.Record) { r.Environment.Timer = 0.05 }), Policy{}, Inconclusive, "timers fired"},
		{"timers moved, unchanged", with(oneArm(quiet(1, 5)), func(r *record.Record) { r.Environment.Timer = 0.001 }),
			with(oneArm(quiet(1, 5)), func(r *record.Record) { r.Environment.Timer = 0.05 }), Policy{}, Inconclusive, "timers fired"},
		{"calibration moved", with(oneArm(quiet(1, 5)), func(r *record.Record) { r.Environment.Calibration = []float64{1, 1.01} }),
			with(oneArm(quiet(1.5, 5)), func(r *record.Record) { r.Environment.Calibration = []float64{1.3, 1.32} }), Policy{}, Inconclusive, "calibration load"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := mustJudge(t, tt.base, tt.head, tt.policy)
			if v.Outcome != tt.want || !strings.Contains(v.Reason, tt.reason) {
				t.Errorf("want %s with %q, got %s", tt.want, tt.reason, describe(v))
			}
		})
	}
}

func TestJudgePairs(t *testing.T) {
	for _, tt := range []struct {
		name       string
		base, head figures
		want       Outcome
	}{
		{"unchanged", quiet(1, 5), quiet(1, 5), Pass},
		{"unchanged, many", quiet(1, 12), quiet(1, 12), Pass},
		{"slower", quiet(1, 6), quiet(1.2, 6), Regression},
		{"slower, many", quiet(1, 12), quiet(1.2, 12), Regression},
		{"one pair", quiet(1, 1), quiet(1.2, 1), Inconclusive},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if v := mustJudgePairs(t, twoArms(tt.base, tt.head), Policy{}); v.Outcome != tt.want {
				t.Errorf("want %s, got %s", tt.want, describe(v))
			}
		})
	}
}

// A metric that is better in neither direction is shown, and neither good nor bad.
func TestNeitherDirection(t *testing.T) {
	v := mustJudge(t, oneArm(figures{"host.pressure": around(0.1, 0.01, 5)}), oneArm(figures{"host.pressure": around(0.5, 0.01, 5)}), Policy{})
	if f := find(t, v, "host.pressure"); f.Outcome != Inconclusive || f.Gated || f.Better != "" || math.Abs(f.Change-4) > 0.1 {
		t.Errorf("got %+v", f)
	}
}

// What is undecided for want of runs says how many, and what more runs would not settle says none.
func TestRunsNeeded(t *testing.T) {
	noise := func(middle float64) figures { return figures{"time": around(middle, 0.05, 5)} }
	for _, tt := range []struct {
		name       string
		base, head figures
		least      int
	}{
		{"one run", figures{"time": {80}}, figures{"time": {80}}, 5},
		{"noisy", noise(80), noise(80.5), 6},
		{"just below the threshold", noise(80), noise(83.9), 900},
		{"settled", quiet(1, 5), quiet(1, 5), 0},
		{"missing", figures{"time": {80, 81}}, figures{"ram": {4e8, 4e8}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := find(t, mustJudge(t, oneArm(tt.base), oneArm(tt.head), Policy{}), "time")
			if f.RunsNeeded < tt.least || tt.least == 0 && f.RunsNeeded > 0 || f.RunsNeeded > 1000 {
				t.Errorf("needs %d runs, want %d or more: %+v", f.RunsNeeded, tt.least, f)
			}
		})
	}
}

// A pair of which one run may not be judged is left out, and said so.
func TestJudgePairsDiscards(t *testing.T) {
	rec := twoArms(quiet(1, 6), quiet(1.2, 6))
	bad := &rec.Scenarios[0].Runs[2]
	bad.Outcome, bad.Reasons, bad.Metrics["time"] = record.Invalid, []string{"steal was 5 %"}, 500
	v := mustJudgePairs(t, rec, Policy{})
	if f := find(t, v, "time"); f.NBase != 5 || f.NHead != 5 || math.Abs(f.Change-0.2) > 0.01 {
		t.Errorf("want 5 pairs and 20 %%, got %s", describe(v))
	}
	if len(v.Discarded) != 1 || v.Discarded[0].Arm != record.Base || v.Discarded[0].Index != 2 || v.Discarded[0].Reasons[0] != "steal was 5 %" {
		t.Errorf("discarded: %+v", v.Discarded)
	}
}

func TestJudgeHigherIsBetter(t *testing.T) {
	p := Policy{Thresholds: map[string]Percent{"throughput": 0.05}}
	slow, fast := oneArm(figures{"throughput": around(100, 0.005, 5)}), oneArm(figures{"throughput": around(120, 0.005, 5)})
	if v := mustJudge(t, slow, fast, p); find(t, v, "throughput").Outcome != Improvement || v.Outcome != Pass {
		t.Errorf("more throughput: %s", describe(v))
	}
	v := mustJudge(t, fast, slow, p)
	f := find(t, v, "throughput")
	if v.Outcome != Regression || !strings.Contains(v.Reason, "throughput of tasks-reactive fell by 16.7 %") {
		t.Errorf("less throughput: %s", describe(v))
	}
	if !(f.Lower < f.Change && f.Change < f.Upper && f.Upper < 0) || f.LowerLevel != 0.95 || f.UpperLevel <= 0.95 {
		t.Errorf("interval: %s", describe(v))
	}
}

func TestJudgeRefuses(t *testing.T) {
	change := func(f func(*record.Record)) *record.Record { r := oneArm(quiet(1, 3)); f(r); return r }
	for _, tt := range []struct {
		name string
		head *record.Record
		want string
	}{
		{"another load", change(func(r *record.Record) { r.Scenarios[0].Identity, r.Scenarios[0].Load.Rate = "sha256:2", 8 }), "the arrival rate is 0 in base and 8 in head"},
		{"other steps", change(func(r *record.Record) { r.Scenarios[0].Identity = "sha256:2" }), "its steps are not the same"},
		{"another compression", change(func(r *record.Record) {
			for i := range r.Scenarios[0].Runs {
				r.Scenarios[0].Runs[i].Extensions = "permessage-deflate; server_no_context_takeover"
			}
		}), "base negotiated permessage-deflate, head permessage-deflate; server_no_context_takeover"},
		{"Node's instruments", change(func(r *record.Record) { r.Scenarios[0].Runs[0].Metrics["node.gc"] = 1 }), "without Node's instruments, head with"},
		{"other definitions", change(func(r *record.Record) { r.Format = "ddpgate/record/2" }), "base is of format ddpgate/record/1, head of ddpgate/record/2"},
		{"another scenario", change(func(r *record.Record) { r.Scenarios[0].Name = "idle" }), "no scenario is in both"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base := change(func(r *record.Record) {
				for i := range r.Scenarios[0].Runs {
					r.Scenarios[0].Runs[i].Extensions = "permessage-deflate"
				}
			})
			v, err := Judge(base, tt.head, Policy{})
			if err == nil || !strings.Contains(err.Error(), tt.want) || v != nil {
				t.Errorf("got %v, %v, want an error with %q", v, err, tt.want)
			}
		})
	}
}

// A scenario on one side only is listed and inconclusive.
func TestJudgeOneSidedScenario(t *testing.T) {
	base, head := oneArm(quiet(1, 5)), oneArm(quiet(1, 5))
	base.Scenarios = append(base.Scenarios, record.Scenario{Name: "idle", Identity: "sha256:3", Runs: healthyRuns(record.Head, noon, time.Minute, figures{"time": {1, 1, 1}})})
	v := mustJudge(t, base, head, Policy{})
	if v.Outcome != Inconclusive || !strings.Contains(v.Reason, "of idle: only base has this scenario") {
		t.Errorf("got %s", describe(v))
	}
}

func TestJudgeAlone(t *testing.T) {
	sick := oneArm(quiet(1, 3))
	for i := range sick.Scenarios[0].Runs {
		sick.Scenarios[0].Runs[i].Sessions.OK = 200
	}
	died := oneArm(quiet(1, 3))
	died.Scenarios[0].Runs[1].Outcome, died.Scenarios[0].Runs[1].Died = record.Failed, true
	for _, tt := range []struct {
		name    string
		rec     *record.Record
		missing string
		want    Outcome
		exit    int
	}{
		{"healthy", oneArm(quiet(1, 3)), "", Pass, 0},
		{"no baseline", oneArm(quiet(1, 3)), "there is no baseline main", Inconclusive, 4},
		{"sessions failed", sick, "", Unmeasured, 3},
		{"sessions failed and no baseline", sick, "there is no baseline main", Unmeasured, 3},
		{"died", died, "", Unmeasured, 3},
		{"nothing ran", recordOf(), "", Unmeasured, 3},
		{"interrupted", func() *record.Record { r := oneArm(quiet(1, 3)); r.Interrupted = true; return r }(), "", Unmeasured, 3},
		{"empty", &record.Record{}, "", Unmeasured, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, err := JudgeAlone(tt.rec, Policy{}, tt.missing)
			if err != nil || v.Outcome != tt.want || v.Exit(false) != tt.exit {
				t.Errorf("got %v, %s", err, describe(v))
			}
		})
	}
}

// The zero values of the gate's answers never read as a pass.
func TestZeroIsNoPass(t *testing.T) {
	var v Verdict
	var o Outcome
	if v.Exit(false) != ExitInconclusive || o.Passed() || worse(Pass, o) != Inconclusive {
		t.Errorf("zero verdict exits with %d, zero outcome %s passes: %v", v.Exit(false), o, o.Passed())
	}
}

func TestExit(t *testing.T) {
	for _, tt := range []struct {
		o    Outcome
		warn bool
		want int
	}{{Pass, false, 0}, {Regression, false, 1}, {Regression, true, 1}, {Unmeasured, true, 3}, {Inconclusive, false, 4}, {Inconclusive, true, 0}, {Improvement, false, 0}} {
		if got := tt.o.Exit(tt.warn); got != tt.want {
			t.Errorf("%s, warn %v: got %d, want %d", tt.o, tt.warn, got, tt.want)
		}
	}
	for _, order := range [][3]Outcome{{Regression, Unmeasured, Regression}, {Unmeasured, Inconclusive, Unmeasured}, {Pass, Inconclusive, Inconclusive}, {Improvement, Regression, Regression}} {
		if got := worse(order[0], order[1]); got != order[2] {
			t.Errorf("worse of %s and %s is %s", order[0], order[1], got)
		}
		if got := worse(order[1], order[0]); got != order[2] {
			t.Errorf("worse of %s and %s is %s", order[1], order[0], got)
		}
	}
}

// Whatever a verdict is read from, writing it again and reading that gives the same.
func FuzzVerdictJSON(f *testing.F) {
	for _, v := range []*Verdict{{}, {Outcome: Regression, Metrics: []Finding{newFinding("s", metric.Def{Name: "time"}, true)}}} {
		text, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"verdict":"pass","metrics":[{"change":0.1,"lower":null,"better":"lower"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var v, back Verdict
		if json.Unmarshal(text, &v) != nil {
			return
		}
		once, err := json.Marshal(&v)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(once, &back); err != nil {
			t.Fatal(err)
		}
		twice, err := json.Marshal(&back)
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%v:\n%s\n%s", err, once, twice)
		}
	})
}

func TestVerdictJSON(t *testing.T) {
	v := mustJudge(t, oneArm(quiet(1, 5)), oneArm(figures{"time": around(100, 0.01, 5), "ram": {4e8}}), Policy{})
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var back Verdict
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(&back)
	if err != nil || string(again) != string(text) {
		t.Errorf("round trip: %v\n%s\n%s", err, text, again)
	}
	var object struct {
		Verdict     string           `json:"verdict"`
		Metrics     []map[string]any `json:"metrics"`
		Environment map[string]any   `json:"environment"`
	}
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	if object.Verdict != "regression" || object.Environment["match"] != "identical" || object.Environment["differs"] == nil {
		t.Errorf("got %s", text)
	}
	for _, key := range []string{"scenario", "metric", "verdict", "gated", "base", "head", "change", "lower", "upper", "lower_level", "upper_level", "method", "threshold", "n_base", "n_head", "smallest_visible", "runs_needed", "warnings"} {
		if _, ok := object.Metrics[0][key]; !ok {
			t.Errorf("no %q in %v", key, object.Metrics[0])
		}
	}
	for _, m := range object.Metrics {
		if m["metric"] == "ram" && m["lower"] != nil {
			t.Errorf("an unknown limit is %v, want null", m["lower"])
		}
	}
}
