package runner

import (
	"fmt"
	"time"
)

// What a run takes beside its load, until it is known better: starting the app, and stopping it.
const startAndStop = 1500 * time.Millisecond

// An Estimate is how long a plan takes if the app answers at once. A slow app takes longer.
type Estimate struct {
	Least, Most time.Duration // with the fewest and with the most runs that may be made
	Run         time.Duration // the longest single run
	Fit         int           // how many runs of each scenario and arm are made at most, by Runs.Max and the budget
}

// Estimate says beforehand how long the plan takes. It fails if not even one run of each scenario fits the budget.
func (p Plan) Estimate() (Estimate, error) {
	pc := p.pace()
	var round, longest time.Duration // round: one run of each scenario in each arm
	for place, run := range pc.guess {
		round += pc.pair(place)
		longest = max(longest, run)
	}
	warmup := time.Duration(p.Runs.Warmup) * pc.pair(0)
	e := Estimate{Run: longest, Fit: p.Runs.Max}
	if budget := p.Runs.Budget; budget > 0 {
		e.Fit = min(e.Fit, int((budget-warmup)/round))
		if budget < warmup+round {
			return Estimate{}, fmt.Errorf("a budget of %v is too small: the warm-up and one run of each scenario take at least %v",
				budget, (warmup + round).Round(time.Second))
		}
	}
	e.Least = warmup + time.Duration(min(p.Runs.Min, e.Fit))*round
	e.Most = warmup + time.Duration(e.Fit)*round
	return e, nil
}

// A pace keeps how long runs take, first as guessed from the load, then as seen.
type pace struct {
	begun  time.Time
	budget time.Duration
	arms   int // that are run one after the other
	least  int // runs of each scenario and arm that later scenarios are to get
	guess  []time.Duration
	seen   []time.Duration // the longest run of each scenario, 0 before the first
}

func (p Plan) pace() *pace {
	pc := &pace{budget: p.Runs.Budget, arms: len(p.Arms), least: p.Runs.Min, seen: make([]time.Duration, len(p.Scenarios))}
	if p.Together {
		pc.arms = 1
	}
	for _, s := range p.Scenarios {
		pc.guess = append(pc.guess, p.Lead+s.Floor()+startAndStop+settleTime+p.Runs.Cooldown)
	}
	return pc
}

// took notes how long a run was, with its cooldown.
func (pc *pace) took(place int, d time.Duration) { pc.seen[place] = max(pc.seen[place], d) }

// run returns how long one run of a scenario takes.
func (pc *pace) run(place int) time.Duration {
	if d := pc.seen[place]; d > 0 {
		return d
	}
	return pc.guess[place]
}

// pair returns how long one run in each arm takes.
func (pc *pace) pair(place int) time.Duration { return time.Duration(pc.arms) * pc.run(place) }

// fits says whether another pair of a scenario leaves later ones their share of the budget.
func (pc *pace) fits(place int) bool {
	if pc.budget == 0 {
		return true
	}
	return time.Since(pc.begun)+pc.pair(place)+pc.later(place) <= pc.budget
}

// later returns how long the scenarios after this one take with as few runs as they should get.
func (pc *pace) later(place int) time.Duration {
	var d time.Duration
	for i := place + 1; i < len(pc.guess); i++ {
		d += time.Duration(pc.least) * pc.pair(i)
	}
	return d
}
