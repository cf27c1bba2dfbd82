package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/scenario"
)

// load is a scenario whose floor is its arrivals' length.
func load60(name string) scenario.Scenario {
	return scenario.Scenario{Name: name, Arrivals: scenario.Arrivals{Rate: 1, For: 61 * time.Second}}
}

func headOnly() []Arm { return []Arm{{Name: record.Head}} }

func bothArms() []Arm { return []Arm{{Name: record.Base}, {Name: record.Head}} }

// A script plays runs that take a minute of false time each: what becomes of the nth run is the nth letter.
type script struct {
	t     *testing.T
	plays map[string]string // by arm: o ok, f failed, i invalid, d died, b broken; the last letter repeats
	made  []string          // "scenario arm", "!" behind a warm-up
	pace  time.Duration
}

func (s *script) measure(ctx context.Context, j job, _ teller) (measured, error) {
	s.made = append(s.made, j.scenario.Name+" "+j.arm.Name+strings.Repeat("!", boolToInt(j.warmup)))
	letters := s.plays[j.arm.Name]
	if len(letters) > 1 {
		s.plays[j.arm.Name] = letters[1:]
	}
	timer := time.NewTimer(s.pace)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return measured{run: record.Run{Outcome: record.Interrupted, Reasons: []string{cut(context.Cause(ctx))}}}, nil
	}
	switch letters[:1] {
	case "o":
		return measured{run: record.Run{Outcome: record.OK}}, nil
	case "f":
		return measured{run: record.Run{Outcome: record.Failed}}, nil
	case "i":
		return measured{run: record.Run{Outcome: record.Invalid}}, nil
	case "d":
		return measured{run: record.Run{Outcome: record.Failed, Died: true}}, nil
	case "b":
		return measured{run: record.Run{Outcome: record.Failed, Died: true}, broken: true}, nil
	}
	s.t.Fatalf("unknown letter in %q", letters)
	return measured{}, nil
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// play carries out a plan with scripted runs under false time.
func play(t *testing.T, ctx context.Context, p Plan, h Hooks, s *script) (*record.Record, error) {
	t.Helper()
	s.t = t
	if s.pace == 0 {
		s.pace = time.Minute
	}
	estimate, err := p.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	rec := new(record.Record)
	w := p.work(h, rec, estimate)
	w.measure = s.measure
	err = w.do(ctx)
	return rec, err
}

func outcomes(rec *record.Record) string {
	var out []string
	for _, sc := range rec.Scenarios {
		for _, r := range sc.Runs {
			out = append(out, fmt.Sprintf("%s %s%d %s", sc.Name, r.Arm, r.Index, r.Outcome))
		}
	}
	return strings.Join(out, "\n")
}

