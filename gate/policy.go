package gate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ddpgate/ddpgate/internal/nearest"
	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
)

// A Policy says what counts as a regression, and how sure the gate must be. The exported fields with a YAML name are the gate
// block of the configuration. The zero value is the default policy.
type Policy struct {
	// Confidence is one minus the chance that an unchanged build fails, all gated metrics together; 0 for 0.99.
	Confidence float64 `yaml:"confidence,omitempty" json:"confidence,omitempty"`
	// Thresholds are the smallest changes for the worse that matter, by metric. Naming a metric here gates it.
	Thresholds map[string]Percent `yaml:"thresholds,omitempty" json:"thresholds,omitempty"`
	// Accept are changes that somebody took responsibility for.
	Accept []Acceptance `yaml:"accept,omitempty" json:"accept,omitempty"`
	// Inconclusive says what an inconclusive verdict does to the build: Fail, the default, or Warn.
	Inconclusive string `yaml:"inconclusive,omitempty" json:"inconclusive,omitempty"`
	// Strict calls a change a regression only where all of its interval is beyond the threshold.
	Strict bool `yaml:"strict,omitempty" json:"strict,omitempty"`

	Looks   Looks            `yaml:"-" json:"-"` // of a record whose number of runs was not fixed beforehand; else what it says itself
	History []*record.Record `yaml:"-" json:"-"` // the baseline's records without the one judged against, oldest first
	AA      []*record.Record `yaml:"-" json:"-"` // records of one build measured against itself
}

// What an inconclusive verdict does to the build.
const (
	Fail = "fail"
	Warn = "warn"
)

// Looks says between which numbers of runs a side the measuring may stop early. Where Min is below Max, the levels are spent
// over the looks in between, so that looking often costs no error rate. The zero value is a number fixed beforehand.
type Looks struct {
	Min, Max int
}

// An Acceptance widens one metric's threshold to a change that is known and wanted.
type Acceptance struct {
	Scenario string  `yaml:"scenario,omitempty" json:"scenario,omitempty"` // empty for all
	Metric   string  `yaml:"metric" json:"metric"`
	Change   Percent `yaml:"change" json:"change"` // for the worse
	Reason   string  `yaml:"reason" json:"reason"`
	Until    string  `yaml:"until,omitempty" json:"until,omitempty"` // the last day it holds, as 2027-03-01; empty for no end
}

// Day is how the end of an acceptance is written.
const Day = "2006-01-02"

// Warns says whether an inconclusive verdict only warns.
func (p Policy) Warns() bool { return p.Inconclusive == Warn }

// Validate returns every fault of the policy, joined.
func (p Policy) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if p.Confidence != 0 && !(p.Confidence >= 0.5 && p.Confidence < 1) {
		fault("confidence is %v, must be at least 0.5 and below 1", p.Confidence)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Thresholds)) {
		if err := gateable(name); err != nil {
			fault("thresholds: %w", err)
		}
		if t := p.Thresholds[name]; !(t > 0 && t < 10) {
			fault("thresholds: %s is %v, must be above 0 %% and below 1000 %%", name, t)
		}
	}
	for i, a := range p.Accept {
		if err := a.validate(); err != nil {
			fault("accept[%d]: %w", i, err)
		}
	}
	if p.Inconclusive != "" && p.Inconclusive != Fail && p.Inconclusive != Warn {
		fault("inconclusive: %w", nearest.Unknown("choice", p.Inconclusive, []string{Fail, Warn}))
	}
	if p.Looks.Min > p.Looks.Max || p.Looks.Min < 0 {
		fault("looks from %d to %d runs", p.Looks.Min, p.Looks.Max)
	}
	return errors.Join(faults...)
}

func (a Acceptance) validate() error {
	var faults []error
	if err := gateable(a.Metric); err != nil {
		faults = append(faults, err)
	}
	if !(a.Change > 0 && a.Change < 10) {
		faults = append(faults, fmt.Errorf("change is %v, must be above 0 %% and below 1000 %%", a.Change))
	}
	if a.Reason == "" {
		faults = append(faults, errors.New("reason is missing"))
	}
	if _, err := time.Parse(Day, a.Until); a.Until != "" && err != nil {
		faults = append(faults, fmt.Errorf("until is %q, must be a day such as 2027-03-01", a.Until))
	}
	return errors.Join(faults...)
}

// gateable returns an error for a name that is no metric or one that is better in neither direction.
func gateable(name string) error {
	def, ok := metric.Lookup(name)
	if !ok {
		return nearest.Unknown("metric", name, metric.Names())
	}
	if def.Better == metric.Neither {
		return fmt.Errorf("%s is never gated: it decides whether a run is valid", name)
	}
	return nil
}
