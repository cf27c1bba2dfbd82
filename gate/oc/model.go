package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/ddpgate/ddpgate/record"
)

// A model is how a metric's runs differ where the app does not.
type model struct {
	name     string
	spread   float64 // standard deviation of the logarithms within a machine
	outliers float64 // share of runs at 1.3 times the usual
	modes    float64 // share of runs at 1.12 times the usual
	machine  float64 // standard deviation between machines
	drift    float64 // a run
	second   float64 // what the second place of a pair costs
	together float64 // correlation of the metrics of a run

	calibrated bool    // records hold a calibration load
	explains   float64 // correlation of its machine effect with that of the metrics
}

var models = []model{
	{name: "CV 3 %", spread: 0.03},
	{name: "CV 5 %", spread: 0.05},
	{name: "CV 10 %", spread: 0.10},
	{name: "10 % outliers ×1.3", spread: 0.03, outliers: 0.1},
	{name: "two modes, 30 % ×1.12", spread: 0.03, modes: 0.3},
	{name: "machines SD 5 %, 2 % inside", spread: 0.02, machine: 0.05},
	{name: "drift 1 % a run", spread: 0.03, drift: 0.01},
	{name: "CV 5 %, correlated 0.7", spread: 0.05, together: 0.7},
}

// gated are the metrics that are gated in the simulation, all at one threshold. The first is the one that changes.
var gated = []string{"cpu_seconds", "time", "session.wait.p50", "ram", "session.p50", "session.p95", "cpu", "ram_peak", "ram_settled", "startup", "node.heap", "size"}

// usual are values far above every floor.
const usual = 1e10

// draw returns a metric value of every run of one place in the order, for all metrics.
func (m model) draw(r *rand.Rand, place, metrics int) []float64 {
	common := r.NormFloat64()
	logs := make([]float64, metrics)
	for i := range logs {
		v := m.spread*(math.Sqrt(m.together)*common+math.Sqrt(1-m.together)*r.NormFloat64()) + m.drift*float64(place) + m.second*float64(place%2)
		if m.outliers > 0 && r.Float64() < m.outliers {
			v += math.Log(1.3)
		}
		if m.modes > 0 && r.Float64() < m.modes {
			v += math.Log(1.12)
		}
		logs[i] = v
	}
	return logs
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// run makes a run of drawn logarithms, of which the first has changed by a factor.
func run(arm string, pair, place int, logs []float64, factor, machine float64) record.Run {
	values := make(map[string]float64, len(logs)+1)
	for i, v := range logs {
		values[gated[i]] = usual * math.Exp(v+machine)
	}
	values[gated[0]] *= factor
	values["ok"] = 1
	return record.Run{
		Arm: arm, Index: pair, Pair: pair, Started: start.Add(time.Duration(place) * time.Minute), Outcome: record.OK,
		Sessions: record.Sessions{Planned: 240, Started: 240, OK: 240}, Metrics: values,
	}
}

// pairs adds interleaved runs of both arms to a record, up to n pairs. In every two pairs each arm comes first once, in an order
// drawn by lot.
func (m model) pairs(r *rand.Rand, rec *record.Record, n, metrics int, factor float64) {
	s := &rec.Scenarios[0]
	for pair := len(s.Runs) / 2; pair < n; pair++ {
		headFirst := r.IntN(2) == 1
		if pair%2 == 1 {
			headFirst = !s.Runs[2*pair-1].Started.Before(s.Runs[2*pair-2].Started)
		}
		b, h := 2*pair, 2*pair+1
		if headFirst {
			b, h = h, b
		}
		s.Runs = append(s.Runs, run(record.Base, pair, b, m.draw(r, b, metrics), 1, 0), run(record.Head, pair, h, m.draw(r, h, metrics), factor, 0))
	}
}

// alone makes a record of one app on one machine.
func (m model) alone(r *rand.Rand, n, metrics int, factor float64) *record.Record {
	rec := empty(r)
	machine := m.machine * r.NormFloat64()
	if m.machine == 0 {
		rec.Environment.Machine = "one"
	}
	for i := range n {
		rec.Scenarios[0].Runs = append(rec.Scenarios[0].Runs, run(record.Head, i, i, m.draw(r, i, metrics), factor, machine))
	}
	if m.calibrated {
		own := math.Sqrt(1-m.explains*m.explains) * m.machine * r.NormFloat64()
		rec.Environment.Calibration = []float64{math.Exp(m.explains*machine + own + 0.01*r.NormFloat64())}
	}
	return rec
}

func empty(r *rand.Rand) *record.Record {
	return &record.Record{
		Format: record.Format, Created: start, Environment: record.Environment{Machine: fmt.Sprint(r.Uint64()), CPU: "simulated", Cores: 2},
		Scenarios: []record.Scenario{{Name: "simulated", Identity: "sha256:simulated"}},
	}
}
