package gate

import (
	"fmt"
	"math"

	gonum "gonum.org/v1/gonum/stat"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/stat"
)

// matched is one scenario with both its sides.
type matched struct {
	scenario   string
	base, head side
	pairs      []couple // of interleaved arms
}

// A couple is two runs that were made one after the other.
type couple struct{ base, head *record.Run }

// pairsOf returns the pairs of which both runs may be judged, in order.
func pairsOf(base, head side) []couple {
	heads := make(map[int]*record.Run, len(head.runs))
	for _, r := range head.runs {
		heads[r.Pair] = r
	}
	pairs := []couple{}
	for _, b := range base.runs {
		if h, ok := heads[b.Pair]; ok {
			pairs = append(pairs, couple{b, h})
		}
	}
	return pairs
}

// A comparison is a finding in the making: all but the correction for how many metrics there are.
type comparison struct {
	finding  Finding
	def      metric.Def
	scale    scale
	estimate estimate
	delta    float64 // the threshold, in badness
	above    float64 // chance of figures this bad if nothing had changed; with a strict policy, if it had by the threshold
	below    float64 // the same for the better
	testable bool    // it could fail
	attempts int     // runs of head that were made, judged or not
	settled  bool    // decided by something else than the estimate
	hold     string  // why it must not pass
	slack    float64 // badness that something else than the app may explain: none of it counts
}

// compare judges one metric of one scenario by itself.
func (j *judgement) compare(m matched, def metric.Def) *comparison {
	c := &comparison{def: def, scale: scaleOf(def), attempts: m.head.attempted, above: 1, below: 1}
	threshold, by := j.policy.threshold(m.scenario, def.Name, j.head.Created)
	c.finding = newFinding(m.scenario, def, j.policy.gates(def))
	c.finding.Threshold, c.finding.Accepted = threshold, by
	c.estimate.evidence = nothing{}
	if m.base.doubtful || m.head.doubtful {
		c.hold = "the machine was full, so that the load was not the one that was asked for"
	}
	if def.Counts {
		j.compareCounts(c, m)
		return c
	}
	j.compareRatios(c, m)
	return c
}

func newFinding(scenario string, def metric.Def, gated bool) Finding {
	unknown := math.NaN()
	return Finding{
		Scenario: scenario, Metric: def.Name, Unit: string(def.Unit), Better: better(def.Better), Gated: gated, Warnings: []string{},
		Base: unknown, Head: unknown, Change: unknown, Lower: unknown, Upper: unknown, SmallestVisible: unknown,
	}
}

func better(d metric.Direction) string {
	switch d {
	case metric.Lower:
		return "lower"
	case metric.Higher:
		return "higher"
	}
	return ""
}

// compareRatios judges a metric by the ratio of head to base.
func (j *judgement) compareRatios(c *comparison, m matched) {
	f := &c.finding
	base, head, fault := c.samples(m)
	f.NBase, f.NHead = len(base), len(head)
	f.Base, f.Head = geometric(base), geometric(head)
	if fault == "" {
		fault = j.lacking(m, c.def.Name, base, head)
	}
	if len(base) > 0 && len(head) > 0 {
		f.Change = f.Head/f.Base - 1
		c.widen()
	}
	if fault != "" {
		f.Reason = fault
		if f.NBase > 0 && f.NHead > 0 && min(f.NBase, f.NHead) < 2 {
			f.RunsNeeded = fewest
		}
		return
	}
	c.estimate = j.estimate(c, m, base, head)
	j.calibrated(c, m)
	if j.doubt.why != "" {
		c.hold, c.slack = j.doubt.why, j.doubt.explains
	}
	f.Change, f.Method = c.scale.change(c.estimate.middle), c.estimate.method
	at := c.slack
	if j.policy.Strict {
		at += c.delta
	}
	at = start(at)
	_, none := c.estimate.evidence.(nothing)
	c.above, c.below, c.testable = c.estimate.Above(at), c.estimate.Below(-at), !none
}

// fewest is the number of runs a side that is asked for where one says nothing.
const fewest = 5

// geometric returns the geometric mean of values whose logarithms are given, NaN of none.
func geometric(logarithms []float64) float64 { return math.Exp(gonum.Mean(logarithms, nil)) }

