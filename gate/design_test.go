package gate

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ddpgate/ddpgate/record"
)

func equalJSON(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(x) == string(y)
}

// imported makes a record as importers do: no environment, no sessions.
func imported(f figures) *record.Record {
	rec := oneArm(f)
	rec.Environment = record.Environment{}
	for i := range rec.Scenarios[0].Runs {
		rec.Scenarios[0].Runs[i].Sessions = record.Sessions{}
		delete(rec.Scenarios[0].Runs[i].Metrics, "ok")
	}
	return rec
}

// The tables that Meteor published for 3.0.1 against 2.16, three runs a side.
func TestPublishedTables(t *testing.T) {
	with := func(time, cpu, ram []float64) figures {
		f := figures{"time": time, "cpu": cpu, "ram": ram}
		for i := range time {
			f["cpu_seconds"] = append(f["cpu_seconds"], time[i]*cpu[i])
		}
		return f
	}
	non216 := imported(with([]float64{162, 170, 180}, []float64{1.1606, 1.1829, 1.1687}, []float64{442e6, 458e6, 455e6}))
	non301 := imported(with([]float64{116, 122, 126}, []float64{1.1085, 1.0121, 1.0490}, []float64{369e6, 390e6, 377e6}))
	rea216 := imported(with([]float64{126, 124, 126}, []float64{0.7819, 0.7909, 0.7954}, []float64{406e6, 419e6, 439e6}))
	rea301 := imported(with([]float64{124, 126, 130}, []float64{0.6505, 0.6502, 0.6444}, []float64{454e6, 470e6, 460e6}))
	for _, tt := range []struct {
		name       string
		base, head *record.Record
		changes    map[string]float64
		exit       int
	}{
		{"non-reactive", non216, non301, map[string]float64{"time": -0.28, "cpu": -0.10, "ram": -0.16}, 0},
		{"non-reactive, backwards", non301, non216, map[string]float64{"time": 0.40, "ram": 0.19}, 1},
		{"reactive", rea216, rea301, map[string]float64{"time": 0.01, "cpu": -0.18, "ram": 0.10}, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := mustJudge(t, tt.base, tt.head, Policy{})
			if v.Exit(false) != tt.exit {
				t.Errorf("exit %d, want %d: %s", v.Exit(false), tt.exit, describe(v))
			}
			for name, want := range tt.changes {
				if f := find(t, v, name); math.Abs(f.Change-want) > 0.011 {
					t.Errorf("%s changed by %.3f, published %.2f", name, f.Change, want)
				}
			}
			if len(v.Warnings) == 0 || !strings.Contains(v.Warnings[0], "nothing is known of the machine") {
				t.Errorf("warnings: %q", v.Warnings)
			}
		})
	}
	if f := find(t, mustJudge(t, rea216, rea301, Policy{}), "ram"); f.Outcome.Passed() {
		t.Errorf("10 %% more memory passes: %+v", f)
	}
}

// noisy returns n values that spread by a normal share.
func noisy(r *rand.Rand, middle, spread float64, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = middle * math.Exp(spread*r.NormFloat64())
	}
	return values
}

// elsewhere makes a record of another machine, which is faster or slower by chance.
func elsewhere(r *rand.Rand, n int, factor float64) *record.Record {
	rec := oneArm(figures{"cpu_seconds": noisy(r, 40*factor*math.Exp(0.02*r.NormFloat64()), 0.005, n)})
	rec.Environment.Machine = fmt.Sprint("m", r.Uint64())
	return rec
}

