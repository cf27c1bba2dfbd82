package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/stat"
)

// A Trend is the history of one metric of one scenario.
type Trend struct {
	Scenario  string   `json:"scenario"`
	Metric    string   `json:"metric"`
	Unit      string   `json:"unit"`
	Better    string   `json:"better"`
	Gated     bool     `json:"gated"`
	Relative  bool     `json:"relative"` // head is followed as a ratio to the base arm beside it, which no machine changes
	Threshold float64  `json:"threshold"`
	Outcome   Outcome  `json:"verdict"`
	Reason    string   `json:"reason,omitempty"`
	Points    []Point  `json:"points"`
	Changes   []Change `json:"changes"`
	Moves     []int    `json:"moves,omitempty"` // points that are the first on another machine, or of a relative trend beside another build
	Drifts    []Drift  `json:"drifts,omitempty"`
	Noise     float64  `json:"noise"`    // of one night around its level, as a ratio
	LeftOut   int      `json:"left_out"` // nights that ran the scenario with another load, or of a relative trend without a base run to judge
}

// A Point is one night of a trend. Values are in base units, of a relative trend ratios.
type Point struct {
	Night int     `json:"night"` // in the history's nights
	Value float64 `json:"value"` // median of the runs
	Low   float64 `json:"low"`   // of the runs, in base units
	High  float64 `json:"high"`
	Level float64 `json:"level"` // of its stretch between two changes, as it would be on the newest machine
	Spike bool    `json:"spike,omitempty"`
	Moved float64 `json:"moved,omitempty"` // ratio, less 1, that brings the value to the newest machine, or to the newest build beside it

	// Runs are the single runs, as Value is their median: in base units, of a relative trend ratios of the runs of a pair. JSON has their extremes.
	Runs []float64 `json:"-"`

	aligned float64 // logarithm, as it would be on the newest machine
}

// A Cause says what a change of level comes from.
type Cause string

// The causes.
const (
	Code    Cause = "code"      // nothing else is known to have changed
	Machine Cause = "machine"   // another machine, or the calibration load changed as well
	Pin     Cause = "reference" // another build to hold against
)

// A Change is a step that lasts: Points[At] is the first on the new level.
type Change struct {
	At       int     `json:"at"`
	Cause    Cause   `json:"cause"`
	Change   float64 `json:"change"`         // ratio of the levels, less 1
	Worse    bool    `json:"worse"`          //
	From     string  `json:"from,omitempty"` // commit of the last night before
	To       string  `json:"to,omitempty"`   // commit of the first night after: what changed lies between
	P        float64 `json:"p,omitempty"`    // chance of a step as clear where there is none
	Nights   int     `json:"nights"`         // that have confirmed it
	Accepted string  `json:"accepted,omitempty"`
	Open     bool    `json:"open"` // worse by the threshold or more, and neither accepted nor made good since
}

// fewestNights is how many nights a trend must have before anything can be said.
const fewestNights = 6

// trend follows one metric.
func (h *historian) trend(scenario string, def metric.Def) Trend {
	gated := h.policy.gates(def)
	t := Trend{Scenario: scenario, Metric: def.Name, Unit: string(def.Unit), Better: better(def.Better), Gated: gated, Points: []Point{}, Changes: []Change{}}
	identity := ""
	if s, ok := h.newest(scenario); ok {
		identity = s.identity
	}
	t.Relative = h.relative(scenario, def.Name, identity)
	var values, relative []float64
	var nights []int
	for i := range h.nights {
		s, ok := h.nights[i].scenarios[scenario]
		f, has := s.figures[def.Name]
		if !ok || !has {
			continue
		}
		if s.identity != identity || t.Relative && f.base <= 0 {
			t.LeftOut++
			continue
		}
		t.Points = append(t.Points, Point{Night: i, Value: f.head, Low: f.low, High: f.high, Runs: f.runs})
		nights, values, relative = append(nights, i), append(values, math.Log(f.head)), append(relative, math.Log(f.head/f.base))
	}
	if len(values) == 0 {
		return t
	}
	threshold, _ := h.policy.threshold(scenario, def.Name, h.nights[nights[len(nights)-1]].Measured)
	t.Threshold = threshold
	keys, cause := places(h.nights, nights), Machine
	var known []link
	if t.Relative {
		values, keys, cause = relative, pins(h.nights, nights), Pin
		known = links(h.nights, nights, values, keys, h.seed)
		for i := range t.Points {
			t.Points[i].Value = math.Exp(relative[i])
			t.Points[i].Runs = h.nights[nights[i]].scenarios[scenario].figures[def.Name].pairs
		}
	}
	aligned, meetings := align(values, keys, known)
	t.move(values, aligned, meetings)
	h.follow(&t, def, aligned, keys, meetings, cause)
	return t
}

// relative says whether a metric can be followed as a ratio: head had a base arm beside it on every night. Of a few that arm may have come to nothing.
func (h *historian) relative(scenario, name, identity string) bool {
	found := false
	for i := range h.nights {
		s := h.nights[i].scenarios[scenario]
		f, has := s.figures[name]
		if !has || s.identity != identity {
			continue
		}
		if !h.nights[i].paired {
			return false
		}
		found = found || f.base > 0
	}
	return found
}