// samples returns both sides' logarithms, and of pairs only those in which both runs have the metric.
func (c *comparison) samples(m matched) (base, head []float64, fault string) {
	name, f := c.def.Name, &c.finding
	base, warning, fatal := m.base.values(name, record.Base)
	f.warn(warning)
	head, warning, fatalHead := m.head.values(name, record.Head)
	f.warn(warning)
	if fatal == "" {
		fatal = fatalHead
	}
	if fatal != "" || m.pairs == nil {
		return base, head, fatal
	}
	base, head = base[:0], head[:0]
	for _, p := range m.pairs {
		b, wrongBase := value(p.base, name)
		h, wrongHead := value(p.head, name)
		if wrongBase == "" && wrongHead == "" {
			base, head = append(base, b), append(head, h)
		}
	}
	return base, head, ""
}

func (f *Finding) warn(warning string) {
	if warning != "" {
		f.Warnings = append(f.Warnings, warning)
	}
}

// widen raises the threshold to what the metric's floor is of the base, and takes it to badness.
func (c *comparison) widen() {
	f := &c.finding
	if floor := floors[c.def.Unit]; floor > 0 && c.def.Better == metric.Lower {
		f.Floor = floor
		f.Threshold = max(f.Threshold, floor/f.Base)
	}
	c.delta = c.scale.badness(f.Threshold)
}

// lacking returns why there are too few runs to judge by, empty where there are enough.
func (j *judgement) lacking(m matched, name string, base, head []float64) string {
	switch {
	case !m.base.present:
		return "only head has this scenario"
	case !m.head.present:
		return "only base has this scenario"
	case !m.base.has(name) && !m.head.has(name):
		return "neither side has it" + because(m, name)
	case !m.base.has(name):
		return "base does not have it" + because(m, name)
	case !m.head.has(name):
		return "head does not have it" + because(m, name)
	case len(base) == 0 || len(head) == 0:
		return "no run counts"
	case j.v.Design == OtherMachines:
		return ""
	case len(base) < 2 || len(head) < 2:
		return lone(len(base), len(head))
	}
	return ""
}

// lone says that an arm has only one run to judge.
func lone(base, head int) string {
	return fmt.Sprintf("runs that may be judged: %d of base, %d of head; one run says nothing about the spread", base, head)
}

// because returns the first reason that a run gives for not having a metric.
func because(m matched, name string) string {
	for _, s := range []side{m.base, m.head} {
		for _, r := range s.runs {
			if why := r.Missing[name]; why != "" {
				return ": " + why
			}
		}
	}
	return ""
}

// estimate applies the method that the design and the number of runs ask for.
func (j *judgement) estimate(c *comparison, m matched, base, head []float64) estimate {
	switch j.v.Design {
	case OtherMachines:
		return j.predicted(c, m, head)
	case Pairs:
		pairs := c.statPairs(m)
		if c.finding.Gated {
			c.second(pairs)
			c.flagPairs(pairs)
		}
		return j.paired(c, m, pairs)
	}
	base, head = c.scale.all(base), c.scale.all(head)
	if c.finding.Gated {
		c.flag(base, head)
	}
	return j.unpaired(c, m, base, head)
}

// statPairs returns the pairs in which both runs have the metric, in badness.
func (c *comparison) statPairs(m matched) []stat.Pair {
	pairs := make([]stat.Pair, 0, len(m.pairs))
	for _, p := range m.pairs {
		b, wrongBase := value(p.base, c.def.Name)
		h, wrongHead := value(p.head, c.def.Name)
		if wrongBase == "" && wrongHead == "" {
			pairs = append(pairs, stat.Pair{Base: float64(c.scale) * b, Head: float64(c.scale) * h, HeadFirst: p.head.Started.Before(p.base.Started)})
		}
	}
	return pairs
}

// all turns logarithms into badness.
func (s scale) all(logarithms []float64) []float64 {
	bad := make([]float64, len(logarithms))
	for i, v := range logarithms {
		bad[i] = float64(s) * v
	}
	return bad
}

// second notes what signed ranks say.
func (c *comparison) second(pairs []stat.Pair) {
	if len(pairs) >= signedFrom {
		c.finding.Second = &Second{Method: "signed-rank-exact", P: stat.SignedRank(differences(pairs))}
	}
}
