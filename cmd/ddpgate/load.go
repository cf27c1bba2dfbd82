package main

import (
	"errors"
	"maps"
	"os"
	"time"

	"github.com/ddpgate/ddpgate/scenario"
)

// loadFlags change the load of every scenario. What they change is part of the scenario's identity.
type loadFlags struct {
	Rate      *rate               `placeholder:"N/s" help:"Sessions that arrive, such as 4/s." group:"load"`
	For       *time.Duration      `placeholder:"TIME" help:"How long they arrive, such as 60s." group:"load"`
	Think     *span               `placeholder:"TIME" help:"Pause before each action, such as 500ms or 0..200ms." group:"load"`
	Timeout   *time.Duration      `placeholder:"TIME" help:"Longest time of a session." group:"load"`
	Tasks     *string             `placeholder:"N" help:"Tasks a session, short for --var tasks=N." group:"load"`
	Var       map[string]string   `placeholder:"K=V" mapsep:"none" help:"A variable of the scenarios." group:"load"`
	Transport *scenario.Transport `placeholder:"NAME" help:"sockjs or websocket." group:"load"`
}

// A rate is an arrival rate on the command line, in sessions a second.
type rate float64

// UnmarshalText reads a rate.
func (r *rate) UnmarshalText(text []byte) error {
	n, err := scenario.ParseRate(string(text))
	*r = rate(n)
	return err
}

// A span is a think time on the command line.
type span scenario.Range

// UnmarshalText reads a duration or a range of durations.
func (s *span) UnmarshalText(text []byte) error {
	d, err := scenario.ParseRange(string(text))
	*s = span(d)
	return err
}

// overrides returns what the flags change.
func (l *loadFlags) overrides() (scenario.Overrides, error) {
	o := scenario.Overrides{
		Rate: (*float64)(l.Rate), For: l.For, Think: (*scenario.Range)(l.Think),
		Timeout: l.Timeout, Transport: l.Transport, Vars: maps.Clone(l.Var),
	}
	if l.Tasks == nil {
		return o, nil
	}
	if _, twice := o.Vars["tasks"]; twice {
		return o, errors.New("--tasks and --var tasks are the same: give one")
	}
	if o.Vars == nil {
		o.Vars = make(map[string]string)
	}
	o.Vars["tasks"] = *l.Tasks
	return o, nil
}

// apply returns the scenarios with the flags' changes. The error holds every fault of every scenario.
func (l *loadFlags) apply(scenarios []*scenario.Scenario) ([]scenario.Scenario, error) {
	o, err := l.overrides()
	if err != nil {
		return nil, err
	}
	var changed []scenario.Scenario
	var faults []error
	for _, s := range scenarios {
		c, err := s.With(o)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		changed = append(changed, *c)
	}
	return changed, errors.Join(faults...)
}

// named returns scenarios by the configuration's names, the built-in ones, or files; all of the configuration's where there are no
// names. The error holds every fault.
func named(names []string, configured []*scenario.Scenario) ([]*scenario.Scenario, error) {
	if len(names) == 0 {
		return configured, nil
	}
	known := scenario.Names()
	byName := make(map[string]*scenario.Scenario)
	for _, s := range configured {
		byName[s.Name] = s
		known = append(known, s.Name)
	}
	var found []*scenario.Scenario
	var faults []error
	for _, name := range names {
		s, err := byName[name], error(nil)
		if s == nil {
			s, err = scenario.Load(name, os.ReadFile)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		found = append(found, s)
	}
	return found, errors.Join(faults...)
}