func TestRunsThatAreMade(t *testing.T) {
	never := func(*record.Record) bool { return false }
	for _, tt := range []struct {
		name    string
		arms    []Arm
		runs    Runs
		plays   map[string]string
		settled func(*record.Record) bool
		want    map[string]int // by "scenario arm", as made
	}{
		{name: "a fixed number", arms: headOnly(), runs: Runs{Min: 3, Max: 3}, plays: map[string]string{"head": "o"},
			want: map[string]int{"a head": 3, "b head": 3}},
		{name: "one warm-up, of the first scenario", arms: bothArms(), runs: Runs{Min: 2, Max: 2, Warmup: 1}, plays: map[string]string{"base": "o", "head": "o"},
			want: map[string]int{"a base!": 1, "a head!": 1, "a base": 2, "a head": 2, "b base": 2, "b head": 2}},
		{name: "no more than the least where nobody asks for more", arms: headOnly(), runs: Runs{Min: 2, Max: 9}, plays: map[string]string{"head": "o"},
			want: map[string]int{"a head": 2, "b head": 2}},
		{name: "the most where it is never settled", arms: headOnly(), runs: Runs{Min: 2, Max: 4}, plays: map[string]string{"head": "o"}, settled: never,
			want: map[string]int{"a head": 4, "b head": 4}},
		{name: "an invalid run is made up for", arms: headOnly(), runs: Runs{Min: 2, Max: 4}, plays: map[string]string{"head": "oio"},
			want: map[string]int{"a head": 3, "b head": 2}},
		{name: "invalid runs are made up for where the number is fixed", arms: headOnly(), runs: Runs{Min: 3, Max: 3}, plays: map[string]string{"head": "oiio"},
			want: map[string]int{"a head": 5, "b head": 3}},
		{name: "invalid runs are made up for within reason", arms: headOnly(), runs: Runs{Min: 2, Max: 2}, plays: map[string]string{"head": "oi"},
			want: map[string]int{"a head": 4, "b head": 3}},
		{name: "nothing but invalid runs", arms: headOnly(), runs: Runs{Min: 2, Max: 9}, plays: map[string]string{"head": "i"},
			want: map[string]int{"a head": 3, "b head": 3}},
		{name: "an app that dies under load is tried again", arms: headOnly(), runs: Runs{Min: 3, Max: 3}, plays: map[string]string{"head": "d"},
			want: map[string]int{"a head": 3, "b head": 3}},
		{name: "an app that does not start is not", arms: headOnly(), runs: Runs{Min: 3, Max: 3}, plays: map[string]string{"head": "b"},
			want: map[string]int{"a head": 1}},
		{name: "nor after a warm-up", arms: headOnly(), runs: Runs{Min: 3, Max: 3, Warmup: 2}, plays: map[string]string{"head": "b"},
			want: map[string]int{"a head!": 1}},
		{name: "a broken head leaves base its run", arms: bothArms(), runs: Runs{Min: 3, Max: 3, Warmup: 1}, plays: map[string]string{"base": "o", "head": "b"},
			want: map[string]int{"a base!": 1, "a head!": 1, "a base": 1}},
		{name: "a broken base leaves nothing to compare with", arms: bothArms(), runs: Runs{Min: 3, Max: 3, Warmup: 1}, plays: map[string]string{"base": "b", "head": "o"},
			want: map[string]int{"a base!": 1, "a head!": 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{plays: tt.plays}
				p := Plan{Arms: tt.arms, Scenarios: []scenario.Scenario{load60("a"), load60("b")}, Runs: tt.runs}
				if _, err := play(t, t.Context(), p, Hooks{Settled: tt.settled}, s); err != nil {
					t.Fatal(err)
				}
				got := make(map[string]int)
				for _, m := range s.made {
					got[m]++
				}
				if fmt.Sprint(got) != fmt.Sprint(tt.want) {
					t.Errorf("got  %v\nwant %v", got, tt.want)
				}
			})
		})
	}
}

func TestCrashInWarmUpIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{plays: map[string]string{"base": "o", "head": "do"}}
		p := Plan{Arms: bothArms(), Scenarios: []scenario.Scenario{load60("a")}, Runs: Runs{Min: 1, Max: 1, Warmup: 1}, Seed: 2}
		rec, err := play(t, t.Context(), p, Hooks{}, s)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(outcomes(rec), "\n")
		if want := "a head0 failed"; got[0] != want {
			t.Errorf("first run %q, want %q", got[0], want)
		}
		if !slices.Contains(got, "a head1 ok") || !slices.Contains(got, "a base0 ok") {
			t.Errorf("got %q, want the pair after it", got)
		}
	})
}

func TestSettledSeesOneScenario(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{plays: map[string]string{"head": "o"}}
		p := Plan{Arms: headOnly(), Scenarios: []scenario.Scenario{load60("a"), load60("b")}, Runs: Runs{Min: 2, Max: 9}}
		settled := func(rec *record.Record) bool {
			if len(rec.Scenarios) != 1 {
				t.Errorf("%d scenarios handed over, want the one at hand", len(rec.Scenarios))
			}
			return len(rec.Scenarios[0].Runs) == 4
		}
		rec, err := play(t, t.Context(), p, Hooks{Settled: settled}, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, sc := range rec.Scenarios {
			if len(sc.Runs) != 4 {
				t.Errorf("scenario %s: %d runs, want the 4 that settled it", sc.Name, len(sc.Runs))
			}
		}
	})
}

