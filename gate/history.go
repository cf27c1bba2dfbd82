package gate

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/ddpgate/ddpgate/metric"
)

// A History is what became of a key, night by night. It marshals to what history --json prints, and is all that a chart needs.
type History struct {
	Outcome  Outcome  `json:"verdict"`
	Reason   string   `json:"reason"`
	Nights   []Night  `json:"nights"` // oldest first
	Trends   []Trend  `json:"trends"` // gated ones first, as reports order them
	Warnings []string `json:"warnings,omitempty"`
}

// A historian is a history in the making.
type historian struct {
	policy Policy
	seed   uint64
	nights []Night
	History
}

// JudgeHistory follows every metric through the nights, which may come in any order: steps that last, each with its cause and the commits it lies between,
// single spikes, and slow drift. The history regressed where a gated metric is worse by its threshold or more since a step of the code that nobody accepted or made
// good, or drifted as far in 30 or 90 days. The same seed gives the same answer. An error means that the policy makes no sense.
func JudgeHistory(nights []Night, p Policy, seed uint64) (*History, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	h := &historian{policy: p, seed: seed, nights: slices.Clone(nights)}
	slices.SortStableFunc(h.nights, func(a, b Night) int { return a.Measured.Compare(b.Measured) })
	h.Nights = h.nights
	h.Trends = h.all()
	slices.SortStableFunc(h.Trends, func(a, b Trend) int {
		return cmp.Compare(rankGated(a), rankGated(b))
	})
	if len(h.nights) > 0 {
		h.drifts()
	}
	h.conclude()
	return &h.History, nil
}

// all follows every metric of every scenario, many at a time: they have nothing to do with each other.
func (h *historian) all() []Trend {
	var follow []func() Trend
	for _, scenario := range h.scenarios() {
		for _, def := range h.metrics(scenario) {
			follow = append(follow, func() Trend { return h.trend(scenario, def) })
		}
	}
	trends := make([]Trend, len(follow))
	var all sync.WaitGroup
	for i, f := range follow {
		all.Go(func() { trends[i] = f() })
	}
	all.Wait()
	return trends
}

func rankGated(t Trend) int {
	if t.Gated {
		return 0
	}
	return 1
}

// scenarios returns the names of all scenarios, the newest night's first.
func (h *historian) scenarios() []string {
	var names []string
	for i := len(h.nights) - 1; i >= 0; i-- {
		for _, name := range slices.Sorted(maps.Keys(h.nights[i].scenarios)) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// newest returns what the newest night saw that ran a scenario.
func (h *History) newest(scenario string) (observed, bool) {
	for i := len(h.Nights) - 1; i >= 0; i-- {
		if o, ok := h.Nights[i].scenarios[scenario]; ok {
			return o, true
		}
	}
	return observed{}, false
}

// seenBy is how many points on either side of a change it takes to see it again: with fewer than six a step must be far clearer.
const seenBy = 8

// Evidence returns the ids of the records by which changes of level are seen. A history that keeps them and its newest records still sees what it saw.
func (h *History) Evidence() map[string]bool {
	ids := make(map[string]bool)
	for _, t := range h.Trends {
		for _, c := range t.Changes {
			for _, p := range t.Points[max(0, c.At-seenBy):min(len(t.Points), c.At+seenBy)] {
				ids[h.Nights[p.Night].ID] = true
			}
		}
	}
	return ids
}

// LeftOut says why a night is in none of a scenario's trends; it is empty where it is in some.
func (h *History) LeftOut(scenario string, night int) string {
	n := h.Nights[night]
	o, ran := n.scenarios[scenario]
	newest, _ := h.newest(scenario)
	switch {
	case ran && o.identity != newest.identity:
		return "another load than the newest record's"
	case ran:
		return ""
	case n.unfit[scenario] != "":
		return n.unfit[scenario]
	}
	return NotRun
}

// NotRun is why a night is left out of a scenario that it did not run.
const NotRun = "not run"

// metrics returns the metrics of a scenario that are better in one direction, in the order of reports.
func (h *historian) metrics(scenario string) []metric.Def {
	found := make(map[string]bool)
	for i := range h.nights {
		for name := range h.nights[i].scenarios[scenario].figures {
			found[name] = true
		}
	}
	var defs []metric.Def
	for _, name := range slices.SortedFunc(maps.Keys(found), metric.Compare) {
		if def, ok := metric.Lookup(name); ok && def.Better != metric.Neither {
			defs = append(defs, def)
		}
	}
	return defs
}

// conclude takes the worst of the gated trends. A history in which none can be followed says nothing.
func (h *historian) conclude() {
	h.Outcome, h.Reason = Inconclusive, "there is no night with a gated metric"
	if h.Trends == nil {
		h.Trends = []Trend{}
	}
	first := true
	for _, t := range h.Trends {
		if t.Gated && (first || severity(t.Outcome) > severity(h.Outcome)) {
			h.Outcome, h.Reason, first = t.Outcome, t.Reason, false
		}
	}
	if h.Outcome.Passed() {
		h.Outcome, h.Reason = Pass, "no gated metric is worse than it was"
	}
}
