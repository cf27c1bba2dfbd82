package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A History draws one metric night by night: its runs, their median, the level between two changes, and what happened.
type History struct {
	Unit    string  // of the values
	Most    float64 // that a value can be; 0 where there is no end
	Nights  int     // on the horizontal axis, from 0
	Ticks   []Tick  // on the horizontal axis
	Points  []Point // in order
	LeftOut []int   // nights without a point
	Moves   []int   // points that are the first on another machine
	Events  []Event
	Windows []Window
	Below   []string // lines of text under the chart
}

// A Point is one night.
type Point struct {
	Night  int
	Median float64
	Level  float64 // of the stretch between two changes
	Runs   []float64
	Spike  bool // it is far from all around it
}

// An Event is something that happened between two nights.
type Event struct {
	Night float64 // 12.5 is between nights 12 and 13
	Kind  Kind
	Label string // in short: where there is no room for it, Mark
	Mark  string
}

// A Window is a stretch of nights, from From up to To, that was held against another.
type Window struct{ From, To int }

// A Kind is what an event is. The zero value is a change that nobody need do anything about.
type Kind int

// The kinds.
const (
	Settled  Kind = iota // for the worse, but made good since or small
	Worse                // for the worse, and still there
	Accepted             // for the worse, and taken as it is
	Better
	Move  // of the machine, or of the build to hold against
	Drift // many small changes
)

// line tells kinds apart by colour and by dashes.
func (k Kind) line() draw.LineStyle {
	switch k {
	case Worse:
		return draw.LineStyle{Color: bad, Width: 1.5}
	case Accepted:
		return draw.LineStyle{Color: unsure, Width: 1.5, Dashes: []vg.Length{7, 3}}
	case Better:
		return draw.LineStyle{Color: good, Width: 1.5, Dashes: []vg.Length{4, 2}}
	case Move:
		return draw.LineStyle{Color: faint, Width: 1.5, Dashes: []vg.Length{1.5, 3}}
	case Drift:
		return draw.LineStyle{Color: bad, Width: 1, Dashes: []vg.Length{2, 2}}
	}
	return draw.LineStyle{Color: faint, Width: 1, Dashes: []vg.Length{4, 2}}
}

func (k Kind) lettering() lettering {
	l := text
	l.Color = k.line().Color
	return l
}

const (
	historyWidth  = 640 // CSS px
	historyHeight = 170 // of the axes
	labelRow      = 14
	lineBelow     = 15
)

// Draw draws the chart; ErrEmpty where no value can be drawn.
func (h History) Draw() (Drawing, error) {
	low, high, ok := h.span()
	if !ok {
		return Drawing{}, ErrEmpty
	}
	p := newPlot()
	marks := round(low, high)
	room := beside(p, low, high, marks)
	p.X.Min, p.X.Max = -0.5, float64(max(1, h.Nights))-0.5
	p.X.Tick.Marker = ticks(h.Ticks)
	p.Add(h.shades(), h)
	below := vg.Length(len(h.Below)) * lineBelow
	inside := p.DataCanvas(draw.Crop(draw.New(vgsvg.NewWith(vgsvg.UseWH(historyWidth, historyHeight))), 2, -room, 2, 0))
	labels, rows := arrange(h.Events, inside.Min.X, inside.Max.X, func(night float64) vg.Length { return inside.X(p.X.Norm(night)) })
	above := vg.Length(18 + labelRow*rows)
	canvas := vgsvg.NewWith(vgsvg.UseWH(historyWidth, historyHeight+above+below))
	all := draw.New(canvas)
	h.legend(&all)
	area := draw.Crop(all, 2, -room, 2+below, -above)
	for _, l := range labels {
		l.draw(&all, p.DataCanvas(area))
	}
	p.Draw(area)
	for _, m := range marks {
		at := p.DataCanvas(area)
		faintText.fill(&all, vg.Point{X: at.Max.X + 4, Y: at.Y(p.Y.Norm(m.At)) - 4}, m.Label)
	}
	for i, s := range h.Below {
		faintText.fill(&all, vg.Point{X: 2, Y: all.Min.Y + below - vg.Length(i+1)*lineBelow + 4}, faintText.fit(s, historyWidth-8))
	}
	return newDrawing(canvas)
}

