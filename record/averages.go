package record

import (
	"math"
	"slices"
)

// give adds the averages to a run's metrics. The two monitors print at one moment, so that their lines may stand in each other's: an
// average belongs to whom the samples say, and only where there are none to the name that it follows.
func (a averages) give(metrics map[string]float64, of map[string]*samples) {
	var cpu, memory [2]float64
	for i, name := range []string{"APP", "DB"} {
		c, m := of[name].series()
		cpu[i], memory[i] = mean(c), mean(m)
	}
	assign(metrics, "cpu", a.names, a.cpu, cpu)
	assign(metrics, "ram", a.names, a.memory, memory)
}

// assign sets a metric of app and database. Where the log ends before a monitor's last words, the mean of its samples stands in.
func assign(metrics map[string]float64, name string, order []string, values []float64, sampled [2]float64) {
	app, db := sampled[0], sampled[1]
	switch {
	case len(values) == 2 && known(sampled[:]):
		app, db = values[0], values[1]
		if away(values[0], sampled[0])+away(values[1], sampled[1]) > away(values[1], sampled[0])+away(values[0], sampled[1]) {
			app, db = db, app
		}
	case len(values) == len(order):
		for i, who := range order {
			if who == "APP" {
				app = values[i]
			} else {
				db = values[i]
			}
		}
	}
	for full, v := range map[string]float64{name: app, "db." + name: db} {
		if !math.IsNaN(v) {
			metrics[full] = round(v)
		}
	}
}

func known(values []float64) bool { return !slices.ContainsFunc(values, math.IsNaN) }

// away says how far two figures are apart, as a ratio.
func away(a, b float64) float64 { return math.Abs(math.Log((a + 1e-9) / (b + 1e-9))) }

// mean returns NaN for no values.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
