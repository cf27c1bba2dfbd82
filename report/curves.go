package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/report/chart"
	"github.com/ddpgate/ddpgate/stat"
)

// points is how many points of a curve over time are drawn.
const points = 80

// series draws what was sampled in the runs, over time: sessions, processor and memory of each role.
func (c Comparison) series(scenario string) ([]picture, error) {
	arms := c.arms(scenario)
	var all []picture
	for _, name := range keys(arms, func(r record.Run) map[string][]float64 { return r.Series }, bySeries) {
		if name == "t" {
			continue
		}
		title, of := series(name)
		scale := scaleOf(of, extremes(arms, name)...)
		p := picture{kind: overTime, subject: name, title: title + " over time", figures: grid{headers: []string{"time"}, left: map[int]bool{0: true}}}
		curves := chart.Curves{Unit: scale.unit, Across: "s since the load began"}
		var parts []string
		end := longest(arms)
		for i, a := range arms {
			curve := sampled(a, name, end)
			p.figures.headers = append(p.figures.headers, a.name)
			for n := 0; n <= 8; n++ {
				at := n * (points - 1) / 8
				p.figures.set(n, i+1, scaleOf("time", end).write(curve.X[at]), scale.write(curve.Y[at]))
			}
			parts = append(parts, fmt.Sprintf("%s reaches %s", a.name, scale.write(top(curve.High))))
			curves.Arms = append(curves.Arms, curve.of(a, scale))
		}
		p.alt = fmt.Sprintf("%s over time, median of the runs and their range. %s", title, strings.Join(parts, "; "))
		var err error
		if all, err = draw(all, p, curves); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// series returns what a series is called, and a metric that has its unit.
func series(name string) (title, of string) {
	if role, found := strings.CutSuffix(name, ".cpu"); found {
		return "CPU of " + role, "cpu"
	}
	if role, found := strings.CutSuffix(name, ".ram"); found {
		return "RAM of " + role, "ram"
	}
	if name == "sessions" {
		return "Sessions under way", ""
	}
	return name, ""
}

// bySeries puts the app first, then its services, then the sessions.
func bySeries(a, b string) int {
	place := func(name string) int {
		switch {
		case strings.HasPrefix(name, "app."):
			return 0
		case name == "sessions":
			return 2
		}
		return 1
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
}

// keys returns the names in all runs' maps, in order.
func keys[V any](arms []arm, of func(record.Run) map[string]V, order func(a, b string) int) []string {
	names := make(map[string]bool)
	for _, a := range arms {
		for _, r := range a.runs {
			for name := range of(r) {
				names[name] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(names), order)
}

func extremes(arms []arm, name string) []float64 {
	var all []float64
	for _, a := range arms {
		for _, r := range a.runs {
			if len(r.Series[name]) > 0 {
				all = append(all, slices.Max(r.Series[name]))
			}
		}
	}
	return all
}

// longest returns the time of the last sample of all runs.
func longest(arms []arm) float64 {
	end := 0.0
	for _, a := range arms {
		for _, r := range a.runs {
			if t := r.Series["t"]; len(t) > 0 {
				end = max(end, t[len(t)-1])
			}
		}
	}
	return end
}

// sampled returns the middle and the range of an arm's runs at even times.
func sampled(a arm, name string, end float64) curve {
	return over(evenly(end), len(a.runs), func(run int, t float64) float64 {
		return interpolated(a.runs[run].Series["t"], a.runs[run].Series[name], t)
	})
}

func evenly(end float64) []float64 {
	at := make([]float64, points)
	for i := range at {
		at[i] = end * float64(i) / (points - 1)
	}
	return at
}

// interpolated returns a series' value between two samples, NaN before the first and after the last.
func interpolated(times, values []float64, t float64) float64 {
	n := min(len(times), len(values))
	i, _ := slices.BinarySearch(times[:n], t)
	switch {
	case i < n && times[i] == t:
		return values[i]
	case i == 0 || i == n:
		return math.NaN()
	}
	share := (t - times[i-1]) / (times[i] - times[i-1])
	return values[i-1] + share*(values[i]-values[i-1])
}

// A curve is what chart draws of an arm, in base units.
type curve struct{ chart.Curve }

// over returns the middle and the range of so many runs at each place.
func over(places []float64, runs int, value func(run int, at float64) float64) curve {
	c := curve{chart.Curve{X: places}}
	for _, at := range places {
		var values []float64
		for run := range runs {
			if v := value(run, at); !missing(v) {
				values = append(values, v)
			}
		}
		low, middle, high := math.NaN(), math.NaN(), math.NaN()
		if len(values) > 0 {
			low, middle, high = slices.Min(values), stat.Median(values), slices.Max(values)
		}
		c.Low, c.Y, c.High = append(c.Low, low), append(c.Y, middle), append(c.High, high)
	}
	return c
}

// of returns the curve as an arm's, in people's unit.
func (c curve) of(a arm, s scale) chart.Curve {
	scaled := c.Curve
	scaled.Arm = a.of()
	for _, values := range []*[]float64{&scaled.Y, &scaled.Low, &scaled.High} {
		*values = slices.Clone(*values)
		for i := range *values {
			(*values)[i] /= s.factor
		}
	}
	return scaled
}

func top(values []float64) float64 {
	high := math.NaN()
	for _, v := range values {
		if !missing(v) && !(v <= high) {
			high = v
		}
	}
	return high
}
