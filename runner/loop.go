package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/scenario"
)

// tries is how many times the fewest runs that were asked for may be made, so that invalid ones are made up for.
const tries = 2

// errBudget is the cause that ends a run for which no time was left.
var errBudget = errors.New("the budget was used up")

// A job is one run to be made.
type job struct {
	arm      Arm
	scenario scenario.Scenario
	place    int // of the scenario in the plan
	pair     int
	unpaired int // arms still to come in this pair, or in this round of warm-up
	warmup   bool
}

// A work is a plan under way.
type work struct {
	plan    Plan
	hooks   Hooks
	rec     *record.Record
	measure func(context.Context, job, teller) (measured, error)
	glance  func(context.Context) (late float64, ok bool) // at the timers, between runs; nil for not at all
	pace    *pace
	made    int             // runs, warm-up included
	most    int             // runs of each scenario and arm, by Runs.Max and the budget
	broken  map[string]bool // arms whose app does not start: not started again
}

// measured is what became of a job.
type measured struct {
	run    record.Run
	broken bool // the app never got ready: it is not started again
}

// do makes the plan's runs, scenario by scenario.
func (w *work) do(ctx context.Context) error {
	if budget := w.plan.Runs.Budget; budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, budget, fmt.Errorf("%w: %v", errBudget, budget))
		defer cancel()
	}
	for place := range w.plan.Scenarios {
		w.rec.Scenarios = append(w.rec.Scenarios, Describe(w.plan.Scenarios[place]))
		var err error
		if place == 0 {
			err = w.warmUp(ctx)
		}
		if err == nil {
			err = w.repeat(ctx, place)
		}
		if err != nil || ctx.Err() != nil || len(w.broken) > 0 {
			return err
		}
		if w.hooks.Failing != nil && w.hooks.Failing(w.only(place)) {
			return nil
		}
	}
	return nil
}

// warmUp makes the runs that are thrown away. One in which the app died or did not start is kept: that is evidence whenever
// it comes.
func (w *work) warmUp(ctx context.Context) error {
	for range w.plan.Runs.Warmup {
		for i, arm := range w.plan.Arms {
			if w.broken[arm.Name] || ctx.Err() != nil {
				continue
			}
			j := job{arm: arm, scenario: w.plan.Scenarios[0], unpaired: len(w.plan.Arms) - 1 - i, warmup: true}
			run, err := w.one(ctx, j)
			if err == nil && (run.Died || w.broken[arm.Name] || run.Outcome == record.Interrupted) {
				err = w.keep(0, run)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// repeat makes the pairs of runs of one scenario.
func (w *work) repeat(ctx context.Context, place int) error {
	for pair := 0; w.more(ctx, place, pair); pair++ {
		arms := w.plan.order(place, pair)
		for i, arm := range arms {
			if w.broken[arm.Name] || ctx.Err() != nil {
				continue
			}
			j := job{arm: arm, scenario: w.plan.Scenarios[place], place: place, pair: pair, unpaired: len(arms) - 1 - i}
			run, err := w.one(ctx, j)
			if err == nil {
				err = w.keep(place, run)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// one makes one run, after the pause that is due before it, and notes whether its app is broken.
func (w *work) one(ctx context.Context, j job) (record.Run, error) {
	tell := w.report(j)
	begun := time.Now()
	if w.made > 0 {
		tell(Cooling, drive.Progress{})
		cooling := time.Now()
		w.look(ctx)
		pause(ctx, w.plan.Runs.Cooldown-time.Since(cooling))
	}
	w.made++
	m, err := w.measure(ctx, j, tell)
	if err != nil {
		return record.Run{}, err
	}
	m.run.Arm, m.run.Pair = j.arm.Name, j.pair
	if m.broken {
		w.broken[j.arm.Name] = true
	}
	w.pace.took(j.place, time.Since(begun))
	w.finish(j, m.run)
	return m.run, nil
}

// patience is how many pairs are tried before a scenario is given up of which no run could be judged.
const patience = 3

// more says whether a scenario gets another pair of runs.
func (w *work) more(ctx context.Context, place, pair int) bool {
	switch {
	case ctx.Err() != nil, pair > 0 && len(w.broken) > 0, w.broken[record.Base]:
		return false
	case pair >= w.most && (w.valid(place) >= w.plan.Runs.Min || pair >= tries*w.plan.Runs.Min):
		return false
	case pair > 0 && !w.pace.fits(place):
		return false
	case pair < w.plan.Runs.Min:
		return true
	}
	valid := w.valid(place)
	if valid < w.plan.Runs.Min {
		return valid > 0 || pair < patience
	}
	return w.hooks.Settled != nil && !w.hooks.Settled(w.only(place))
}

// valid counts the pairs of a scenario in which every arm has a run that may be judged.
func (w *work) valid(place int) int {
	least := -1
	for _, arm := range w.plan.Arms {
		n := 0
		for _, r := range w.rec.Scenarios[place].Arm(arm.Name) {
			if r.Outcome == record.OK || r.Outcome == record.Failed {
				n++
			}
		}
		if least < 0 || n < least {
			least = n
		}
	}
	return least
}

// keep adds a run to the record and saves it.
func (w *work) keep(place int, r record.Run) error {
	sc := &w.rec.Scenarios[place]
	r.Index = len(sc.Arm(r.Arm))
	sc.Runs = append(sc.Runs, r)
	return w.save()
}

func (w *work) save() error {
	if w.hooks.Save == nil {
		return nil
	}
	return w.hooks.Save(w.rec)
}

// only returns the record with one scenario alone.
func (w *work) only(place int) *record.Record {
	rec := *w.rec
	rec.Scenarios = slices.Clone(w.rec.Scenarios[place : place+1])
	return &rec
}