// Between machines head is one draw: a shift that machines show among themselves never fails, however many runs show it, and a
// large break does.
func TestOtherMachines(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var past []*record.Record
	for range 6 {
		past = append(past, elsewhere(r, 5, 1))
	}
	p := Policy{History: past[:5]}
	for _, tt := range []struct {
		name   string
		head   *record.Record
		policy Policy
		want   Outcome
		method string
	}{
		{"a slower machine, many runs", elsewhere(r, 200, 1.06), p, Inconclusive, methodPredict},
		{"a large break", elsewhere(r, 5, 2), p, Regression, methodPredict},
		{"too few records", elsewhere(r, 5, 2), Policy{History: past[:1]}, Inconclusive, methodPredict},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := mustJudge(t, past[5], tt.head, tt.policy)
			if f := find(t, v, "cpu_seconds"); f.Outcome != tt.want || f.Method != tt.method || f.RunsNeeded != 0 || v.Design != OtherMachines || v.Environment.Match != Compatible {
				t.Errorf("%s, %s: %s", v.Design, v.Environment.Match, describe(v))
			}
		})
	}
	foreign := elsewhere(r, 5, 3)
	foreign.Environment.Cores = 64
	if v := mustJudge(t, past[5], foreign, p); v.Environment.Match != Mismatched || v.Outcome != Inconclusive {
		t.Errorf("another kind of machine: %s: %s", v.Environment.Match, describe(v))
	}
}

// Where the calibration load explains how machines differ, it is taken off, and a smaller break shows.
func TestCalibrationLoadExplains(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	machine := func(factor float64, explains bool) *record.Record {
		speed := 0.08 * r.NormFloat64()
		rec := oneArm(figures{"cpu_seconds": noisy(r, 40*factor*math.Exp(speed), 0.005, 5)})
		rec.Environment.Machine = fmt.Sprint("m", r.Uint64())
		if !explains {
			speed = 0.08 * r.NormFloat64()
		}
		rec.Environment.Calibration = noisy(r, math.Exp(speed), 0.005, 5)
		return rec
	}
	for _, explains := range []bool{true, false} {
		var past []*record.Record
		for range 10 {
			past = append(past, machine(1, explains))
		}
		v := mustJudge(t, past[9], machine(1.12, explains), Policy{History: past[:9]})
		f := find(t, v, "cpu_seconds")
		if calibrated := strings.HasSuffix(f.Method, methodCalibrated); calibrated != explains || (f.Outcome == Regression) != explains {
			t.Errorf("explains %v: %s", explains, describe(v))
		}
	}
}

// A/A records say what a machine can hold.
func TestCalibration(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	var aa []*record.Record
	for range 25 {
		away := math.Exp(0.06 * r.NormFloat64()) // the arms differ by more than their runs show
		aa = append(aa, twoArms(figures{"time": noisy(r, 80, 0.003, 5)}, figures{"time": noisy(r, 80*away, 0.003, 5)}))
	}
	same := twoArms(figures{"time": noisy(r, 80, 0.003, 5)}, figures{"time": noisy(r, 80, 0.003, 5)})
	if v := mustJudgePairs(t, same, Policy{}); find(t, v, "time").Outcome != Pass {
		t.Fatalf("without A/A records: %s", describe(v))
	}
	v := mustJudgePairs(t, same, Policy{AA: aa})
	f := find(t, v, "time")
	if f.Outcome != Inconclusive || f.Holds < 0.09 || f.Holds > 0.25 || !strings.Contains(f.Reason, "this machine can hold no smaller threshold") {
		t.Errorf("holds %.3f: %s", f.Holds, describe(v))
	}
	if v := mustJudgePairs(t, same, Policy{AA: aa, Thresholds: map[string]Percent{"time": 0.3}}); find(t, v, "time").Outcome != Pass {
		t.Errorf("a threshold that it can hold: %s", describe(v))
	}
	slow := twoArms(figures{"time": noisy(r, 80, 0.003, 5)}, figures{"time": noisy(r, 120, 0.003, 5)})
	if v := mustJudgePairs(t, slow, Policy{AA: aa}); find(t, v, "time").Outcome != Regression {
		t.Errorf("far more than it cannot hold: %s", describe(v))
	}
	if v := mustJudgePairs(t, same, Policy{AA: aa[:19]}); find(t, v, "time").Holds != 0 {
		t.Errorf("19 A/A records are too few: %s", describe(v))
	}
}

