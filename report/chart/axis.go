package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// A Tick is a mark on an axis.
type Tick struct {
	At    float64
	Label string
}

// ticks returns them as the library has them.
func ticks(all []Tick) plot.ConstantTicks {
	marks := make(plot.ConstantTicks, len(all))
	for i, t := range all {
		marks[i] = plot.Tick{Value: t.At, Label: t.Label}
	}
	return marks
}

// round returns some 3 to 6 marks at round numbers that span the range.
func round(low, high float64) []Tick {
	step := nice((high - low) / 4)
	var all []Tick
	for i := math.Ceil(low/step - 1e-9); i*step <= high+step*1e-9; i++ {
		all = append(all, Tick{i * step, written(i*step + 0)}) // + 0 makes 0 of -0
	}
	return all
}

// nice returns 1, 2 or 5 times a power of ten, near v.
func nice(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	switch f := v / power; {
	case f < 1.5:
		return power
	case f < 3.5:
		return 2 * power
	case f < 7.5:
		return 5 * power
	}
	return 10 * power
}

// decades returns the marks of a logarithmic axis: powers of ten, and between them 2 and 5 where there are few.
func decades(low, high float64) []Tick {
	factors := []float64{1}
	if high/low < 1e3 {
		factors = []float64{1, 2, 5}
	}
	var all []Tick
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, f := range factors {
			if v := f * math.Pow(10, e); v >= low*(1-1e-9) && v <= high*(1+1e-9) {
				all = append(all, Tick{v, written(v)})
			}
		}
	}
	return all
}

// written writes a tick's number without the noise of its computation.
func written(v float64) string {
	s := strconv.FormatFloat(v, 'g', 6, 64)
	if f, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(f) < 1e7 && math.Abs(f) >= 1e-6 || f == 0 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return s
}

// level sets the vertical axis and the lines across at its marks.
func level(p *plot.Plot, low, high float64, marks []Tick) {
	p.Y.Min, p.Y.Max = low, high
	p.Y.Tick.Marker = ticks(marks)
	across := plotter.NewGrid()
	across.Vertical.Width = 0
	across.Horizontal = draw.LineStyle{Color: rule, Width: 0.5}
	p.Add(across)
}

// No figure that anybody measured is so far from one; what is, a hostile record made up, and no axis need hold it.
const (
	largest  = 1e30
	smallest = 1e-30 // of what is drawn by its logarithm
)

// finite says whether a number can be drawn.
func finite(v float64) bool { return math.Abs(v) <= largest }

// span returns the smallest and the largest number that can be drawn.
func span(low, high float64, values ...float64) (float64, float64) {
	for _, v := range values {
		if finite(v) {
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	return low, high
}
