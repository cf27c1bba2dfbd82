package runner

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/scenario"
)

// bothNames is what a pair that is driven at once is called where its progress is told.
const bothNames = record.Base + " and " + record.Head

// both makes the runs of a pair at once, each with its own meter. They share their load alone.
func (w *work) both(ctx context.Context, each job) error {
	each.arm.Name = bothNames
	tell, begun := w.report(each), time.Now()
	w.rest(ctx, tell)
	var mu sync.Mutex
	together := func(phase Phase, load drive.Progress) {
		mu.Lock()
		defer mu.Unlock()
		tell(phase, load)
	}
	meet := &meeting{hooks: w.hooks}
	var jobs [2]job
	for i, arm := range w.plan.Arms {
		jobs[i], meet.offers[i] = each, make(chan offer)
		jobs[i].arm, jobs[i].drive = arm, meet.driver(i)
	}
	w.next(jobs[:]...)
	var runs [2]measured
	var errs [2]error
	var wg sync.WaitGroup
	for i := range jobs {
		wg.Go(func() {
			defer close(meet.offers[i])
			runs[i], errs[i] = w.measure(ctx, jobs[i], together)
		})
	}
	meet.join(ctx)
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	w.pace.took(each.place, time.Since(begun))
	return errors.Join(w.took(jobs[0], runs[0]), w.took(jobs[1], runs[1]))
}

// A meeting joins the loads of a pair. Each run offers the load that it wants, once, or ends without: then the other is driven alone.
type meeting struct {
	hooks  Hooks
	offers [2]chan offer // of base and head; each is closed when its run is over
}

// An offer is a load that one run wants, and where it waits for what came of it.
type offer struct {
	scenario scenario.Scenario
	options  drive.Options
	alone    func() answer // drives it without the other
	answer   chan<- answer
}

type answer struct {
	part *drive.Part
	err  error
}

// driver returns what a run drives with.
func (m *meeting) driver(arm int) driver {
	return func(ctx context.Context, sc scenario.Scenario, o drive.Options) (*drive.Part, error) {
		answered := make(chan answer, 1)
		alone := func() answer {
			part, err := m.hooks.Drive(ctx, sc, o)
			return answer{part, err}
		}
		m.offers[arm] <- offer{sc, o, alone, answered}
		a := <-answered
		return a.part, a.err
	}
}

// join waits for both and drives what they want.
func (m *meeting) join(ctx context.Context) {
	base, onBase := <-m.offers[0]
	head, onHead := <-m.offers[1]
	switch {
	case onBase && onHead:
		b, h, err := m.hooks.Together(ctx, base.scenario, base.options, head.options)
		base.answer <- answer{b, err}
		head.answer <- answer{h, err}
	case onBase:
		base.answer <- base.alone()
	case onHead:
		head.answer <- head.alone()
	}
}
