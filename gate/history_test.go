package gate

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ddpgate/ddpgate/record"
)

// A season makes nights for tests: one record a day with three runs.
type season struct {
	rng   *rand.Rand
	noise float64
	made  []Night
}

func newSeason(seed uint64, noise float64) *season {
	return &season{rng: rand.New(rand.NewPCG(seed, 1)), noise: noise}
}

func dayAt(i int) time.Time { return time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC).AddDate(0, 0, i) }

// night adds a record with some metrics around their levels; more may change it.
func (s *season) night(levels map[string]float64, more ...func(*record.Record)) {
	i := len(s.made)
	rec := &record.Record{
		ID: fmt.Sprintf("sha256:%064d", i), Created: dayAt(i), Commit: fmt.Sprintf("c%d", i),
		Environment: record.Environment{Machine: "m1", CPU: "x", Cores: 2, Calibration: []float64{1}},
		Apps:        map[string]record.App{record.Head: {Version: fmt.Sprint("v", i)}},
		Scenarios:   []record.Scenario{{Name: "idle", Identity: "one"}},
	}
	sc := &rec.Scenarios[0]
	own := s.noise * s.rng.NormFloat64()
	for k := range 3 {
		run := record.Run{Arm: record.Head, Index: k, Outcome: record.OK, Metrics: make(map[string]float64), Sessions: record.Sessions{Planned: 100, Started: 100, OK: 100}}
		for name, level := range levels {
			run.Metrics[name] = level * math.Exp(own+s.noise/10*s.rng.NormFloat64())
		}
		sc.Runs = append(sc.Runs, run)
	}
	accepted := ""
	for _, change := range more {
		change(rec)
	}
	if len(rec.Command) > 0 {
		accepted = rec.Command[0]
	}
	s.made = append(s.made, Observe(rec, accepted))
}

// accept marks the night's record as accepted.
func accept(reason string) func(*record.Record) {
	return func(r *record.Record) { r.Command = []string{reason} }
}

