package chart

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// ErrEmpty says that there is nothing to draw.
var ErrEmpty = errors.New("nothing to draw")

// Runs draw each run of one metric as a dot, in the order in which the runs were made, and each arm's median as a line.
type Runs struct {
	Unit string  // of the values
	Most float64 // that a value can be; 0 where there is no end
	Arms []ArmRuns
}

// ArmRuns are one arm's runs.
type ArmRuns struct {
	Arm    Arm
	Values []float64 // by number of the run; NaN where there is none
	Out    []bool    // by number of the run: it does not count, and is drawn as a cross
	Median float64   // of those that count
}

// A span of less than this share of the values is drawn as that much, so that small noise looks small.
const leastSpan = 0.1

// Draw draws the chart; ErrEmpty where no value can be drawn.
func (r Runs) Draw() (Drawing, error) {
	low, high, most := math.Inf(1), math.Inf(-1), 0
	var arms []Arm
	for _, a := range r.Arms {
		low, high = span(low, high, a.Values...)
		most = max(most, len(a.Values))
		arms = append(arms, a.Arm)
	}
	if low > high {
		return Drawing{}, ErrEmpty
	}
	p := newPlot()
	missing := max(0, leastSpan*max(math.Abs(low), math.Abs(high))-(high-low)) / 2
	if missing == 0 && low == high {
		missing = 1 // all are zero
	}
	margin := (high-low)*0.08 + missing
	bottom, top := low-margin, high+margin
	if low >= 0 {
		bottom = max(0, bottom)
	}
	if r.Most > 0 && high <= r.Most {
		top = min(top, r.Most+(r.Most-bottom)*0.05)
	}
	level(p, bottom, top, round(bottom, top))
	p.X.Min, p.X.Max = 0.5, float64(most)+0.5
	p.X.Tick.Marker = ticks(numbers(most))
	p.X.Label.Text = "run"
	for _, a := range r.Arms {
		if err := a.add(p, len(r.Arms) > 1); err != nil {
			return Drawing{}, err
		}
	}
	return drawn(p, 180, r.Unit, arms)
}

// numbers returns the marks of so many runs.
func numbers(n int) []Tick {
	step := max(1, (n+9)/10)
	var all []Tick
	for i := 1; i <= n; i += step {
		all = append(all, Tick{float64(i), written(float64(i))})
	}
	return all
}

// add adds an arm's dots, beside the other's where there are two.
func (a ArmRuns) add(p *plot.Plot, aside bool) error {
	shift := 0.0
	if aside {
		shift = 0.12 * float64(2*a.Arm-1)
	}
	if finite(a.Median) {
		line, err := plotter.NewLine(plotter.XYs{{X: p.X.Min, Y: a.Median}, {X: p.X.Max, Y: a.Median}})
		if err != nil {
			return err
		}
		line.LineStyle = a.Arm.line(1)
		p.Add(line)
	}
	for _, out := range []bool{false, true} {
		var at plotter.XYs
		for i, v := range a.Values {
			if finite(v) && (i < len(a.Out) && a.Out[i]) == out {
				at = append(at, plotter.XY{X: float64(i+1) + shift, Y: v})
			}
		}
		if len(at) == 0 {
			continue
		}
		dots, err := plotter.NewScatter(at)
		if err != nil {
			return err
		}
		if dots.GlyphStyle = a.Arm.glyph(3.5); out {
			dots.Shape = cross{}
		}
		p.Add(dots)
	}
	return nil
}

// Excluded says whether the chart has crosses, which want an explanation.
func (r Runs) Excluded() bool {
	return slices.ContainsFunc(r.Arms, func(a ArmRuns) bool { return slices.Contains(a.Out, true) })
}
