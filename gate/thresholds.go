package gate

import (
	"math"
	"time"

	"github.com/ddpgate/ddpgate/metric"
)

const (
	defaultConfidence = 0.99
	defaultThreshold  = 0.10
	// passLevel is the confidence that a change is below its threshold. A build passes only where every gated metric does, so
	// that it needs no correction for their number (intersection-union, Berger 1982).
	passLevel = 0.95
	// twiceLevel is the confidence that a change is below twice its threshold, so that few and noisy runs pass hardly any large one.
	twiceLevel = 0.995
	// power is the chance with which the smallest visible change is found.
	power = 0.80
)

// thresholds are the defaults for metrics of which experience is at hand.
var thresholds = map[string]float64{
	"time": 0.05, "time_above_floor": 0.10, "session.wait.p50": 0.10, "cpu_seconds": 0.05, "cpu": 0.05, "ram": 0.10, "ok": 0.01, "size": 0.05,
}

// floors are the smallest changes in base units that matter.
var floors = map[metric.Unit]float64{metric.Seconds: 0.020, metric.Bytes: 5e6, metric.Ratio: 0.01}

func (p Policy) confidence() float64 {
	if p.Confidence == 0 {
		return defaultConfidence
	}
	return p.Confidence
}

// threshold returns the change for the worse of a metric that matters, as a ratio, and the accepted change that widened it.
func (p Policy) threshold(scenario, name string, made time.Time) (float64, *Acceptance) {
	t, named := thresholds[name]
	if !named {
		t = defaultThreshold
	}
	if own, ok := p.Thresholds[name]; ok {
		t = float64(own)
	}
	var by *Acceptance
	for i := range p.Accept {
		a := &p.Accept[i]
		if a.Metric == name && (a.Scenario == "" || a.Scenario == scenario) && a.holds(made) && float64(a.Change) > t {
			t, by = float64(a.Change), a
		}
	}
	return t, by
}

// holds says whether the acceptance still holds for a record that was made then.
func (a Acceptance) holds(made time.Time) bool {
	until, err := time.Parse(Day, a.Until)
	return a.Until == "" || err == nil && made.Before(until.AddDate(0, 0, 1))
}

// gates says whether a metric decides about the build.
func (p Policy) gates(def metric.Def) bool {
	_, named := p.Thresholds[def.Name]
	return (def.Gated || named) && def.Better != metric.Neither
}

// A scale turns a metric's logarithms of ratios into badness, in which more is worse, and back.
type scale float64

func scaleOf(def metric.Def) scale {
	if def.Better == metric.Higher {
		return -1
	}
	return 1
}

// badness returns how bad a threshold ratio for the worse is.
func (s scale) badness(threshold float64) float64 {
	if s < 0 {
		if threshold >= 1 {
			return math.Inf(1)
		}
		return -math.Log1p(-threshold)
	}
	return math.Log1p(threshold)
}

// change turns badness into a change, head/base - 1.
func (s scale) change(badness float64) float64 { return math.Expm1(float64(s) * badness) }

// worsening turns badness into a ratio for the worse.
func (s scale) worsening(badness float64) float64 { return float64(s) * s.change(badness) }
