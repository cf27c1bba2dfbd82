package gate

import (
	"fmt"
	"math"

	"github.com/ddpgate/ddpgate/stat"
)

// evidence is what the runs say about a shift, in badness.
type evidence interface {
	// Above returns the chance of an estimate at least as high if the true shift were theta.
	Above(theta float64) float64
	// Below returns the chance of an estimate at least as low.
	Below(theta float64) float64
	Lower(level float64) float64 // one-sided limits
	Upper(level float64) float64
}

// nothing is the evidence of no runs.
type nothing struct{}

func (nothing) Above(float64) float64 { return 1 }
func (nothing) Below(float64) float64 { return 1 }
func (nothing) Lower(float64) float64 { return math.Inf(-1) }
func (nothing) Upper(float64) float64 { return math.Inf(1) }

// The methods, as verdicts name them.
const (
	methodPaired     = "paired-t-log"
	methodSteady     = "steady-pairs-log"
	methodWelch      = "welch-t-log"
	methodHodges     = "hodges-lehmann-log"
	methodPredict    = "prediction-log"
	methodFisher     = "fisher-exact"
	methodModerate   = "+moderated"
	methodCalibrated = "+calibrated"
)

const (
	// steadyFrom is the number of pairs from which an odd run can be told from the others.
	steadyFrom = 8
	// hodgesFrom is the number of runs a side from which the exact rank test reaches a corrected level.
	hodgesFrom = 8
	// signedFrom is the number of pairs from which signed ranks are shown beside.
	signedFrom = 6
)

// An estimate is evidence with its middle, and the standard error and degrees of freedom that planning goes by.
type estimate struct {
	evidence
	middle float64
	se, df float64
	method string
}

func ofShift(s stat.Shift, method string) estimate {
	return estimate{evidence: s, middle: s.Estimate, se: s.SE, df: s.DF, method: method}
}

// unpaired judges two samples in badness, each run on its own.
func (j *judgement) unpaired(c *comparison, m matched, base, head []float64) estimate {
	w := stat.Welch(base, head)
	if n, k := float64(len(base)), float64(len(head)); min(n, k) < hodgesFrom {
		per := 1/n + 1/k
		return j.moderated(c, m, w, stat.Spread{Variance: w.SE * w.SE / per, DF: w.DF}, per, methodWelch)
	}
	r := j.ranks.HodgesLehmann(base, head)
	half := r.Upper(passLevel) - r.Estimate
	df := float64(len(base) + len(head) - 2)
	return estimate{evidence: r, middle: r.Estimate, se: half / stat.Quantile(passLevel, df), df: df, method: methodHodges}
}

// paired judges pairs in badness.
func (j *judgement) paired(c *comparison, m matched, pairs []stat.Pair) estimate {
	if n := float64(len(pairs)); n < steadyFrom {
		s := stat.Paired(differences(pairs))
		return j.moderated(c, m, s, stat.Spread{Variance: s.SE * s.SE * n / 2, DF: s.DF}, 2/n, methodPaired)
	}
	s := stat.SteadyPairs(pairs)
	if s.PulledIn > 0 {
		c.finding.warn(fmt.Sprintf("%d of %d runs lay far from the others and were pulled in", s.PulledIn, 2*len(pairs)))
	}
	return j.moderated(c, m, s.Shift, s.Spread, s.Per, methodSteady)
}

func differences(pairs []stat.Pair) []float64 {
	d := make([]float64, len(pairs))
	for i, p := range pairs {
		d[i] = p.Head - p.Base
	}
	return d
}
