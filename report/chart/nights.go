package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// What the marks of a history look like.
var (
	joined = draw.LineStyle{Color: head, Width: 1}
	steady = draw.LineStyle{Color: ink, Width: 2}
	median = draw.GlyphStyle{Color: head, Radius: 2.2, Shape: draw.CircleGlyph{}}
	odd    = draw.GlyphStyle{Color: unsure, Radius: 3.5, Shape: cross{}}
	absent = draw.GlyphStyle{Color: faint, Radius: 2.5, Shape: cross{}}
)

// crowded is how many nights are so close together that their medians are a line without dots.
const crowded = 150

// shades draws a history's windows, under all else.
type shades History

func (h History) shades() shades { return shades(h) }

// Plot implements plot.Plotter.
func (h shades) Plot(c draw.Canvas, p *plot.Plot) {
	c.SetColor(bad.through())
	for _, w := range h.Windows {
		from, to := c.X(p.X.Norm(float64(w.From)-0.5)), c.X(p.X.Norm(float64(w.To)-0.5))
		to = max(to, from+3)
		c.Fill(vg.Rectangle{Min: vg.Point{X: from, Y: c.Min.Y}, Max: vg.Point{X: to, Y: c.Max.Y}}.Path())
	}
}

// Plot implements plot.Plotter.
func (h History) Plot(c draw.Canvas, p *plot.Plot) {
	at := func(night, value float64) vg.Point {
		return vg.Point{X: c.X(p.X.Norm(night)), Y: c.Y(p.Y.Norm(value))}
	}
	var runs, medians dots
	var beyond, spikes []vg.Point
	for _, point := range h.Points {
		for _, v := range append([]float64{point.Median}, point.Runs...) {
			if finite(v) && (v < p.Y.Min || v > p.Y.Max) {
				beyond = append(beyond, at(float64(point.Night), min(max(v, p.Y.Min), p.Y.Max)))
			}
		}
		for _, v := range point.Runs {
			if finite(v) && v >= p.Y.Min && v <= p.Y.Max {
				runs = append(runs, at(float64(point.Night), v))
			}
		}
		switch where := at(float64(point.Night), point.Median); {
		case !finite(point.Median), point.Median < p.Y.Min, point.Median > p.Y.Max:
		case point.Spike:
			spikes = append(spikes, where)
		default:
			medians = append(medians, where)
		}
	}
	runs.draw(&c)
	thinned := medians.thinned()
	c.StrokeLines(joined, thinned)
	if len(medians) == 1 || h.Nights <= crowded {
		for _, m := range medians {
			c.DrawGlyph(median, m)
		}
	}
	h.levels(&c, at)
	for _, s := range spikes {
		c.DrawGlyph(odd, s)
	}
	arrows(&c, beyond)
	h.feet(&c, at)
}

// levels draws a line that steps from level to level between nights.
func (h History) levels(c *draw.Canvas, at func(night, value float64) vg.Point) {
	var line []vg.Point
	for i, p := range h.Points {
		if !finite(p.Level) {
			continue
		}
		where := at(float64(p.Night)-0.5, p.Level)
		if i > 0 && len(line) > 0 {
			where.X = at((float64(h.Points[i-1].Night)+float64(p.Night))/2, 0).X
		}
		if n := len(line); n == 0 || math.Abs(float64(line[n-1].Y-where.Y)) > 0.05 {
			if n > 0 {
				line = append(line, vg.Point{X: where.X, Y: line[n-1].Y})
			}
			line = append(line, where)
		}
		if i == len(h.Points)-1 {
			line = append(line, vg.Point{X: at(float64(p.Night)+0.5, p.Level).X, Y: where.Y})
		}
	}
	if len(line) > 1 {
		c.StrokeLines(steady, line)
	}
}

// feet marks at the foot of the chart the nights that are left out, and where the machine became another.
func (h History) feet(c *draw.Canvas, at func(night, value float64) vg.Point) {
	last := vg.Length(math.Inf(-1))
	for _, night := range h.LeftOut {
		if x := at(float64(night), 0).X; x-last >= 1 {
			c.DrawGlyph(absent, vg.Point{X: x, Y: c.Min.Y + 4})
			last = x
		}
	}
	for _, i := range h.Moves {
		if i > 0 && i < len(h.Points) {
			x := at((float64(h.Points[i-1].Night)+float64(h.Points[i].Night))/2, 0).X
			c.FillPolygon(faint, []vg.Point{{X: x - 4, Y: c.Min.Y}, {X: x + 4, Y: c.Min.Y}, {X: x, Y: c.Min.Y + 7}})
		}
	}
}

// arrows mark at the edge what lies beyond it, once a place.
func arrows(c *draw.Canvas, beyond []vg.Point) {
	drawn := make(map[[2]int]bool)
	for _, b := range beyond {
		if cell := cellOf(b); drawn[cell] {
			continue
		} else {
			drawn[cell] = true
		}
		away := vg.Length(6)
		if b.Y > (c.Min.Y+c.Max.Y)/2 {
			away = -6
		}
		c.FillPolygon(unsure, []vg.Point{b, {X: b.X - 3, Y: b.Y + away}, {X: b.X + 3, Y: b.Y + away}})
	}
}

// dots are small and many: one path, in which those that would cover each other are drawn once.
type dots []vg.Point

const dotSize = 2 // CSS px

func cellOf(p vg.Point) [2]int {
	return [2]int{int(math.Round(float64(p.X))), int(math.Round(float64(p.Y)))}
}

func (d dots) draw(c *draw.Canvas) {
	drawn := make(map[[2]int]bool)
	var path vg.Path
	for _, p := range d {
		cell := cellOf(p)
		if drawn[cell] {
			continue
		}
		drawn[cell] = true
		x, y := vg.Length(cell[0]), vg.Length(cell[1])
		path.Move(vg.Point{X: x - dotSize/2, Y: y})
		path.Line(vg.Point{X: x + dotSize/2, Y: y})
	}
	if len(path) > 0 {
		c.SetLineStyle(draw.LineStyle{Color: base, Width: dotSize})
		c.Stroke(path)
	}
}

// thinned returns a line that looks the same with at most four points a pixel across: the first, the lowest, the highest and the last.
func (d dots) thinned() []vg.Point {
	var line []vg.Point
	for from := 0; from < len(d); {
		to, lowest, highest := from, from, from
		for ; to < len(d) && math.Floor(float64(d[to].X)) == math.Floor(float64(d[from].X)); to++ {
			if d[to].Y < d[lowest].Y {
				lowest = to
			}
			if d[to].Y > d[highest].Y {
				highest = to
			}
		}
		taken := -1
		for _, i := range []int{from, min(lowest, highest), max(lowest, highest), to - 1} {
			if i > taken {
				line, taken = append(line, d[i]), i
			}
		}
		from = to
	}
	return line
}
