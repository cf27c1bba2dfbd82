// Package runner makes one record: it starts the app afresh for each run, drives a scenario against it, meters it, and
// does so again, for one app or for two that are interleaved on one machine.
package runner

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/internal/affinity"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/scenario"
)

// A Plan says what to measure, and how often.
type Plan struct {
	Arms      []Arm // record.Head, or record.Base and record.Head
	Scenarios []scenario.Scenario
	Runs      Runs
	Seed      uint64 // of the order within pairs and of what the driver draws

	// Lead is how long before each load its drivers are told of it, and part of each run's time.
	Lead time.Duration
	// Together is whether both arms of a pair are driven at once, by Hooks.Together: that is for apps that run elsewhere.
	Together bool
}

// An Arm is one build of the app.
type Arm struct {
	Name    string // record.Base or record.Head
	App     app.Config
	Options app.Options
	Version string // for the record, empty if unknown
}

// Elsewhere says whether ddpgate knows of nothing of the app on this machine.
func (a Arm) Elsewhere() bool {
	return len(a.App.Command) == 0 && a.App.Container == "" && len(a.App.Services) == 0 && len(a.App.Reset) == 0
}

// Runs says how many runs each scenario gets in each arm.
type Runs struct {
	Min      int           // at least 1
	Max      int           // at least Min; between the two, until Hooks.Settled says that it is enough
	Warmup   int           // runs that are made first, in each arm, and thrown away
	Cooldown time.Duration // pause after each run
	Budget   time.Duration // of the whole record; 0 for none

	CPUs affinity.Split // which the app and this process are kept on during each run
}

// Hooks are what the runner is handed to work with. All but Drive may be nil, Together only where the plan has no
// use for it. All are called from one goroutine at a time, Progress from several, one after the other.
type Hooks struct {
	// Drive puts one load on the app. It returns the part seen so far when the context ends.
	Drive func(context.Context, scenario.Scenario, drive.Options) (*drive.Part, error)
	// Together puts one load on both apps of a pair at once, where the plan says so, and otherwise is as Drive is.
	Together func(ctx context.Context, sc scenario.Scenario, base, head drive.Options) (onBase, onHead *drive.Part, err error)
	// Next is told which runs are about to be made: one, or both of a pair that is driven at once.
	Next func([]Due)
	// Settled says whether more runs of a scenario could still matter. The record holds that scenario alone.
	Settled func(*record.Record) bool
	// Failing says whether the record, which holds one scenario with all its runs, is one to stop at.
	Failing func(*record.Record) bool
	// Save keeps the record so far. It is called after each run, so that nothing that comes later loses it.
	Save func(*record.Record) error
	// Progress is told how far the work has come, several times a second. It must not block.
	Progress func(Progress)
}

// A Due is a run that is about to be made.
type Due struct {
	Scenario string `json:"scenario"`
	Arm      string `json:"arm"`
	Pair     int    `json:"pair"`
	Index    int    `json:"index"` // that it has in the record
	Warmup   bool   `json:"warmup,omitempty"`
}

// Check returns every fault of the plan.
func (p Plan) Check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	switch {
	case len(p.Arms) == 1 && p.Arms[0].Name == record.Head:
	case len(p.Arms) == 2 && p.Arms[0].Name == record.Base && p.Arms[1].Name == record.Head:
	default:
		fault("the arms of a record are %s alone, or %s and %s", record.Head, record.Base, record.Head)
	}
	if n := len(p.Arms); n == 2 && p.Arms[0].App.Node != p.Arms[1].App.Node {
		fault("node: Node's own figures are taken in one arm and not in the other, and taking them costs time")
	}
	if len(p.Scenarios) == 0 {
		fault("no scenario to run")
	}
	names := make(map[string]bool)
	for _, s := range p.Scenarios {
		if names[s.Name] {
			fault("scenario %s is listed twice", s.Name)
		}
		names[s.Name] = true
	}
	if p.Runs.Min < 1 {
		fault("runs.min is %d, must be at least 1", p.Runs.Min)
	}
	if p.Runs.Max < p.Runs.Min {
		fault("runs.max is %d, must be at least runs.min, %d", p.Runs.Max, p.Runs.Min)
	}
	if p.Runs.Warmup < 0 {
		fault("runs.warmup is %d, must not be negative", p.Runs.Warmup)
	}
	if p.Runs.Cooldown < 0 || p.Runs.Budget < 0 {
		fault("runs.cooldown and runs.budget must not be negative")
	}
	if p.Lead < 0 {
		fault("the lead is %v, must not be negative", p.Lead)
	}
	if p.Together && (len(p.Arms) != 2 || slices.ContainsFunc(p.Arms, func(a Arm) bool { return !a.Elsewhere() })) {
		fault("only two apps that run elsewhere can be driven at once")
	}
	return errors.Join(append(faults, p.checkCPUs()...)...)
}

// order returns the arms in the order in which a scenario's pair of runs is made. Of every two pairs the first has its
// order by lot and the second the opposite one, so that a machine that slows down favours neither arm.
//
// The order depends on the seed, the scenario's place and the pair alone, so that the same seed repeats it.
func (p Plan) order(place, pair int) []Arm {
	if len(p.Arms) < 2 {
		return p.Arms
	}
	lot := rand.New(rand.NewPCG(p.Seed, uint64(place)<<32|uint64(pair/2)))
	if (lot.IntN(2) == 0) == (pair%2 == 0) {
		return p.Arms
	}
	return []Arm{p.Arms[1], p.Arms[0]}
}
