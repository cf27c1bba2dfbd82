package chart

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// Curves draw one line an arm over a common axis, with the range of its runs around it.
type Curves struct {
	Unit   string // of Y
	Across string // what the horizontal axis is
	Ticks  []Tick // on the horizontal axis; none for round numbers
	Log    bool   // the vertical axis is logarithmic, and what is not above zero is not drawn
	Arms   []Curve
}

// A Curve is one arm's line. Y, Low and High are as long as X; NaN where there is nothing.
type Curve struct {
	Arm       Arm
	X         []float64 // ascending
	Y         []float64 // the middle of the runs
	Low, High []float64 // the range of the runs; nil for none
}

// Draw draws the chart; ErrEmpty where no value can be drawn.
func (c Curves) Draw() (Drawing, error) {
	left, right := math.Inf(1), math.Inf(-1)
	low, high := math.Inf(1), math.Inf(-1)
	var arms []Arm
	for _, a := range c.Arms {
		arms = append(arms, a.Arm)
		left, right = span(left, right, a.X...)
		low, high = span(low, high, c.drawable(slices.Concat(a.Y, a.Low, a.High))...)
	}
	if low > high || left > right {
		return Drawing{}, ErrEmpty
	}
	p := newPlot()
	c.axes(p, left, right, low, high)
	for _, a := range c.Arms {
		if err := c.band(p, a); err != nil {
			return Drawing{}, err
		}
	}
	for _, a := range c.Arms {
		if err := c.line(p, a); err != nil {
			return Drawing{}, err
		}
	}
	return drawn(p, 200, c.Unit, arms)
}

func (c Curves) axes(p *plot.Plot, left, right, low, high float64) {
	if c.Log {
		if high/low < 2 {
			low, high = low/1.5, high*1.5
		}
		p.Y.Scale = plot.LogScale{}
		level(p, low/1.1, high*1.1, decades(low/1.1, high*1.1))
	} else {
		low, high = math.Min(0, low), max(high*1.05, 1e-9)
		level(p, low, high, round(low, high))
	}
	if right == left {
		right = left + 1
	}
	p.X.Min, p.X.Max = left, right
	marks := c.Ticks
	if marks == nil {
		marks = round(left, right)
	}
	p.X.Tick.Marker = ticks(marks)
	p.X.Label.Text = c.Across
}

// drawable returns the values with NaN for those that the axis has no place for.
func (c Curves) drawable(values []float64) []float64 {
	if !c.Log {
		return values
	}
	drawn := slices.Clone(values)
	for i, v := range drawn {
		if v < smallest {
			drawn[i] = math.NaN()
		}
	}
	return drawn
}

// band fills the range of an arm's runs.
func (c Curves) band(p *plot.Plot, a Curve) error {
	low, high := c.drawable(a.Low), c.drawable(a.High)
	for _, part := range parts(len(low), func(i int) bool { return finite(low[i]) && finite(high[i]) }) {
		var around plotter.XYs
		for i := part.from; i < part.to; i++ {
			around = append(around, plotter.XY{X: a.X[i], Y: high[i]})
		}
		for i := part.to - 1; i >= part.from; i-- {
			around = append(around, plotter.XY{X: a.X[i], Y: low[i]})
		}
		if len(around) < 4 {
			continue
		}
		filled, err := plotter.NewPolygon(around)
		if err != nil {
			return err
		}
		filled.Color, filled.LineStyle.Width = a.Arm.role().through(), 0
		p.Add(filled)
	}
	return nil
}

func (c Curves) line(p *plot.Plot, a Curve) error {
	y := c.drawable(a.Y)
	for _, part := range parts(len(y), func(i int) bool { return finite(y[i]) }) {
		var at plotter.XYs
		for i := part.from; i < part.to; i++ {
			at = append(at, plotter.XY{X: a.X[i], Y: y[i]})
		}
		line, err := plotter.NewLine(at)
		if err != nil {
			return err
		}
		line.LineStyle = a.Arm.line(2)
		p.Add(line)
	}
	return nil
}

// A part is a stretch of a curve without gaps.
type part struct{ from, to int }

func parts(n int, there func(int) bool) []part {
	var all []part
	for i := 0; i < n; i++ {
		if !there(i) {
			continue
		}
		p := part{from: i}
		for ; i < n && there(i); i++ {
			p.to = i + 1
		}
		all = append(all, p)
	}
	return all
}
