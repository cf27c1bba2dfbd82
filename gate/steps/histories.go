package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
)

// A story is what happens to a series of 120 nights, and what history --gate ought to say of it.
type story struct {
	name string
	want gate.Outcome
	tell func(rng *rand.Rand, night int) (level float64, change func(*record.Record))
}

const (
	nights = 120
	spread = 0.02 // of a night
	seldom = 30   // one night in so many is a spike
)

func stories() []story {
	quiet := func(*record.Record) {}
	level := func(f func(night int) float64) func(*rand.Rand, int) (float64, func(*record.Record)) {
		return func(_ *rand.Rand, night int) (float64, func(*record.Record)) { return f(night), quiet }
	}
	from := func(night int, size float64) func(int) float64 {
		return func(n int) float64 {
			if n >= night {
				return size
			}
			return 0
		}
	}
	return []story{
		{"nothing", gate.Pass, level(func(int) float64 { return 0 })},
		{"a step of 10 %, eight nights ago", gate.Regression, level(from(nights-8, 0.10))},
		{"a step of 10 %, sixty nights ago", gate.Regression, level(from(nights-60, 0.10))},
		{"10 % faster", gate.Pass, level(from(nights-40, -0.10))},
		{"a step of 10 %, made good after twenty nights", gate.Pass, level(func(n int) float64 { return from(60, 0.10)(n) - from(80, 0.10)(n) })},
		{"one night in thirty 50 % slower", gate.Pass, func(rng *rand.Rand, _ int) (float64, func(*record.Record)) {
			if rng.IntN(seldom) == 0 {
				return 0.4, quiet
			}
			return 0, quiet
		}},
		{"ten steps of 4 %", gate.Regression, level(func(n int) float64 { return 0.04 * float64(n/11) })},
		{"a drift of 0.15 % a night", gate.Regression, level(func(n int) float64 { return 0.0015 * float64(n) })},
		{"a new machine, 20 % slower", gate.Pass, func(_ *rand.Rand, n int) (float64, func(*record.Record)) {
			if n < 70 {
				return 0, quiet
			}
			return 0.18, func(r *record.Record) { r.Environment.CPU = "new" }
		}},
		{"two kinds of machine by chance, and a step of 10 %", gate.Regression, func(rng *rand.Rand, n int) (float64, func(*record.Record)) {
			v := from(90, 0.10)(n)
			if rng.IntN(2) == 0 {
				return v, quiet
			}
			return v + 0.2, func(r *record.Record) { r.Environment.CPU = "other" }
		}},
	}
}

// live tells a story to the gate and returns the verdict.
func (s story) live(m model, rng *rand.Rand) (*gate.History, error) {
	noise := m.make(rng, nights/2)
	noise = append(noise, m.make(rng, nights-len(noise))...)
	var made []gate.Night
	for i := range nights {
		level, change := s.tell(rng, i)
		rec := &record.Record{Created: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC), Environment: record.Environment{CPU: "x", Cores: 2}}
		run := record.Run{Arm: record.Head, Outcome: record.OK, Metrics: map[string]float64{"time": 100 * math.Exp(level+spread*noise[i])}}
		rec.Scenarios = []record.Scenario{{Name: "idle", Runs: []record.Run{run}}}
		change(rec)
		made = append(made, gate.Observe(rec, ""))
	}
	return gate.JudgeHistory(made, gate.Policy{}, 1)
}

func writeHistories(w io.Writer, models []model, trials int, seed uint64) error {
	fmt.Fprintf(w, "\nWhole histories of %d nights with a noise of %.0f %%, judged as `history --gate` does, threshold 5 %%: how often the verdict was right. %d histories a cell.\n\n| what happened | verdict | %s |\n|---|---|%s\n",
		nights, spread*100, trials, modelNames(models), dashes(len(models)))
	for _, s := range stories() {
		fmt.Fprintf(w, "| %s | %v |", s.name, s.want)
		for _, m := range models {
			right := 0
			rng := rand.New(rand.NewPCG(seed, 3))
			for range trials {
				h, err := s.live(m, rng)
				if err != nil {
					return err
				}
				if h.Outcome == s.want {
					right++
				}
			}
			fmt.Fprintf(w, " %.1f %% |", 100*float64(right)/float64(trials))
		}
		fmt.Fprintln(w)
	}
	return nil
}

func modelNames(models []model) string {
	s := models[0].name
	for _, m := range models[1:] {
		s += " | " + m.name
	}
	return s
}

func dashes(n int) string {
	s := ""
	for range n {
		s += "--:|"
	}
	return s
}

func logs(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Log(v)
	}
	return out
}
