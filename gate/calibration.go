package gate

import (
	"fmt"
	"math"

	gonum "gonum.org/v1/gonum/stat"

	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/stat"
)

const (
	// calibrationFrom is the number of A/A records from which they say what this machine can hold.
	calibrationFrom = 20
	// The tolerance bound covers this share of the changes seen where nothing changed, with this confidence.
	tolerated, toleratedAt = 0.95, 0.95
)

// A subject is one metric of one scenario.
type subject struct{ scenario, identity, metric string }

// calibrate returns the bound of the changes that A/A records saw in a metric, in badness, 0 where there are too few.
func (j *judgement) calibrate(c *comparison, m matched) float64 {
	s := j.head.Scenario(m.scenario)
	if len(j.policy.AA) < calibrationFrom || s == nil {
		return 0
	}
	if j.changes == nil {
		j.changes = changes(j.policy.AA, j.head.Environment)
	}
	seen := j.changes[subject{m.scenario, s.Identity, c.def.Name}]
	if len(seen) < calibrationFrom {
		return 0
	}
	return stat.Tolerance(seen, tolerated, toleratedAt)
}

// changes returns the change that each A/A record of such a machine saw in each metric. Their direction does not matter.
func changes(records []*record.Record, machine record.Environment) map[subject][]float64 {
	seen := make(map[subject][]float64)
	for _, r := range records {
		if !sameKind(r.Environment, machine) {
			continue
		}
		j := newJudgement(Policy{}, r)
		j.v.Design = Pairs
		for i := range r.Scenarios {
			s := &r.Scenarios[i]
			j.comparisons = nil
			j.scenario(s.Name, s, record.Base, s, record.Head)
			for _, c := range j.comparisons {
				if c.testable && !c.def.Counts {
					at := subject{s.Name, s.Identity, c.def.Name}
					seen[at] = append(seen[at], c.estimate.middle)
				}
			}
		}
	}
	return seen
}

// calibrated keeps a metric undecided whose threshold the machine cannot hold, unless the change is beyond what it can.
func (j *judgement) calibrated(c *comparison, m matched) {
	bound := j.calibrate(c, m)
	if bound <= 0 {
		return
	}
	c.finding.Holds = c.scale.worsening(bound)
	if bound > c.delta {
		c.delta = bound
		c.hold = fmt.Sprintf("A/A records saw changes up to %.1f %% where nothing changed: this machine can hold no smaller threshold", c.finding.Holds*100)
	}
}

// agreement returns how far apart the calibration loads of two records of one machine may be.
func (j *judgement) agreement() float64 {
	var means []float64
	for _, r := range j.policy.AA {
		if load := r.Environment.Calibration; len(load) > 0 {
			means = append(means, math.Log(gonum.Mean(load, nil)))
		}
	}
	if len(means) < calibrationFrom {
		return agreement
	}
	middle := gonum.Mean(means, nil)
	for i := range means {
		means[i] = (means[i] - middle) * math.Sqrt2 // as two records differ
	}
	return math.Expm1(stat.Tolerance(means, tolerated, toleratedAt))
}

// spreads returns how much single runs spread in earlier records of the scenario on this kind of machine, as the method of
// the comparison sees it.
func (j *judgement) spreads(c *comparison, m matched, steady bool) []stat.Spread {
	var past []stat.Spread
	for _, r := range j.policy.History {
		s := r.Scenario(m.scenario)
		if s == nil || s.Identity != j.head.Scenario(m.scenario).Identity || !sameKind(r.Environment, j.head.Environment) {
			continue
		}
		earlier := matched{scenario: s.Name}
		keep := func(*record.Run) {}
		earlier.base, earlier.head = newSide(s, record.Base, keep), newSide(s, record.Head, keep)
		earlier.pairs = pairsOf(earlier.base, earlier.head)
		if spread := c.spread(earlier, steady); spread.DF > 0 {
			past = append(past, spread)
		}
	}
	return past
}

// spread returns how much single runs of a record spread.
func (c *comparison) spread(m matched, steady bool) stat.Spread {
	if steady {
		return stat.SteadyPairs(c.statPairs(m)).Spread
	}
	var pooled stat.Spread
	for _, side := range []side{m.base, m.head} {
		logarithms, _, fatal := side.values(c.def.Name, "")
		if n := float64(len(logarithms) - 1); n > 0 && fatal == "" {
			pooled.Variance += gonum.Variance(logarithms, nil) * n
			pooled.DF += n
		}
	}
	pooled.Variance /= pooled.DF
	return pooled
}

// moderated moves an estimate's error towards what history says. own is the spread of a single run, per the square of the error
// for a variance of 1.
func (j *judgement) moderated(c *comparison, m matched, s stat.Shift, own stat.Spread, per float64, method string) estimate {
	if moved := stat.Moderate(own, j.spreads(c, m, method == methodSteady)); moved != own {
		s.SE, s.DF, method = math.Sqrt(moved.Variance*per), moved.DF, method+methodModerate
	}
	return ofShift(s, method)
}