func (s *season) judge(t *testing.T) *History {
	t.Helper()
	h, err := JudgeHistory(s.made, Policy{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *History) of(t *testing.T, metric string) Trend {
	t.Helper()
	for _, tr := range h.Trends {
		if tr.Metric == metric {
			return tr
		}
	}
	t.Fatalf("no trend of %s", metric)
	return Trend{}
}

func seconds(v float64) map[string]float64 { return map[string]float64{"time": v, "ram": 4e8} }

func TestStep(t *testing.T) {
	s := newSeason(1, 0.01)
	for i := range 40 {
		s.night(seconds(100 + 10*float64(i/30)))
	}
	h := s.judge(t)
	c := h.of(t, "time").Changes
	if len(c) != 1 || c[0].At != 30 || c[0].Cause != Code || !c[0].Worse || !c[0].Open || c[0].From != "c29" || c[0].To != "c30" || math.Abs(c[0].Change-0.10) > 0.02 {
		t.Errorf("got %+v", c)
	}
	if h.Outcome != Regression || !strings.Contains(h.Reason, "between c29 and c30") {
		t.Errorf("got %v: %s", h.Outcome, h.Reason)
	}
	if ram := h.of(t, "ram"); len(ram.Changes) > 0 || ram.Outcome != Pass {
		t.Errorf("ram: %+v", ram.Changes)
	}
}

func TestStepNeedsTwoNights(t *testing.T) {
	s := newSeason(2, 0.01)
	for range 30 {
		s.night(seconds(100))
	}
	s.night(seconds(120))
	h := s.judge(t)
	if tr := h.of(t, "time"); h.Outcome != Pass || len(tr.Changes) != 0 || !tr.Points[30].Spike {
		t.Errorf("one high night: got %v, %+v", h.Outcome, tr.Changes)
	}
	s.night(seconds(120))
	s.night(seconds(120))
	if h := s.judge(t); h.Outcome != Regression {
		t.Errorf("three high nights: got %v, %+v", h.Outcome, h.of(t, "time").Changes)
	}
}

func TestSpikesAreNoSteps(t *testing.T) {
	s := newSeason(3, 0.01)
	for i := range 60 {
		v := 100.0
		if i%17 == 5 {
			v = 140
		}
		s.night(seconds(v))
	}
	tr := s.judge(t).of(t, "time")
	var spikes []int
	for i, p := range tr.Points {
		if p.Spike {
			spikes = append(spikes, i)
		}
	}
	if len(tr.Changes) != 0 || !slices.Equal(spikes, []int{5, 22, 39, 56}) {
		t.Errorf("got changes %+v, spikes %v", tr.Changes, spikes)
	}
}

func TestImprovementFailsNothing(t *testing.T) {
	s := newSeason(4, 0.01)
	for i := range 40 {
		s.night(seconds(100 - 20*float64(i/20)))
	}
	h := s.judge(t)
	if tr := h.of(t, "time"); h.Outcome != Pass || tr.Outcome != Improvement || len(tr.Changes) != 1 || tr.Changes[0].Worse {
		t.Errorf("got %v, %v, %+v", h.Outcome, tr.Outcome, tr.Changes)
	}
}

func TestAcceptedStep(t *testing.T) {
	s := newSeason(5, 0.01)
	for i := range 40 {
		var more []func(*record.Record)
		if i == 33 {
			more = append(more, accept("new driver"))
		}
		s.night(seconds(100+10*float64(i/30)), more...)
	}
	h := s.judge(t)
	if c := h.of(t, "time").Changes; h.Outcome != Pass || len(c) != 1 || c[0].Accepted != "new driver" || c[0].Open {
		t.Errorf("got %v: %s, %+v", h.Outcome, h.Reason, c)
	}
}

func TestStepThatWasMadeGood(t *testing.T) {
	s := newSeason(6, 0.01)
	for i := range 60 {
		v := 100.0
		if i >= 20 && i < 40 {
			v = 115
		}
		s.night(seconds(v))
	}
	h := s.judge(t)
	if c := h.of(t, "time").Changes; h.Outcome != Pass || len(c) != 2 || c[0].Open || c[1].Worse {
		t.Errorf("got %v: %s, %+v", h.Outcome, h.Reason, c)
	}
}

// TestWhatWasMadeGoodStaysSo: a step that was made good is over, whatever comes later.
func TestWhatWasMadeGoodStaysSo(t *testing.T) {
	s := newSeason(7, 0.01)
	for i := range 80 {
		v := 100.0
		if i >= 20 && i < 40 || i >= 60 {
			v = 115
		}
		s.night(seconds(v))
	}
	h := s.judge(t)
	if c := h.of(t, "time").Changes; h.Outcome != Regression || len(c) != 3 || c[0].Open || !c[2].Open {
		t.Errorf("a later step: got %v: %s, %+v", h.Outcome, h.Reason, c)
	}
	s.night(seconds(115), accept("new driver"))
	h = s.judge(t)
	if c := h.of(t, "time").Changes; h.Outcome != Pass || len(c) != 3 || c[0].Accepted != "" || c[2].Accepted != "new driver" {
		t.Errorf("accepted: got %v: %s, %+v", h.Outcome, h.Reason, c)
	}
}

// TestAnAcceptanceTakesAllThatStands: who takes a record as it is takes the steps that led to it, but none that comes later.
func TestAnAcceptanceTakesAllThatStands(t *testing.T) {
	s := newSeason(8, 0.01)
	for i := range 60 {
		var more []func(*record.Record)
		if i == 45 {
			more = append(more, accept("new driver"))
		}
		v := 100.0
		for _, at := range []int{20, 40, 50} {
			if i >= at {
				v *= 1.15
			}
		}
		s.night(seconds(v), more...)
	}
	h := s.judge(t)
	c := h.of(t, "time").Changes
	if len(c) != 3 || c[0].Accepted != "new driver" || c[1].Accepted != "new driver" || c[0].Open || c[1].Open || c[2].Accepted != "" || !c[2].Open {
		t.Errorf("got %v: %s, %+v", h.Outcome, h.Reason, c)
	}
}

// TestAnAcceptanceOfANightThatSaysNothing: what stands is taken by a later night too that did not run the scenario, or could not judge it; by none before.
func TestAnAcceptanceOfANightThatSaysNothing(t *testing.T) {
	retired := func(r *record.Record) { r.Scenarios[0].Name = "another" }
	invalid := func(r *record.Record) {
		for k := range r.Scenarios[0].Runs {
			r.Scenarios[0].Runs[k].Outcome = record.Invalid
		}
	}
	for name, tc := range map[string]struct {
		bad      func(*record.Record)
		at       int // the night that says nothing, and is accepted
		accepted string
	}{
		"the newest one, without the scenario": {retired, 40, "new driver"},
		"the newest one, of invalid runs":      {invalid, 40, "new driver"},
		"one amid those of the step":           {invalid, 35, "new driver"},
		"one before the step":                  {invalid, 29, ""},
		"one after the step was made good":     {invalid, 45, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSeason(5, 0.01)
			for i := range max(40, tc.at) + 1 {
				level := 100.0
				if i >= 30 && i < 42 {
					level = 110
				}
				if i == tc.at {
					s.night(seconds(level), tc.bad, accept("new driver"))
				} else {
					s.night(seconds(level))
				}
			}
			h := s.judge(t)
			tr := h.Trends[slices.IndexFunc(h.Trends, func(t Trend) bool { return t.Scenario == "idle" && t.Metric == "time" })]
			i := slices.IndexFunc(tr.Changes, func(c Change) bool { return c.Worse })
			if i < 0 || tr.Changes[i].Accepted != tc.accepted {
				t.Fatalf("got %v: %s, %+v", tr.Outcome, tr.Reason, tr.Changes)
			}
			if want := tc.accepted == "" && tc.at < 42; tr.Changes[i].Open != want {
				t.Errorf("open %v, want %v", !want, want)
			}
		})
	}
}

func TestMachineChange(t *testing.T) {
	for name, change := range map[string]func(*record.Record){
		"another CPU":       func(r *record.Record) { r.Environment.CPU = "y" },
		"another machine":   func(r *record.Record) { r.Environment.Machine = "m2" },
		"slower throughout": func(r *record.Record) { r.Environment.Calibration = []float64{1.2} },
	} {
		s := newSeason(7, 0.01)
		for i := range 40 {
			if i < 25 {
				s.night(seconds(100))
			} else {
				s.night(seconds(120), change)
			}
		}
		h := s.judge(t)
		c := h.of(t, "time").Changes
		if h.Outcome != Pass || len(c) != 1 || c[0].At != 25 || c[0].Cause != Machine || c[0].Open {
			t.Errorf("%s: got %v: %s, %+v", name, h.Outcome, h.Reason, c)
		}
	}
}

// TestFleet runs on a machine of either of two kinds each night, one a fifth slower: a step of the code is found all the same.
func TestFleet(t *testing.T) {
	s := newSeason(8, 0.01)
	for i := range 60 {
		v, cpu := 100+10*float64(i/45), "x"
		if s.rng.Float64() < 0.5 {
			v, cpu = v*1.2, "y"
		}
		s.night(seconds(v), func(r *record.Record) { r.Environment.CPU, r.Environment.Machine = cpu, fmt.Sprint("m", i) })
	}
	c := s.judge(t).of(t, "time").Changes
	if len(c) != 1 || c[0].Cause != Code || c[0].At < 44 || c[0].At > 46 || math.Abs(c[0].Change-0.10) > 0.025 {
		t.Errorf("got %+v", c)
	}
}

// TestPairsFollowTheRatio measures each night on another machine, beside a pinned build that is replaced once.
func TestPairsFollowTheRatio(t *testing.T) {
	s := newSeason(9, 0.01)
	for i := range 60 {
		speed := math.Exp(0.3 * s.rng.NormFloat64())
		head, base, pin := 100.0, 100.0, "v0"
		if i >= 30 {
			head = 110
		}
		if i >= 45 {
			base, pin = 110, "v30"
		}
		s.night(map[string]float64{"time": head * speed}, func(r *record.Record) {
			r.Apps[record.Base] = record.App{Version: pin}
			r.Environment.Machine = fmt.Sprint("m", i)
			for _, run := range slices.Clone(r.Scenarios[0].Runs) {
				run.Arm, run.Metrics = record.Base, map[string]float64{"time": base * speed * math.Exp(0.01*s.rng.NormFloat64())}
				r.Scenarios[0].Runs = append(r.Scenarios[0].Runs, run)
			}
		})
	}
	tr := s.judge(t).of(t, "time")
	if !tr.Relative || len(tr.Changes) != 2 || tr.Changes[0].Cause != Code || tr.Changes[0].At != 30 || tr.Changes[1].Cause != Pin || tr.Changes[1].At != 45 {
		t.Fatalf("got %+v", tr.Changes)
	}
	if !tr.Changes[0].Open {
		t.Error("moving the pin made the step good")
	}
}

func TestDrift(t *testing.T) {
	s := newSeason(10, 0.005)
	for i := range 100 {
		s.night(seconds(100 * math.Exp(0.0015*float64(i))))
	}
	h := s.judge(t)
	tr := h.of(t, "time")
	if h.Outcome != Regression || len(tr.Drifts) != 2 || tr.Drifts[1].Outcome != Regression || math.Abs(tr.Drifts[1].Change-math.Expm1(0.0015*90)) > 0.03 {
		t.Errorf("got %v: %s, %+v", h.Outcome, h.Reason, tr.Drifts)
	}
	for _, d := range h.of(t, "ram").Drifts {
		if d.Outcome == Regression {
			t.Errorf("ram: got %+v", d)
		}
	}
}

// TestManySmallSteps makes ten steps of 4 %, each below the threshold of 5 %.
func TestManySmallSteps(t *testing.T) {
	s := newSeason(11, 0.005)
	for i := range 110 {
		s.night(seconds(100 * math.Pow(1.04, float64(i/11))))
	}
	h := s.judge(t)
	for _, c := range h.of(t, "time").Changes {
		if c.Open && c.Change < 0.05 {
			t.Errorf("a step below the threshold is open: %+v", c)
		}
	}
	if h.Outcome != Regression || !strings.Contains(h.Reason, "time of idle") {
		t.Errorf("got %v: %s", h.Outcome, h.Reason)
	}
}

func TestDriftStartsAfterAcceptance(t *testing.T) {
	s := newSeason(12, 0.005)
	for i := range 100 {
		var more []func(*record.Record)
		if i == 90 {
			more = append(more, accept("worth it"))
		}
		s.night(seconds(100+10*float64(i/90)), more...)
	}
	if h := s.judge(t); h.Outcome != Pass {
		t.Errorf("got %v: %s", h.Outcome, h.Reason)
	}
}

func TestTooLittleIsInconclusive(t *testing.T) {
	s := newSeason(13, 0.01)
	for n := range fewestNights {
		if h := s.judge(t); h.Outcome != Inconclusive || h.Reason == "" {
			t.Errorf("%d nights: got %v: %s", n, h.Outcome, h.Reason)
		}
		s.night(seconds(100))
	}
	if h := s.judge(t); h.Outcome != Pass {
		t.Errorf("%d nights: got %v: %s", fewestNights, h.Outcome, h.Reason)
	}
	var none *History
	if err := json.Unmarshal([]byte(`{}`), &none); err != nil || none.Outcome != Inconclusive {
		t.Errorf("the zero value reads as %v", none.Outcome)
	}
}

func TestWhatDoesNotCount(t *testing.T) {
	s := newSeason(14, 0.01)
	for i := range 30 {
		s.night(seconds(100), func(r *record.Record) {
			switch {
			case i < 5: // another load
				r.Scenarios[0].Identity = "other"
			case i == 10: // a night without a good run
				for k := range r.Scenarios[0].Runs {
					r.Scenarios[0].Runs[k].Outcome = record.Invalid
				}
			}
		})
	}
	tr := s.judge(t).of(t, "time")
	if len(tr.Points) != 24 || tr.LeftOut != 5 {
		t.Errorf("got %d points, %d left out", len(tr.Points), tr.LeftOut)
	}
}

func TestHistoryInAnyOrder(t *testing.T) {
	s := newSeason(15, 0.02)
	for i := range 50 {
		s.night(seconds(100 + 10*float64(i/30)))
	}
	want, err := json.Marshal(s.judge(t))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		nights := rapid.Permutation(s.made).Draw(rt, "nights")
		h, err := JudgeHistory(nights, Policy{}, 1)
		if err != nil {
			rt.Fatal(err)
		}
		if got, _ := json.Marshal(h); string(got) != string(want) {
			rt.Fatal("another order of the nights gives another history")
		}
	})
}

func BenchmarkHistory(b *testing.B) {
	names := []string{"time", "cpu_seconds", "ram", "session.wait.p50", "session.p50", "session.p95", "session.p99", "session.max", "cpu", "ram_peak", "throughput", "startup"}
	s := newSeason(16, 0.02)
	for i := range 10_000 {
		levels := make(map[string]float64)
		for _, name := range names {
			levels[name] = 100 * (1 + 0.1*float64(i/500%2))
		}
		s.night(levels)
	}
	for b.Loop() {
		if _, err := JudgeHistory(s.made, Policy{}, 1); err != nil {
			b.Fatal(err)
		}
	}
}
