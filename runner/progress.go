package runner

import (
	"time"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/record"
)

// A Phase is what a run is at.
type Phase string

// The phases of a run, in order.
const (
	Starting Phase = "starting the app"
	Driving  Phase = "driving"
	Settling Phase = "settling"
	Cooling  Phase = "cooling down"
)

// Progress is how far a record has come.
type Progress struct {
	Scenario string
	Arm      string
	Arms     int // 1 or 2
	Run      int // of this scenario and arm, from 1; 0 in a warm-up
	Runs     int // that are planned as far as is known now
	Phase    Phase
	Load     drive.Progress // while driving
	Left     time.Duration  // of the whole record, an estimate
	Over     *record.Run    // set once, when a run is over
}

// progress returns what is reported about a job from now on, with what is left once it is over.
func (w *work) progress(j job) (p Progress, after time.Duration) {
	least := min(w.plan.Runs.Min, w.most)
	p = Progress{Scenario: j.scenario.Name, Arm: j.arm.Name, Arms: len(w.plan.Arms)}
	after = time.Duration(j.unpaired)*w.pace.run(j.place) + w.pace.later(j.place)
	if j.warmup {
		p.Runs = w.plan.Runs.Warmup
		return p, after + time.Duration(least)*w.pace.pair(j.place)
	}
	p.Run, p.Runs = j.pair+1, max(least, j.pair+1)
	return p, after + time.Duration(p.Runs-p.Run)*w.pace.pair(j.place)
}

// A teller is told what phase a job is at, and while driving how far the load has come.
type teller func(Phase, drive.Progress)

// report returns what tells the hook about a job.
func (w *work) report(j job) teller {
	if w.hooks.Progress == nil {
		return func(Phase, drive.Progress) {}
	}
	p, after := w.progress(j)
	expected, begun := w.pace.run(j.place), time.Now()
	return func(phase Phase, load drive.Progress) {
		p := p
		p.Phase, p.Load = phase, load
		p.Left = after + max(0, expected-time.Since(begun))
		w.hooks.Progress(p)
	}
}

// finish tells the hook that a job is over.
func (w *work) finish(j job, run record.Run) {
	if w.hooks.Progress != nil {
		p, after := w.progress(j)
		p.Left, p.Over = after, &run
		w.hooks.Progress(p)
	}
}