func TestStopAtFailingScenario(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{plays: map[string]string{"head": "o"}}
		p := Plan{Arms: headOnly(), Scenarios: []scenario.Scenario{load60("a"), load60("b"), load60("c")}, Runs: Runs{Min: 1, Max: 1}}
		failing := func(rec *record.Record) bool { return rec.Scenarios[0].Name == "b" }
		rec, err := play(t, t.Context(), p, Hooks{Failing: failing}, s)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := outcomes(rec), "a head0 ok\nb head0 ok"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestBudget(t *testing.T) {
	for _, tt := range []struct {
		name   string
		budget time.Duration
		pace   time.Duration // what a run really takes
		want   string
	}{
		// A run is guessed at 62.5 s: three fit into each scenario of a budget of 400 s.
		{"as guessed", 400 * time.Second, time.Minute, "a3 b3"},
		{"slower than guessed: later scenarios keep their share", 400 * time.Second, 90 * time.Second, "a2 b2"},
		{"an app that hangs is cut off", 150 * time.Second, time.Hour, "a1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{plays: map[string]string{"head": "o"}, pace: tt.pace}
				p := Plan{Arms: headOnly(), Scenarios: []scenario.Scenario{load60("a"), load60("b")}, Runs: Runs{Min: 5, Max: 5, Budget: tt.budget}}
				begun := time.Now()
				rec, err := play(t, t.Context(), p, Hooks{}, s)
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begun); took > tt.budget {
					t.Errorf("took %v of a budget of %v", took, tt.budget)
				}
				var got []string
				for _, sc := range rec.Scenarios {
					if len(sc.Runs) > 0 {
						got = append(got, fmt.Sprintf("%s%d", sc.Name, len(sc.Runs)))
					}
				}
				if strings.Join(got, " ") != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				last := rec.Scenarios[0].Runs[len(rec.Scenarios[0].Runs)-1]
				if hangs := tt.pace == time.Hour; hangs != (last.Outcome == record.Interrupted) || hangs && !strings.Contains(fmt.Sprint(last.Reasons), "budget") {
					t.Errorf("last run %s for %q", last.Outcome, last.Reasons)
				}
			})
		})
	}
}

func TestSavedAfterEachRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := &script{plays: map[string]string{"head": "o"}}
		p := Plan{Arms: headOnly(), Scenarios: []scenario.Scenario{load60("a")}, Runs: Runs{Min: 3, Max: 3, Warmup: 1}}
		var saved []string
		save := func(rec *record.Record) error {
			saved = append(saved, outcomes(rec))
			return nil
		}
		time.AfterFunc(150*time.Second, cancel) // in the second run after the warm-up
		if _, err := play(t, ctx, p, Hooks{Save: save}, s); err != nil {
			t.Fatal(err)
		}
		if want := []string{"a head0 ok", "a head0 ok\na head1 interrupted"}; !slices.Equal(saved, want) {
			t.Errorf("saved %q, want %q", saved, want)
		}
	})
}

func TestFullDiskEndsTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("no space left on device")
		s := &script{plays: map[string]string{"head": "o"}}
		p := Plan{Arms: headOnly(), Scenarios: []scenario.Scenario{load60("a")}, Runs: Runs{Min: 3, Max: 3}}
		rec, err := play(t, t.Context(), p, Hooks{Save: func(*record.Record) error { return full }}, s)
		if !errors.Is(err, full) {
			t.Errorf("got error %v, want %v", err, full)
		}
		if got, want := outcomes(rec), "a head0 ok"; got != want {
			t.Errorf("got %q, want %q and no further run", got, want)
		}
	})
}

func TestTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{plays: map[string]string{"base": "o", "head": "o"}}
		p := Plan{Arms: bothArms(), Scenarios: []scenario.Scenario{load60("a"), load60("b")}, Runs: Runs{Min: 2, Max: 2, Warmup: 1, Cooldown: 2 * time.Second}}
		var left []time.Duration
		h := Hooks{Progress: func(p Progress) {
			if p.Over != nil {
				left = append(left, p.Left)
			}
		}}
		begun := time.Now()
		if _, err := play(t, t.Context(), p, h, s); err != nil {
			t.Fatal(err)
		}
		took := time.Since(begun)
		if len(left) != 10 || left[9] != 0 {
			t.Fatalf("time left after each run: %v, want 10 figures down to 0", left)
		}
		for i := 1; i < len(left); i++ {
			if left[i] >= left[i-1] {
				t.Errorf("time left does not fall: %v", left)
			}
		}
		if whole := left[0] + 62*time.Second; whole < took || whole > took*12/10 {
			t.Errorf("after the first run %v were left in all of %v", left[0], took)
		}
	})
}
