// Package chart draws figures as SVG: effects against their limits, runs as dots, and curves of two arms. It knows plots and
// nothing of verdicts or records; numbers come in the unit that people read, and text is shown as it is, never obeyed.
package chart

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// width is how wide a chart is, in CSS pixels, unless it says otherwise: readable on a phone without being scaled.
const width = 340

// A Drawing is a chart that was drawn: SVG elements whose colours are classes of Style. The zero value is an empty picture.
type Drawing struct {
	Width, Height float64 // CSS px
	body          string
}

// An Arm is the build that figures are of.
type Arm int

// The arms.
const (
	Base Arm = iota
	Head
)

func (a Arm) String() string { return [...]string{"base", "head"}[a] }

func (a Arm) role() role { return [...]role{base, head}[a] }

// glyph tells the arms apart where colours do not.
func (a Arm) glyph(radius vg.Length) draw.GlyphStyle {
	return draw.GlyphStyle{Color: a.role(), Radius: radius, Shape: [...]draw.GlyphDrawer{ring{}, draw.CircleGlyph{}}[a]}
}

// ring and cross are the library's in a line that is seen.
type (
	ring  struct{}
	cross struct{}
)

// DrawGlyph implements draw.GlyphDrawer.
func (ring) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: 1.5})
	var path vg.Path
	path.Move(vg.Point{X: at.X + style.Radius, Y: at.Y})
	path.Arc(at, style.Radius, 0, 2*math.Pi)
	path.Close()
	c.Stroke(path)
}

// DrawGlyph implements draw.GlyphDrawer.
func (cross) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	line := draw.LineStyle{Color: style.Color, Width: 1.5}
	r := style.Radius
	c.StrokeLine2(line, at.X-r, at.Y-r, at.X+r, at.Y+r)
	c.StrokeLine2(line, at.X-r, at.Y+r, at.X+r, at.Y-r)
}

// line tells the arms apart where colours do not.
func (a Arm) line(width vg.Length) draw.LineStyle {
	style := draw.LineStyle{Color: a.role(), Width: width}
	if a == Base {
		style.Dashes = []vg.Length{4, 2}
	}
	return style
}

// drawn draws a plot under a line that names the unit and the arms.
func drawn(p *plot.Plot, height float64, unit string, arms []Arm) (Drawing, error) {
	canvas := vgsvg.NewWith(vgsvg.UseWH(width, vg.Length(height)))
	all := draw.New(canvas)
	above := all.Max.Y - 12
	faintText.fill(&all, vg.Point{X: 2, Y: above}, unit)
	x := all.Max.X - 4
	for i := len(arms) - 1; i >= 0; i-- {
		x -= text.Width(arms[i].String())
		text.fill(&all, vg.Point{X: x, Y: above}, arms[i].String())
		x -= 8
		all.DrawGlyph(arms[i].glyph(3), vg.Point{X: x, Y: above + 4})
		x -= 14
	}
	p.Draw(draw.Crop(all, 2, -4, 2, -18))
	return newDrawing(canvas)
}

// newDrawing takes over what was drawn on a canvas.
func newDrawing(canvas *vgsvg.Canvas) (Drawing, error) {
	var out strings.Builder
	if _, err := canvas.WriteTo(&out); err != nil {
		return Drawing{}, fmt.Errorf("draw a chart: %w", err)
	}
	body, err := lean(out.String())
	if err != nil {
		return Drawing{}, fmt.Errorf("draw a chart: %w", err)
	}
	w, h := canvas.Size()
	return Drawing{w.Points(), h.Points(), body}, nil
}

// newPlot returns an empty plot in our style, with a grid across.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.LineStyle = draw.LineStyle{Color: rule, Width: 1}
		axis.Tick.LineStyle = draw.LineStyle{Color: rule, Width: 1}
		axis.Tick.Length = 4
		axis.Tick.Label.Color = faint
		axis.Tick.Label.Font = sans(11)
		axis.Label.TextStyle.Color = faint
		axis.Label.TextStyle.Font = sans(11)
		axis.Label.Padding = 2
		axis.Padding = 0
	}
	p.Y.LineStyle.Width = 0
	p.Y.Tick.Length = 0
	return p
}
