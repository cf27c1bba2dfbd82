package gate

import (
	"fmt"
	"math"

	gonum "gonum.org/v1/gonum/stat"

	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/stat"
)

// kinFrom is the least number of baseline records that show how machines differ.
const kinFrom = 3

// kin returns the baseline's records that were made on head's kind of machine, oldest first.
func (j *judgement) kin(base, head *record.Record) []*record.Record {
	var kin []*record.Record
	for _, r := range append(j.policy.History[:len(j.policy.History):len(j.policy.History)], base) {
		if sameKind(r.Environment, head.Environment) {
			kin = append(kin, r)
		}
	}
	return kin
}

// predicted holds head, as one draw of what machines of its kind do, against the spread of the baseline's records. More runs on
// one machine never make a machine's difference significant.
func (j *judgement) predicted(c *comparison, m matched, head []float64) estimate {
	var means, spreads, lengths []float64
	for _, r := range j.past {
		s := r.Scenario(m.scenario)
		if s == nil || s.Identity != j.head.Scenario(m.scenario).Identity {
			continue
		}
		sd := newSide(s, record.Head, func(*record.Run) {})
		logarithms, _, fatal := sd.values(c.def.Name, record.Head)
		if fatal != "" || len(logarithms) == 0 {
			continue
		}
		means = append(means, float64(c.scale)*gonum.Mean(logarithms, nil))
		lengths = append(lengths, float64(len(logarithms)))
		if len(logarithms) > 1 {
			spreads = append(spreads, gonum.Variance(logarithms, nil))
		}
	}
	f := &c.finding
	f.NBase = len(means)
	if len(means) < kinFrom {
		f.Reason = fmt.Sprintf("base was measured on another machine, and %d baseline records of head's kind of machine are fewer than %d: measure both builds interleaved on one machine", len(means), kinFrom)
		return estimate{evidence: nothing{}, middle: float64(c.scale) * math.Log(f.Head/f.Base), method: methodPredict}
	}
	f.Base = math.Exp(float64(c.scale) * gonum.Mean(means, nil))
	extra := 0.0
	if len(spreads) > 0 {
		extra = gonum.Mean(spreads, nil) * max(0, 1/float64(len(head))-gonum.Mean(inverses(lengths), nil))
	}
	return ofShift(stat.Predict(means, float64(c.scale)*gonum.Mean(head, nil), extra), methodPredict)
}

func inverses(x []float64) []float64 {
	inv := make([]float64, len(x))
	for i, v := range x {
		inv[i] = 1 / v
	}
	return inv
}
