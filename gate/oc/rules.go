package main

import (
	"math"

	gonum "gonum.org/v1/gonum/stat"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/stat"
)

// delta is the threshold of every gated metric.
const delta = 0.05

// policy gates the first metrics at delta.
func policy(metrics int) gate.Policy {
	p := gate.Policy{Thresholds: make(map[string]gate.Percent, metrics)}
	for _, name := range gated[:max(4, metrics)] {
		p.Thresholds[name] = delta
	}
	return p
}

// An answer is what a rule said about a build, and about the metric that changed.
type answer struct{ build, metric gate.Outcome }

func answerOf(v *gate.Verdict) answer {
	a := answer{build: v.Outcome}
	for _, f := range v.Metrics {
		if f.Metric == gated[0] {
			a.metric = f.Outcome
		}
	}
	return a
}

// A rival is a rule that other tools use: it looks at the logarithms of one metric and raises an alarm or does not.
type rival struct {
	name  string
	alarm func(base, head []float64) bool
}

var rivals = []rival{
	{"one run over 1.10", func(b, h []float64) bool { return h[0]-b[0] > math.Log(1.1) }},
	{"mean over 1.10", func(b, h []float64) bool { return mean(h)/mean(b) > 1.1 }},
	{"Mann-Whitney .05", func(b, h []float64) bool { return mannWhitney(b, h) <= 0.05 }},
	{"1.1 and Mann-Whitney .002", func(b, h []float64) bool {
		return stat.Median(h)-stat.Median(b) > math.Log(1.1) && mannWhitney(b, h) <= 0.002
	}},
	{"t at .001", func(b, h []float64) bool { return stat.Welch(b, h).Above(0) <= 0.001 }},
}

func mannWhitney(base, head []float64) float64 {
	var ranks stat.Ranks
	return ranks.HodgesLehmann(base, head).Above(0)
}

// mean returns the mean of the values whose logarithms are given.
func mean(logs []float64) float64 {
	values := make([]float64, len(logs))
	for i, v := range logs {
		values[i] = math.Exp(v)
	}
	return gonum.Mean(values, nil)
}

// logs returns an arm's logarithms of one metric.
func logs(rec *record.Record, arm, metric string) []float64 {
	var all []float64
	for i := range rec.Scenarios[0].Runs {
		if r := &rec.Scenarios[0].Runs[i]; r.Arm == arm {
			all = append(all, math.Log(r.Metrics[metric]))
		}
	}
	return all
}