// Earlier records say how much runs spread, so that few runs show more.
func TestHistoryModerates(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	draw := func(head float64) *record.Record {
		return twoArms(figures{"time": noisy(r, 80, 0.03, 8)}, figures{"time": noisy(r, 80*head, 0.03, 8)})
	}
	var past []*record.Record
	for range 6 {
		past = append(past, draw(1))
	}
	narrower, trials := 0, 40
	for range trials {
		rec := draw(1)
		alone, informed := find(t, mustJudgePairs(t, rec, Policy{}), "time"), find(t, mustJudgePairs(t, rec, Policy{History: past}), "time")
		if alone.Change != informed.Change || informed.Method != methodSteady+methodModerate {
			t.Fatalf("history changed the estimate from %v to %v by %s", alone.Change, informed.Change, informed.Method)
		}
		if informed.Upper-informed.Lower < alone.Upper-alone.Lower {
			narrower++
		}
	}
	if narrower < trials*2/3 {
		t.Errorf("history narrowed %d of %d intervals", narrower, trials)
	}
}

func TestSettled(t *testing.T) {
	looks := Policy{Looks: Looks{Min: 5, Max: 15}}
	noise, other := figures{"time": around(80, 0.2, 8)}, figures{"time": around(80, 0.2, 8)}
	slices.Reverse(other["time"])
	for _, tt := range []struct {
		name       string
		base, head *record.Record
		policy     Policy
		want       bool
		why        string
	}{
		{"quiet, at the first look", nil, twoArms(quiet(1, 5), quiet(1, 5)), looks, true, "pass after 5 of 15 runs"},
		{"quiet, between looks", nil, twoArms(quiet(1, 6), quiet(1, 6)), looks, false, "not a look"},
		{"noisy, at a look", nil, twoArms(noise, other), looks, false, "time of tasks-reactive is undecided"},
		{"noisy, at the last", nil, twoArms(figures{"time": around(80, 0.2, 15)}, figures{"time": around(80, 0.2, 15)}), looks, true, "all 15 runs were made"},
		{"stored, quiet", oneArm(quiet(1, 10)), oneArm(quiet(1, 8)), looks, true, "pass after 8 of 15 runs"},
		{"nothing to hold against", nil, oneArm(quiet(1, 5)), looks, true, "nothing to hold it against"},
		{"fixed number", nil, twoArms(quiet(1, 3), quiet(1, 3)), Policy{Looks: Looks{Min: 3, Max: 3}}, true, "all 3 runs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			done, why, err := Settled(tt.base, tt.head, tt.policy, 1)
			if err != nil || done != tt.want || !strings.Contains(why, tt.why) {
				t.Errorf("got %v, %q, %v; want %v, %q", done, why, err, tt.want, tt.why)
			}
		})
	}
	if _, _, err := Settled(nil, oneArm(quiet(1, 3)), looks, 0); err == nil {
		t.Error("a share of nothing is taken")
	}
	if got := (Looks{Min: 5, Max: 15}).At(); !slices.Equal(got, []int{5, 8, 10, 13, 15}) {
		t.Errorf("looks at %v", got)
	}
	if got := (Looks{Min: 2, Max: 4}).At(); !slices.Equal(got, []int{2, 3, 4}) {
		t.Errorf("looks at %v", got)
	}
}