// follow finds what happened in a trend, by its aligned values.
func (h *historian) follow(t *Trend, def metric.Def, aligned []float64, keys []string, meetings []shift, cause Cause) {
	t.Noise = math.Expm1(stat.Noise(aligned))
	for _, i := range stat.Spikes(aligned) {
		t.Points[i].Spike = true
	}
	steps := stat.Steps(aligned, h.seed)
	from := 0
	for i := 0; i <= len(steps); i++ {
		to := len(aligned)
		if i < len(steps) {
			to = steps[i].At
		}
		level := stat.Median(aligned[from:to])
		for k := from; k < to; k++ {
			t.Points[k].aligned, t.Points[k].Level = aligned[k], math.Exp(level)
		}
		from = to
	}
	for i, s := range steps {
		t.Changes = append(t.Changes, h.change(t, def, steps, i, s))
	}
	for _, c := range t.Changes { // what the machine did is no drift
		for k := range t.Points[:c.At] {
			if c.Cause == Machine {
				t.Points[k].aligned += math.Log1p(c.Change)
			}
		}
	}
	for _, m := range meetings {
		if lasting(keys, m.at) && math.Abs(m.by) > max(stat.Noise(aligned), math.Log1p(t.Threshold)/2) {
			t.Changes = append(t.Changes, h.describe(t, def, Change{At: m.at, Cause: cause, Change: math.Expm1(m.by), Nights: len(t.Points) - m.at}))
		}
	}
	slices.SortStableFunc(t.Changes, func(a, b Change) int { return a.At - b.At })
	h.settle(t)
}

// move says where the machine, or the build beside it, became another one, and what that makes of the values.
func (t *Trend) move(values, aligned []float64, meetings []shift) {
	for i, v := range aligned {
		t.Points[i].Moved = math.Expm1(v - values[i])
	}
	for _, m := range meetings {
		t.Moves = append(t.Moves, m.at)
	}
}

// lasting says whether a change of keys was for good: the one is never back, the other was never there before. Machines of a fleet come and go.
func lasting(keys []string, at int) bool {
	return !slices.Contains(keys[at:], keys[at-1]) && !slices.Contains(keys[:at], keys[at])
}

// change describes a step.
func (h *historian) change(t *Trend, def metric.Def, steps []stat.Break, i int, s stat.Break) Change {
	to := len(t.Points)
	if i+1 < len(steps) {
		to = steps[i+1].At
	}
	by := math.Log(t.Points[s.At].Level / t.Points[s.At-1].Level)
	c := Change{At: s.At, Cause: Code, Change: math.Expm1(by), P: s.P, Nights: to - s.At}
	if !t.Relative && h.calibrated(t, def, s.At, by) {
		c.Cause = Machine
	}
	c = h.describe(t, def, c)
	worse := func(k int) bool {
		since := math.Log(t.Points[k].Level / t.Points[s.At-1].Level)
		return scaleOf(def).worsening(float64(scaleOf(def))*since) >= t.Threshold
	}
	c.Open = c.Worse && c.Cause == Code && worse(s.At)
	for k := s.At; k < len(t.Points) && c.Accepted == "" && (k < to || c.Open); k++ {
		c.Open = c.Open && worse(k) // else it was made good, and what came later is another matter
		if k < to || c.Open {
			c.Accepted = h.accepted(t, k) // of what stands by then, all of it
		}
	}
	c.Open = c.Open && c.Accepted == ""
	return c
}

// accepted returns the reason given for a point, or for a night between it and the next that says nothing of the trend.
func (h *historian) accepted(t *Trend, k int) string {
	to := len(h.nights)
	if k+1 < len(t.Points) {
		to = t.Points[k+1].Night
	}
	for _, n := range h.nights[t.Points[k].Night:to] {
		if n.Accepted != "" {
			return n.Accepted
		}
	}
	return ""
}

func (h *historian) describe(t *Trend, def metric.Def, c Change) Change {
	c.Worse = def.Better == metric.Lower && c.Change > 0 || def.Better == metric.Higher && c.Change < 0
	c.From, c.To = h.nights[t.Points[c.At-1].Night].Commit, h.nights[t.Points[c.At].Night].Commit
	return c
}

// calibrated says whether the calibration load changed with a step, by half of it or more: then the machine did it. Memory does not hang on a machine's speed.
func (h *historian) calibrated(t *Trend, def metric.Def, at int, by float64) bool {
	if def.Unit == metric.Bytes || def.Counts {
		return false
	}
	load := func(from, to int) []float64 {
		var logs []float64
		for _, p := range t.Points[max(0, from):min(len(t.Points), to)] {
			if c := h.nights[p.Night].calibration; c > 0 {
				logs = append(logs, math.Log(c))
			}
		}
		return logs
	}
	before, after := load(at-8, at), load(at, at+8)
	if len(before) < 2 || len(after) < 2 {
		return false
	}
	shift := stat.Median(after) - stat.Median(before)
	return shift*by*float64(scaleOf(def)) > 0 && math.Abs(shift) >= math.Abs(by)/2 && math.Abs(shift) > 2*stat.Noise(append(before, after...))
}

// settle says what the trend comes to.
func (h *historian) settle(t *Trend) {
	n := len(t.Points)
	if n < fewestNights {
		t.Outcome, t.Reason = Inconclusive, fmt.Sprintf("%d of the %d records that it takes to say anything", n, fewestNights)
		return
	}
	t.Outcome = Pass
	for _, c := range t.Changes {
		switch {
		case c.Open:
			t.Outcome, t.Reason = Regression, fmt.Sprintf("%s of %s changed by %+.1f %% %s", t.Metric, t.Scenario, c.Change*100, h.between(t, c))
		case t.Outcome == Pass && c.Cause == Code && !c.Worse:
			t.Outcome = Improvement
		}
	}
}

// between says when a change happened, in commits where they are known.
func (h *historian) between(t *Trend, c Change) string {
	if c.From != "" && c.To != "" && c.From != c.To {
		return fmt.Sprintf("between %.12s and %.12s", c.From, c.To)
	}
	return "on " + h.nights[t.Points[c.At].Night].Measured.Format(Day)
}
