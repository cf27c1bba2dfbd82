package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ddpgate/ddpgate/record"
)

func TestPointsKeepTheirRuns(t *testing.T) {
	s := newSeason(20, 0.01)
	for range 8 {
		s.night(seconds(100))
	}
	h := s.judge(t)
	for _, p := range h.of(t, "time").Points {
		if len(p.Runs) != 3 || slices.Min(p.Runs) != p.Low || slices.Max(p.Runs) != p.High || !slices.Contains(p.Runs, p.Value) {
			t.Fatalf("got runs %v of a night from %v to %v around %v", p.Runs, p.Low, p.High, p.Value)
		}
	}
	for _, p := range h.of(t, "ok").Points {
		if !slices.Equal(p.Runs, []float64{1, 1, 1}) {
			t.Fatalf("shares of sessions are %v", p.Runs)
		}
	}
}

func TestPairsKeepTheirRatios(t *testing.T) {
	s := newSeason(21, 0.01)
	for range 8 {
		s.night(seconds(100), func(r *record.Record) {
			r.Apps[record.Base] = record.App{Version: "v0"}
			for k := range 3 {
				r.Scenarios[0].Runs[k].Pair = k
				base := r.Scenarios[0].Runs[k]
				base.Arm, base.Metrics = record.Base, map[string]float64{"time": base.Metrics["time"] / float64(k+1)}
				r.Scenarios[0].Runs = append(r.Scenarios[0].Runs, base)
			}
		})
	}
	tr := s.judge(t).of(t, "time")
	for _, p := range tr.Points {
		if len(p.Runs) != 3 || math.Abs(p.Runs[0]-1) > 1e-9 || math.Abs(p.Runs[1]-2) > 1e-9 || math.Abs(p.Runs[2]-3) > 1e-9 {
			t.Fatalf("relative %v: got ratios %v, want those of the pairs", tr.Relative, p.Runs)
		}
	}
}

func TestMachinesMoveValues(t *testing.T) {
	s := newSeason(22, 0.002)
	for i := range 40 {
		v, cpu := 100.0, "x"
		if i >= 25 {
			v, cpu = 120, "y"
		}
		s.night(seconds(v), func(r *record.Record) { r.Environment.CPU = cpu })
	}
	tr := s.judge(t).of(t, "time")
	if !slices.Equal(tr.Moves, []int{25}) {
		t.Errorf("moves are at %v, want 25", tr.Moves)
	}
	for i, p := range tr.Points {
		want := 0.2
		if i >= 25 {
			want = 0
		}
		if math.Abs(p.Moved-want) > 0.01 || math.Abs(p.Value*(1+p.Moved)/p.Level-1) > 0.03 {
			t.Fatalf("night %d: %v is moved by %v to a level of %v", i, p.Value, p.Moved, p.Level)
		}
	}
}

func TestLeftOut(t *testing.T) {
	s := newSeason(23, 0.01)
	for i := range 12 {
		s.night(seconds(100), func(r *record.Record) {
			switch i {
			case 2:
				r.Scenarios[0].Identity = "other"
			case 4:
				for k := range r.Scenarios[0].Runs {
					r.Scenarios[0].Runs[k].Outcome, r.Scenarios[0].Runs[k].Reasons = record.Invalid, []string{"the driver was late"}
				}
			case 6:
				r.Scenarios[0].Name = "connect"
			case 8:
				r.Scenarios[0].Runs = nil
			}
		})
	}
	h := s.judge(t)
	for i, want := range map[int]string{0: "", 2: "another load", 4: "no run may be judged: the driver was late", 6: "not run", 8: "it has no run", 11: ""} {
		if got := h.LeftOut("idle", i); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("night %d: got %q, want %q", i, got, want)
		}
	}
	for _, p := range h.of(t, "time").Points {
		if why := h.LeftOut("idle", p.Night); why != "" {
			t.Errorf("night %d is followed, and left out: %s", p.Night, why)
		}
	}
}

func TestDriftSaysItsNights(t *testing.T) {
	s := newSeason(24, 0.005)
	for i := range 100 {
		s.night(seconds(100 * math.Exp(0.0015*float64(i))))
	}
	tr := s.judge(t).of(t, "time")
	for i, want := range []Drift{{Days: 30, From: 65, To: 70, Newest: 95}, {Days: 90, From: 5, To: 10, Newest: 95}} {
		got := tr.Drifts[i]
		if got.Days != want.Days || got.From != want.From || got.To != want.To || got.Newest != want.Newest {
			t.Errorf("got %+v, want the nights of %+v", got, want)
		}
	}
}