// beside sets the vertical axis with its figures to the right, where the newest nights are, and returns the room that they take.
func beside(p *plot.Plot, low, high float64, marks []Tick) vg.Length {
	room := vg.Length(0)
	silent := make([]Tick, len(marks))
	for i, m := range marks {
		silent[i] = Tick{m.At, " "} // one without a label has no line across
		room = max(room, text.Width(m.Label))
	}
	level(p, low, high, silent)
	return room + 8
}

// span returns the range of the vertical axis. It holds all levels, all medians but spikes, and what the runs and spikes reach beyond them by as much again.
func (h History) span() (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	all, most := math.Inf(1), math.Inf(-1)
	for _, p := range h.Points {
		low, high = span(low, high, p.Level)
		if !p.Spike {
			low, high = span(low, high, p.Median)
		}
		all, most = span(all, most, p.Runs...)
		all, most = span(all, most, p.Median)
	}
	if low > high {
		low, high = all, most // nothing but spikes
	}
	if low > high {
		return 0, 0, false
	}
	missing := max(0, leastSpan*max(math.Abs(low), math.Abs(high))-(high-low)) / 2
	if missing == 0 && low == high {
		missing = 1 // all are zero
	}
	reach := high - low + 2*missing
	bottom, top := low-missing, high+missing
	bottom, top = min(bottom, max(all, low-reach)), max(top, min(most, high+reach))
	margin := (top - bottom) * 0.08
	if bottom -= margin; low >= 0 {
		bottom = max(0, bottom)
	}
	if top += margin; h.Most > 0 && high <= h.Most {
		top = min(top, h.Most+(h.Most-bottom)*0.05)
	}
	return bottom, top, true
}

// Exceeds says whether the chart has values beyond its axis, which want an explanation.
func (h History) Exceeds() bool {
	low, high, _ := h.span()
	for _, p := range h.Points {
		for _, v := range append([]float64{p.Median}, p.Runs...) {
			if finite(v) && (v < low || v > high) {
				return true
			}
		}
	}
	return false
}

// legend says above the chart what is drawn how.
func (h History) legend(c *draw.Canvas) {
	y := c.Max.Y - 12
	x := c.Max.X - 4 - faintText.Width(h.Unit)
	faintText.fill(c, vg.Point{X: x, Y: y}, h.Unit)
	x -= 18
	for _, key := range h.keys() {
		x -= text.Width(key.name)
		text.fill(c, vg.Point{X: x, Y: y}, key.name)
		x -= 12
		key.draw(c, vg.Point{X: x, Y: y + 4})
		x -= 18
	}
}

// A key is one entry of the legend.
type key struct {
	name string
	draw func(*draw.Canvas, vg.Point)
}

// keys returns the entries of the legend, the last one first.
func (h History) keys() []key {
	glyph := func(style draw.GlyphStyle) func(*draw.Canvas, vg.Point) {
		return func(c *draw.Canvas, at vg.Point) { c.DrawGlyph(style, at) }
	}
	var all []key
	if len(h.LeftOut) > 0 {
		all = append(all, key{"left out", glyph(absent)})
	}
	spikes := false
	for _, p := range h.Points {
		spikes = spikes || p.Spike
	}
	if spikes {
		all = append(all, key{"spike", glyph(odd)})
	}
	stroke := func(style draw.LineStyle) func(*draw.Canvas, vg.Point) {
		return func(c *draw.Canvas, at vg.Point) { c.StrokeLine2(style, at.X-6, at.Y, at.X+6, at.Y) }
	}
	return append(all,
		key{"level", stroke(steady)},
		key{"median of a night", func(c *draw.Canvas, at vg.Point) {
			stroke(joined)(c, at)
			c.DrawGlyph(median, at)
		}},
		key{"run", func(c *draw.Canvas, at vg.Point) { dots{at}.draw(c) }})
}
