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
	drive    driver // nil for Hooks.Drive
}

// A driver puts one load on one app.
type driver func(context.Context, scenario.Scenario, drive.Options) (*drive.Part, error)

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

// warmUp makes the runs that are thrown away.
func (w *work) warmUp(ctx context.Context) error {
	for range w.plan.Runs.Warmup {
		if err := w.round(ctx, job{scenario: w.plan.Scenarios[0], warmup: true}, w.plan.Arms); err != nil {
			return err
		}
	}
	return nil
}

// repeat makes the pairs of runs of one scenario.
func (w *work) repeat(ctx context.Context, place int) error {
	for pair := 0; w.more(ctx, place, pair); pair++ {
		if err := w.round(ctx, job{scenario: w.plan.Scenarios[place], place: place, pair: pair}, w.plan.order(place, pair)); err != nil {
			return err
		}
	}
	return nil
}

// round makes one run of each arm, in this order or at once.
func (w *work) round(ctx context.Context, each job, arms []Arm) error {
	if w.plan.Together && len(w.broken) == 0 {
		return w.both(ctx, each)
	}
	for i, arm := range arms {
		if w.broken[arm.Name] || ctx.Err() != nil {
			continue
		}
		each.arm, each.unpaired = arm, len(arms)-1-i
		if err := w.one(ctx, each); err != nil {
			return err
		}
	}
	return nil
}

// one makes one run and keeps it.
func (w *work) one(ctx context.Context, j job) error {
	tell, begun := w.report(j), time.Now()
	w.rest(ctx, tell)
	w.next(j)
	m, err := w.measure(ctx, j, tell)
	if err != nil {
		return err
	}
	w.pace.took(j.place, time.Since(begun))
	return w.took(j, m)
}

// rest is the pause that is due before a run.
func (w *work) rest(ctx context.Context, tell teller) {
	if w.made > 0 {
		tell(Cooling, drive.Progress{})
		cooling := time.Now()
		w.look(ctx)
		pause(ctx, w.plan.Runs.Cooldown-time.Since(cooling))
	}
	w.made++
}

// next tells the hook what is about to be made.
func (w *work) next(jobs ...job) {
	if w.hooks.Next == nil {
		return
	}
	var due []Due
	for _, j := range jobs {
		index := len(w.rec.Scenarios[j.place].Arm(j.arm.Name))
		due = append(due, Due{Scenario: j.scenario.Name, Arm: j.arm.Name, Pair: j.pair, Index: index, Warmup: j.warmup})
	}
	w.hooks.Next(due)
}

// took notes what became of a job, and keeps its run. One of the warm-up is kept only if the app died or did not start in it: that is
// evidence whenever it comes.
func (w *work) took(j job, m measured) error {
	m.run.Arm, m.run.Pair = j.arm.Name, j.pair
	if m.broken {
		w.broken[j.arm.Name] = true
	}
	w.finish(j, m.run)
	if j.warmup && !m.run.Died && !m.broken && m.run.Outcome != record.Interrupted {
		return nil
	}
	return w.keep(j.place, m.run)
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