// TestRepositoryIsTheCommits keeps the name of the repository only beside a commit of its own.
func TestRepositoryIsTheCommits(t *testing.T) {
	own, other := fmt.Sprintf("%040x", 1), fmt.Sprintf("%040x", 2)
	for version, want := range map[string]string{"3.1": "meteor/meteor", own: "meteor/meteor", other: ""} {
		n := Observe(&record.Record{Commit: own, Repository: "meteor/meteor", Apps: map[string]record.App{record.Head: {Version: version}}}, "")
		if n.Repository != want {
			t.Errorf("version %s, commit %s: got repository %q, want %q", version, n.Commit, n.Repository, want)
		}
	}
}

// TestNoneIsAnAnswer follows the share of sessions that went well to where none did, which is no night without a figure.
func TestNoneIsAnAnswer(t *testing.T) {
	for _, ok := range []int{0, 1} {
		s := newSeason(1, 0.01)
		for i := range 25 {
			s.night(seconds(100), func(r *record.Record) {
				for k := range r.Scenarios[0].Runs {
					if run := &r.Scenarios[0].Runs[k]; i >= 15 {
						run.Outcome, run.Sessions.OK, run.Sessions.Failed = record.Failed, ok, 100-ok
					}
				}
			})
		}
		h := s.judge(t)
		if tr := h.of(t, "ok"); h.Outcome != Regression || tr.Outcome != Regression || len(tr.Points) != 25 {
			t.Errorf("%d of 100 went well: %v: %s; %d points", ok, h.Outcome, h.Reason, len(tr.Points))
		}
	}
}

// TestABaseArmThatCameToNothing leaves that night out, and follows the others as ratios still: the machines differ too much for anything else.
func TestABaseArmThatCameToNothing(t *testing.T) {
	s := newSeason(2, 0.005)
	for i := range 60 {
		s.night(seconds(100), func(r *record.Record) {
			r.Apps[record.Base] = record.App{Version: "3.0.4"}
			sc, speed := &r.Scenarios[0], math.Exp(0.15*s.rng.NormFloat64())
			for k := range sc.Runs {
				head := &sc.Runs[k]
				base := *head
				base.Arm, base.Metrics = record.Base, map[string]float64{"time": head.Metrics["time"] * speed}
				if i == 5 {
					base.Outcome, base.Reasons = record.Invalid, []string{"the driver was late"}
				}
				head.Metrics["time"] *= speed
				if i >= 40 {
					head.Metrics["time"] *= 1.1
				}
				sc.Runs = append(sc.Runs, base)
			}
		})
	}
	tr := s.judge(t).of(t, "time")
	if !tr.Relative || tr.LeftOut != 1 || len(tr.Points) != 59 || len(tr.Changes) != 1 || tr.Changes[0].At != 39 || math.Abs(tr.Changes[0].Change-0.1) > 0.01 {
		t.Errorf("relative %v, %d points, %d left out, changes %+v", tr.Relative, len(tr.Points), tr.LeftOut, tr.Changes)
	}
}

// TestPruningKeepsWhatIsOpen prunes week after week, until all nights of the time of a step would be gone: it stays open.
func TestPruningKeepsWhatIsOpen(t *testing.T) {
	const keep = 30
	for seed := range uint64(5) {
		s := newSeason(seed, 0.03)
		var kept []Night
		for i := range 60 + 2*keep {
			level := 100.0
			if i >= 40 {
				level = 110
			}
			s.night(seconds(level))
			if kept = append(kept, s.made[i]); i%7 > 0 || len(kept) <= keep {
				continue
			}
			h, err := JudgeHistory(kept, Policy{}, 1)
			if err != nil {
				t.Fatal(err)
			}
			evidence := h.Evidence()
			old := slices.DeleteFunc(slices.Clone(h.Nights[:len(h.Nights)-keep]), func(n Night) bool { return !evidence[n.ID] })
			kept = append(old, h.Nights[len(h.Nights)-keep:]...)
		}
		s.made = kept
		if h := s.judge(t); h.Outcome != Regression || len(kept) > 2*keep {
			t.Errorf("seed %d: %v: %s; %d records", seed, h.Outcome, h.Reason, len(kept))
		}
	}
}