// An early look is held to a stricter level than a number of runs that was fixed beforehand.
func TestLooksSpendTheLevel(t *testing.T) {
	rec, looks := twoArms(quiet(1, 8), quiet(1.02, 8)), Policy{Looks: Looks{Min: 5, Max: 15}}
	base, head := oneArm(quiet(1, 15)), oneArm(quiet(1.02, 8)) // a whole baseline, and head at its second look
	for name, pair := range map[string][2]*Verdict{
		"pairs": {mustJudgePairs(t, rec, Policy{}), mustJudgePairs(t, rec, looks)}, "stored": {mustJudge(t, base, head, Policy{}), mustJudge(t, base, head, looks)},
	} {
		fixed, early := find(t, pair[0], "time"), find(t, pair[1], "time")
		if !(early.LowerLevel > fixed.LowerLevel && early.UpperLevel > fixed.UpperLevel && early.Lower < fixed.Lower && early.Upper > fixed.Upper) {
			t.Errorf("%s: fixed %v..%v at %v and %v, early %v..%v at %v and %v", name, fixed.Lower, fixed.Upper, fixed.LowerLevel, fixed.UpperLevel,
				early.Lower, early.Upper, early.LowerLevel, early.UpperLevel)
		}
	}
}

// A record says itself how it was planned, so that holding it against another one later spends the level in the same way.
func TestRecordSaysItsLooks(t *testing.T) {
	rec := twoArms(quiet(1, 8), quiet(1.02, 8))
	want := find(t, mustJudgePairs(t, rec, Policy{Looks: Looks{Min: 5, Max: 15}}), "time")
	rec.Planned = record.Planned{Min: 5, Max: 15}
	if got := find(t, mustJudgePairs(t, rec, Policy{}), "time"); got.LowerLevel != want.LowerLevel || got.UpperLevel != want.UpperLevel {
		t.Errorf("levels %v and %v, want %v and %v", got.LowerLevel, got.UpperLevel, want.LowerLevel, want.UpperLevel)
	}
}

// Flags tell what the reader should know, and decide nothing.
func TestFlags(t *testing.T) {
	drifting, modes, wide := quiet(1, 12), quiet(1, 12), quiet(1, 12)
	for i := range 12 {
		drifting["time"][i] *= 1 + 0.02*float64(i)
		wide["time"][i] = 86 * (1 + 0.08*float64(i%3-1))
		if i%3 == 0 {
			modes["time"][i] *= 1.3
		}
	}
	for _, tt := range []struct {
		name, want string
		base, head figures
	}{
		{"drift", "the machine drifted by +", drifting, drifting},
		{"two modes", "the runs of head fall into two groups", quiet(1, 12), modes},
		{"spread", "base and head spread unequally", quiet(1, 12), wide},
		{"outlier", "lay far from the others and were pulled in", quiet(1, 12), func() figures { f := quiet(1, 12); f["time"][5] *= 1.5; return f }()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := find(t, mustJudgePairs(t, twoArms(tt.base, tt.head), Policy{}), "time")
			if all := strings.Join(f.Warnings, "\n"); !strings.Contains(all, tt.want) {
				t.Errorf("warnings %q, want one with %q", all, tt.want)
			}
			if f.Second == nil || f.Second.Method != "signed-rank-exact" || !(f.Second.P > 0 && f.Second.P <= 1) {
				t.Errorf("second opinion: %+v", f.Second)
			}
		})
	}
	rec := twoArms(quiet(1, 6), quiet(1, 6))
	for i := range 6 {
		b, h := &rec.Scenarios[0].Runs[i], &rec.Scenarios[0].Runs[6+i]
		if h.Started.Before(b.Started) {
			b.Started, h.Started = h.Started, b.Started
		}
	}
	if f := find(t, mustJudgePairs(t, rec, Policy{}), "time"); !strings.Contains(strings.Join(f.Warnings, "\n"), "one arm came first in every pair") {
		t.Errorf("warnings %q", f.Warnings)
	}
}

// The same build in both arms is allowed, and called A/A.
func TestAA(t *testing.T) {
	rec := twoArms(quiet(1, 5), quiet(1, 5))
	rec.Apps = map[string]record.App{record.Base: {Version: "3.1"}, record.Head: {Version: "3.1"}}
	if v := mustJudgePairs(t, rec, Policy{}); !v.AA {
		t.Error("not called A/A")
	}
}
