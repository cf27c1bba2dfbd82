package gate

import (
	"math"
	"time"
)

// A Setback is a change for the worse of a gated metric by its threshold or more: a step of the code, or slow drift. What was accepted
// or made good since is one too, but not open.
type Setback struct {
	Scenario string
	Metric   string
	Records  []string  // ids: of the first record of a step, then of those within three of it, nearest first; none for drift
	Days     int       // in which it drifted; 0 for a step
	Change   float64   // ratio, less 1
	From, To string    // commits between which a step lies; empty where they are not known
	Since    time.Time // when the first record of a step was measured
	Nights   int       // that have confirmed a step
	Accepted string    // why somebody took a step as it is
	Open     bool      // for it the history regressed
}

// Setbacks lists what became worse, metric by metric in the order of the trends.
func (h *History) Setbacks() []Setback {
	var all []Setback
	for _, t := range h.Trends {
		if !t.Gated {
			continue
		}
		steps := h.stepsBack(t)
		if d, drifted := t.drifted(); drifted && !anyOpen(steps) {
			steps = append(steps, Setback{Scenario: t.Scenario, Metric: t.Metric, Days: d.Days, Change: d.Change, Open: true})
		}
		all = append(all, steps...)
	}
	return all
}

func (h *History) stepsBack(t Trend) []Setback {
	var steps []Setback
	for _, c := range t.Changes {
		if c.Cause != Code || !c.Worse || !c.Open && math.Abs(c.Change) < t.Threshold {
			continue
		}
		s := Setback{Scenario: t.Scenario, Metric: t.Metric, Records: h.around(t, c.At), Change: c.Change, From: c.From, To: c.To,
			Since: h.Nights[t.Points[c.At].Night].Measured, Nights: c.Nights, Accepted: c.Accepted, Open: c.Open}
		if s.From == s.To {
			s.From, s.To = "", ""
		}
		steps = append(steps, s)
	}
	return steps
}

// misplaced is by how many nights a step may be placed wrong: more nights place it more exactly.
const misplaced = 3

// around returns the ids of the records at which a step may be placed on another night.
func (h *History) around(t Trend, at int) []string {
	ids := []string{h.Nights[t.Points[at].Night].ID}
	for off := 1; off <= misplaced; off++ {
		for _, i := range []int{at - off, at + off} {
			if i >= 0 && i < len(t.Points) {
				ids = append(ids, h.Nights[t.Points[i].Night].ID)
			}
		}
	}
	return ids
}

// drifted returns the drift for which the trend regressed.
func (t Trend) drifted() (Drift, bool) {
	for _, d := range t.Drifts {
		if t.Outcome == Regression && d.Outcome == Regression {
			return d, true
		}
	}
	return Drift{}, false
}

func anyOpen(steps []Setback) bool {
	for _, s := range steps {
		if s.Open {
			return true
		}
	}
	return false
}
