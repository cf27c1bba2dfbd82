package gate

import (
	"encoding/json"
	"math"

	"github.com/ddpgate/ddpgate/record"
)

// A Verdict is the gate's answer for a build. It marshals to the object that compare --json prints.
type Verdict struct {
	Outcome     Outcome     `json:"verdict"`
	Reason      string      `json:"reason"` // one sentence: the number that decided
	Metrics     []Finding   `json:"metrics"`
	Environment Environment `json:"environment"`
	Design      Design      `json:"design"`
	Confidence  float64     `json:"confidence"`   // one minus the chance that an unchanged build fails
	AA          bool        `json:"aa,omitempty"` // both arms are one version of the app
	Warnings    []string    `json:"warnings,omitempty"`
	Discarded   []Discarded `json:"discarded,omitempty"` // runs that were not judged
}

// A Design says how base and head were measured, which decides how they are compared.
type Design string

// The designs.
const (
	Pairs         Design = "pairs"          // both arms interleaved on one machine
	SameMachine   Design = "same-machine"   // a stored baseline of the machine that head was measured on
	OtherMachines Design = "other-machines" // a stored baseline of other machines
	Alone         Design = "alone"          // head has nothing to be held against
)

// A Finding is the gate's answer for one metric of one scenario, with what it rests on. Base, Head, Change, Lower, Upper and
// SmallestVisible are NaN where they are not known, which is null in JSON.
type Finding struct {
	Scenario string  `json:"scenario"`
	Metric   string  `json:"metric"`
	Unit     string  `json:"unit"`
	Better   string  `json:"better"` // lower or higher; empty for neither
	Outcome  Outcome `json:"verdict"`
	Gated    bool    `json:"gated"`
	Reason   string  `json:"reason,omitempty"` // why it is inconclusive

	Base       float64 `json:"base"`   // base units, middle of the runs as the method takes it
	Head       float64 `json:"head"`   // base units
	Change     float64 `json:"change"` // head/base - 1; of counted metrics head - base
	Lower      float64 `json:"lower"`  // one-sided limits of the change, each at its own level
	Upper      float64 `json:"upper"`
	LowerLevel float64 `json:"lower_level"`
	UpperLevel float64 `json:"upper_level"`
	Method     string  `json:"method"`

	Threshold       float64 `json:"threshold"`       // ratio, always positive; widened by the floor and by an accepted change
	Floor           float64 `json:"floor,omitempty"` // base units: a smaller change than this is none
	Holds           float64 `json:"holds,omitempty"` // ratio: the smallest threshold that A/A records say this machine can hold
	NBase           int     `json:"n_base"`          // runs
	NHead           int     `json:"n_head"`
	SmallestVisible float64 `json:"smallest_visible"` // ratio: the smallest change that these runs could have shown
	RunsNeeded      int     `json:"runs_needed"`      // runs a side that would probably settle it, at most 1000; 0 where it is settled or runs would not help

	Accepted *Acceptance `json:"accepted,omitempty"` // the accepted change that widened the threshold
	Second   *Second     `json:"second,omitempty"`
	Warnings []string    `json:"warnings"`
}

// A Second is another test's opinion of the same runs. It decides nothing.
type Second struct {
	Method string  `json:"method"`
	P      float64 `json:"p"` // one-sided: the chance of runs this bad if nothing changed
}

// Environment says how the machines of both sides compare.
type Environment struct {
	Match   Match    `json:"match"`
	Differs []string `json:"differs"`
	// Drivers are who put the load on an arm, where that was not one process.
	Drivers map[string]record.Drivers `json:"drivers,omitempty"`
}

// A Match says how alike two machines are.
type Match string

// The matches.
const (
	Identical  Match = "identical"  // one machine, or both arms in one record
	Compatible Match = "compatible" // another machine of the same kind
	Mismatched Match = "mismatched" // another kind of machine
	Unknown    Match = "unknown"    // a side does not say; judged as one machine
)

// Discarded is a run that was not judged, by the list of what makes a run invalid and never by its values.
type Discarded struct {
	Scenario string   `json:"scenario"`
	Arm      string   `json:"arm"`
	Index    int      `json:"index"`
	Reasons  []string `json:"reasons"`
}

// Exit returns the exit code of a command that ends with the verdict. With warn, an inconclusive one is 0.
func (v *Verdict) Exit(warn bool) int { return v.Outcome.Exit(warn) }

// Deciding returns the findings that are gated, those that decided first: worst outcome first, otherwise in order.
func (v *Verdict) Deciding() []Finding {
	var found []Finding
	for s := severity(Regression); s >= 0; s-- {
		for _, f := range v.Metrics {
			if f.Gated && severity(f.Outcome) == s {
				found = append(found, f)
			}
		}
	}
	return found
}

// plain is a Finding without its methods; known shadows the fields that may be unknown.
type (
	plain Finding
	known struct {
		*plain
		Base            *float64 `json:"base"`
		Head            *float64 `json:"head"`
		Change          *float64 `json:"change"`
		Lower           *float64 `json:"lower"`
		Upper           *float64 `json:"upper"`
		SmallestVisible *float64 `json:"smallest_visible"`
	}
)

// fields returns the places of the fields that may be unknown, and their shadows.
func (k *known) fields() (values []*float64, shadows []**float64) {
	return []*float64{&k.plain.Base, &k.plain.Head, &k.plain.Change, &k.plain.Lower, &k.plain.Upper, &k.plain.SmallestVisible},
		[]**float64{&k.Base, &k.Head, &k.Change, &k.Lower, &k.Upper, &k.SmallestVisible}
}

// MarshalJSON writes figures that are not known as null.
func (f Finding) MarshalJSON() ([]byte, error) {
	k := known{plain: (*plain)(&f)}
	values, shadows := k.fields()
	for i, v := range values {
		if !math.IsNaN(*v) && !math.IsInf(*v, 0) {
			*shadows[i] = v
		}
	}
	if f.Warnings == nil {
		f.Warnings = []string{}
	}
	return json.Marshal(k)
}

// UnmarshalJSON reads what MarshalJSON wrote; null becomes NaN.
func (f *Finding) UnmarshalJSON(data []byte) error {
	k := known{plain: (*plain)(f)}
	if err := json.Unmarshal(data, &k); err != nil {
		return err
	}
	values, shadows := k.fields()
	for i, s := range shadows {
		*values[i] = math.NaN()
		if *s != nil {
			*values[i] = **s
		}
	}
	return nil
}
