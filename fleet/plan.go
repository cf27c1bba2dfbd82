package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ddpgate/ddpgate/scenario"
)

// Limits are what workers of a place can do, and what they cost. Zero means no limit.
type Limits struct {
	Sockets    int           // of one worker at a time
	Length     time.Duration // of one job
	Concurrent int           // workers at a time
	Event      int           // bytes of a job
	AsyncEvent int           // bytes of a job that is sent without waiting for an answer

	Memory    int     // MB of a worker
	PerGBs    float64 // US dollars for a GB and second
	PerInvoke float64 // US dollars for a job
}

// A Plan is what a load takes of a fleet.
type Plan struct {
	Workers  int
	Sessions int           // of the load, in each arm
	Each     int           // of the largest share, in all arms
	Open     int           // sessions of one worker that may be open at a time, in all arms
	Lead     time.Duration // before the start
	Length   time.Duration // of one job at most, lead included
	Event    int           // bytes of one job
	Cost     float64       // US dollars at most, for one load; 0 for nothing
}

// Plan returns what a load on a number of targets takes.
func (f *Fleet) Plan(sc scenario.Scenario, targets int) (Plan, error) {
	event, err := f.size(sc, targets)
	if err != nil {
		return Plan{}, err
	}
	sessions := sc.Arrivals.Sessions()
	p := Plan{
		Workers: f.Count, Sessions: sessions, Lead: f.lead(), Event: event,
		Each: targets * ceil(sessions, f.Count), Open: targets * ceil(atOnce(sc), f.Count),
	}
	p.Length = p.Lead + longest(sc)
	for i := range f.Count {
		l := f.place(i).Limits()
		p.Cost += float64(l.Memory)/1024*p.Length.Seconds()*l.PerGBs + l.PerInvoke
	}
	return p, nil
}

// size is how many bytes a job has at most.
func (f *Fleet) size(sc scenario.Scenario, targets int) (int, error) {
	const beside = 1024 // names, times and the environment
	job, err := json.Marshal(Job{Scenario: &sc, Targets: make([]Target, targets)})
	if err != nil {
		return 0, err
	}
	var said []int
	for _, t := range f.Apps {
		text, err := json.Marshal(t)
		if err != nil {
			return 0, err
		}
		said = append(said, len(text))
	}
	slices.SortFunc(said, func(a, b int) int { return b - a })
	total := len(job) + beside
	for _, n := range said[:min(targets, len(said))] {
		total += n
	}
	return total, nil
}

// atOnce is how many sessions of a load may be open at a time: those that arrive while the first of them may still be there.
func atOnce(sc scenario.Scenario) int {
	within := min(sc.Arrivals.For, sc.Timeout)
	return scenario.Arrivals{Rate: sc.Arrivals.Rate, For: within}.Sessions()
}

// regions counts where the workers are.
func (f *Fleet) regions() int {
	found := make(map[string]bool)
	for _, p := range f.Places {
		found[p.Region()] = true
	}
	return len(found)
}

func ceil(a, b int) int { return (a + b - 1) / max(1, b) }

// Check returns every reason why the fleet cannot drive a load on a number of targets, with the count of workers that could.
func (f *Fleet) Check(sc scenario.Scenario, targets int) error {
	switch {
	case len(f.Places) == 0:
		return errors.New("a fleet needs a place for its workers")
	case f.Count < 1:
		return fmt.Errorf("a fleet of %d workers drives nothing: take 1 or more", f.Count)
	case f.Count < len(f.Places):
		return fmt.Errorf("%d workers cannot be in %d places: take --count %d or more", f.Count, len(f.Places), len(f.Places))
	case f.Async && f.Store == nil:
		return errors.New("workers that are not waited for have to keep their parts: name a bucket with --parts")
	}
	if n := f.regions(); n > 1 && f.Store != nil {
		return fmt.Errorf("parts are kept in one bucket, which workers of one region may write to, and there are %d: leave --parts out, or take one region", n)
	}
	p, err := f.Plan(sc, targets)
	if err != nil {
		return err
	}
	if p.Sessions < f.Count {
		return fmt.Errorf("%s has %d sessions, too few for %d workers: take --count %d or fewer", sc.Name, p.Sessions, f.Count, p.Sessions)
	}
	var faults []error
	crowded := make(map[string]bool)
	for _, place := range f.Places {
		for _, err := range p.faults(f, place.Limits(), sc, targets) {
			faults = append(faults, fmt.Errorf("%s: %s: %w", sc.Name, place, err))
		}
		if err := f.crowd(place); err != nil && !crowded[place.Region()] {
			crowded[place.Region()] = true
			faults = append(faults, fmt.Errorf("%s: %s: %w", sc.Name, place, err))
		}
	}
	return errors.Join(faults...)
}

// crowd returns an error where more workers than a region runs would be where a place is.
func (f *Fleet) crowd(place Place) error {
	most := place.Limits().Concurrent
	here, places := 0, 0
	for i := range f.Count {
		if f.place(i).Region() == place.Region() {
			here++
		}
	}
	if most == 0 || here <= most {
		return nil
	}
	for _, p := range f.Places {
		if p.Region() == place.Region() {
			places++
		}
	}
	return fmt.Errorf("%d workers at a time are more than the %d that a region runs: take --count %d, or more regions", here, most, most*len(f.Places)/places)
}

// faults returns what a plan breaks of a place's limits.
func (p Plan) faults(f *Fleet, l Limits, sc scenario.Scenario, targets int) (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if l.Sockets > 0 && p.Open > l.Sockets {
		open := targets * atOnce(sc)
		fits := ceil(open, l.Sockets)
		fault("%s of %g sessions a second for up to %v each may have %d open at a time, %d in each of %d workers, more than the %d sockets of one: take --count %d",
			arms(targets), sc.Arrivals.Rate, min(sc.Timeout, sc.Arrivals.For), open, p.Open, p.Workers, l.Sockets, fits)
	}
	if l.Length > 0 && p.Length > l.Length {
		advice := "take a shorter timeout"
		if p.Lead > sc.Timeout {
			advice = "take a shorter --lead"
		}
		if left := l.Length - (p.Length - sc.Arrivals.For); left > 0 {
			advice = fmt.Sprintf("take %v of arrivals at most, and a higher rate", left)
		}
		fault("lead %v + arrivals %v + timeout %v + %v to end are %v, more than the %v that a function may take: %s",
			p.Lead, sc.Arrivals.For, sc.Timeout, grace, p.Length, l.Length, advice)
	}
	event, kind := l.Event, "a job"
	if f.Async {
		event, kind = l.AsyncEvent, "a job that is not waited for"
	}
	if event > 0 && p.Event > event {
		fault("a job has %d bytes, and %s may have %d: make the scenario smaller, or the certificates and headers that go with it", p.Event, kind, event)
	}
	return faults
}

func arms(targets int) string {
	if targets == 2 {
		return "arrivals at two apps"
	}
	return "arrivals"
}

// String says the plan in a line.
func (p Plan) String() string {
	text := fmt.Sprintf("%d workers, %d sessions each at most, %d open at a time at most, %v long at most", p.Workers, p.Each, p.Open, p.Length)
	if p.Cost > 0 {
		text += fmt.Sprintf(", $%.4f a load at most", math.Ceil(p.Cost*1e4)/1e4)
	}
	return text
}
