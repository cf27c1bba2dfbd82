package gate

import (
	"fmt"
	"math"

	gonum "gonum.org/v1/gonum/stat"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/stat"
)

const (
	// kinFrom is the least number of baseline records that show how machines differ.
	kinFrom = 3
	// explained is the chance below which the calibration load is taken to explain how machines differ.
	explained = 0.05
)

// kin returns the baseline's records that were made on head's kind of machine and driven from where head was, oldest first.
func (j *judgement) kin(base, head *record.Record) []*record.Record {
	var kin []*record.Record
	for _, r := range append(j.policy.History[:len(j.policy.History):len(j.policy.History)], base) {
		if sameKind(r.Environment, head.Environment) && drivenAlike(r, head) {
			kin = append(kin, r)
		}
	}
	return kin
}

// A draw is what one metric's runs in one record say, as one draw of what machines do.
type draw struct {
	mean        float64 // badness
	inverse     float64 // of the number of runs
	spread      float64 // variance of single runs, NaN for one run
	calibration float64 // logarithm of the calibration load, NaN where it was not run
}

func (c *comparison) draw(logarithms []float64, e record.Environment, load string) draw {
	d := draw{mean: float64(c.scale) * gonum.Mean(logarithms, nil), inverse: 1 / float64(len(logarithms)), calibration: math.NaN(), spread: math.NaN()}
	if len(logarithms) > 1 {
		d.spread = gonum.Variance(logarithms, nil)
	}
	if len(e.Calibration) > 0 && e.CalibrationLoad == load {
		d.calibration = math.Log(gonum.Mean(e.Calibration, nil))
	}
	return d
}

// draws returns what the baseline's records say.
func (j *judgement) draws(c *comparison, scenario string) []draw {
	var all []draw
	for _, r := range j.past {
		s := r.Scenario(scenario)
		if s == nil || s.Identity != j.head.Scenario(scenario).Identity {
			continue
		}
		side := newSide(s, record.Head, func(*record.Run) {})
		if logarithms, _, fatal := side.values(c.def.Name, record.Head); fatal == "" && len(logarithms) > 0 {
			all = append(all, c.draw(logarithms, r.Environment, j.head.Environment.CalibrationLoad))
		}
	}
	return all
}

// predicted holds head, as one draw of what machines of its kind do, against the spread of the baseline's records. More runs on
// one machine never make a machine's difference significant.
func (j *judgement) predicted(c *comparison, m matched, head []float64) estimate {
	f, past, here := &c.finding, j.draws(c, m.scenario), c.draw(head, j.head.Environment, j.head.Environment.CalibrationLoad)
	f.NBase = len(past)
	if len(past) < kinFrom {
		f.Reason = fmt.Sprintf("base was measured on another machine, and %d baseline records of head's kind of machine are fewer than %d: measure both builds interleaved on one machine", len(past), kinFrom)
		return estimate{evidence: nothing{}, middle: float64(c.scale) * math.Log(f.Head/f.Base), method: methodPredict}
	}
	var means, calibrations, inverses, spreads []float64
	for _, d := range past {
		means, calibrations, inverses = append(means, d.mean), append(calibrations, d.calibration), append(inverses, d.inverse)
		if !math.IsNaN(d.spread) {
			spreads = append(spreads, d.spread)
		}
	}
	f.Base = math.Exp(float64(c.scale) * gonum.Mean(means, nil))
	extra := 0.0
	if len(spreads) > 0 { // of fewer runs than the baseline's records have
		extra = gonum.Mean(spreads, nil) * max(0, here.inverse-gonum.Mean(inverses, nil))
	}
	if c.def.Unit != metric.Bytes && !math.IsNaN(here.calibration) && stat.Explains(means, calibrations) < explained {
		for i := range means {
			means[i] -= calibrations[i]
		}
		return ofShift(stat.Predict(means, here.mean-here.calibration, extra), methodPredict+methodCalibrated)
	}
	return ofShift(stat.Predict(means, here.mean, extra), methodPredict)
}
