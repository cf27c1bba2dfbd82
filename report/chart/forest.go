package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Forest draws effects with their intervals, each against its own limit: all limits stand under each other, and right is worse.
type Forest []Effect

// An Effect is one line of a forest. Its numbers are changes in multiples of its limit, positive where head is worse.
type Effect struct {
	Name     string
	Change   string // in words, beside the name
	Estimate float64
	Lower    float64 // of the interval; may be infinite, NaN where it is not known
	Upper    float64
	State    State
}

// A State is what an effect says.
type State int

// The states.
const (
	Unsure State = iota
	Good
	Bad
)

func (s State) role() role { return [...]role{unsure, good, bad}[s] }

// reach is how many limits are drawn to each side of no change; what lies beyond ends in an arrow.
const reach = 100

// place returns where a change is drawn: in proportion up to the limit, at 1, and by its logarithm beyond, so that 10 limits are at 2.
func place(limits float64) float64 {
	if away := math.Abs(limits); away > 1 {
		return math.Copysign(1+math.Log10(min(away, reach)), limits)
	}
	return limits
}

const (
	rowHeight  = 34
	axisHeight = 40
)

// Draw draws the chart; ErrEmpty where there are no effects.
func (f Forest) Draw() (Drawing, error) {
	if len(f) == 0 {
		return Drawing{}, ErrEmpty
	}
	p := newPlot()
	p.X.Min, p.X.Max = place(-reach), place(reach)
	p.X.Tick.Marker = ticks([]Tick{{place(-10), "10×"}, {-1, "limit"}, {0, "no change"}, {1, "limit"}, {place(10), "10×"}, {place(reach), "100×"}})
	p.Y.Min, p.Y.Max = 0, float64(len(f))
	p.Y.Tick.Marker = plot.ConstantTicks{}
	p.Add(f)
	return drawn(p, float64(len(f)*rowHeight+axisHeight), "", nil)
}

// Plot implements plot.Plotter.
func (f Forest) Plot(c draw.Canvas, p *plot.Plot) {
	at := func(limits float64) vg.Length { return c.X(p.X.Norm(place(limits))) }
	beyond := vg.Rectangle{Min: vg.Point{X: at(1), Y: c.Min.Y}, Max: vg.Point{X: c.Max.X, Y: c.Max.Y}}
	c.SetColor(bad.through())
	c.Fill(beyond.Path())
	c.StrokeLine2(draw.LineStyle{Color: bad, Width: 1}, at(1), c.Min.Y, at(1), c.Max.Y)
	c.StrokeLine2(draw.LineStyle{Color: faint, Width: 1}, at(0), c.Min.Y, at(0), c.Max.Y)
	c.StrokeLine2(draw.LineStyle{Color: rule, Width: 1, Dashes: []vg.Length{3, 3}}, at(-1), c.Min.Y, at(-1), c.Max.Y)
	faintText.fill(&c, vg.Point{X: c.Min.X, Y: c.Max.Y + 5}, "← better")
	faintText.fill(&c, vg.Point{X: c.Max.X - faintText.Width("worse →"), Y: c.Max.Y + 5}, "worse →")
	for i, e := range f {
		top := c.Max.Y - vg.Length(i*rowHeight)
		e.draw(&c, at, top)
	}
}

// draw draws one effect: its name and change, and under them its interval.
func (e Effect) draw(c *draw.Canvas, at func(float64) vg.Length, top vg.Length) {
	room := c.Max.X - c.Min.X - text.Width(e.Change) - 12
	text.fill(c, vg.Point{X: c.Min.X + 2, Y: top - 13}, text.fit(e.Name, room))
	text.fill(c, vg.Point{X: c.Max.X - 2 - text.Width(e.Change), Y: top - 13}, e.Change)
	y := top - 23
	style := draw.LineStyle{Color: e.State.role(), Width: 2}
	if !math.IsNaN(e.Lower) && !math.IsNaN(e.Upper) && e.Lower <= e.Upper {
		c.StrokeLine2(style, at(e.Lower), y, at(e.Upper), y)
		e.end(c, at, e.Lower, y, style)
		e.end(c, at, e.Upper, y, style)
	}
	if finite(e.Estimate) && math.Abs(e.Estimate) <= reach {
		c.DrawGlyph(draw.GlyphStyle{Color: e.State.role(), Radius: 4, Shape: draw.BoxGlyph{}}, vg.Point{X: at(e.Estimate), Y: y})
	}
}

// end draws one end of an interval: a bar, or an arrow where it lies beyond what is drawn.
func (e Effect) end(c *draw.Canvas, at func(float64) vg.Length, limit float64, y vg.Length, style draw.LineStyle) {
	x := at(limit)
	if math.Abs(limit) <= reach {
		c.StrokeLine2(style, x, y-3, x, y+3)
		return
	}
	back := vg.Length(math.Copysign(6, limit))
	c.FillPolygon(e.State.role(), []vg.Point{{X: x, Y: y}, {X: x - back, Y: y + 4}, {X: x - back, Y: y - 4}})
}
