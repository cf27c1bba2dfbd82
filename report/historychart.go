package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/report/chart"
)

// nightly is the kind of the charts of a history.
const nightly kind = "history"

// mostDates is how many dates stand under a chart.
const mostDates = 6

// mostMoves is how many changes of machine a chart marks.
const mostMoves = 20

// A trendChart is one metric's chart in the making.
type trendChart struct {
	trend gate.Trend
	of    *gate.History
	fleet bool // values are drawn as they would be on the newest machine
	chart chart.History
	scale scale
}

func newTrendChart(t gate.Trend, h *gate.History) *trendChart {
	c := &trendChart{trend: t, of: h, fleet: comeAndGo(t.Points)}
	c.points()
	c.chart.Nights, c.chart.Ticks = len(h.Nights), dates(h.Nights)
	c.chart.LeftOut = c.leftOut()
	if !c.fleet && len(t.Moves) <= mostMoves {
		c.chart.Moves = t.Moves
	}
	for i, change := range t.Changes {
		e := newEvent(t, change, h)
		mark := strconv.Itoa(i + 1)
		what := map[gate.Cause]string{gate.Machine: "machine", gate.Pin: "reference"}[change.Cause]
		fate := map[chart.Kind]string{chart.Worse: "open", chart.Accepted: "accepted"}[e.kind]
		c.chart.Events = append(c.chart.Events, chart.Event{Night: c.before(change.At), Kind: e.kind, Label: join(" ", mark, what, e.size, fate), Mark: mark})
	}
	if d, drifted := driftOf(t, h); drifted {
		c.chart.Windows = []chart.Window{{From: d.From, To: d.To}, {From: d.Newest, To: len(h.Nights)}}
		c.chart.Events = append(c.chart.Events, chart.Event{Night: float64(d.Newest) - 0.5, Kind: chart.Drift, Label: drift(d)})
	}
	return c
}

// points takes the values over, in one of people's units.
func (c *trendChart) points() {
	var all []float64
	for _, p := range c.trend.Points {
		moved := 1 + p.Moved
		q := chart.Point{Night: p.Night, Median: p.Value, Level: p.Level / moved, Spike: p.Spike, Runs: p.Runs}
		if c.fleet {
			q.Median, q.Level, q.Runs = p.Value*moved, p.Level, scaled(p.Runs, 1/moved)
		}
		all = append(all, q.Median)
		c.chart.Points = append(c.chart.Points, q)
	}
	c.scale, c.chart.Unit = scale{1, "×"}, "head as a ratio to base"
	if !c.trend.Relative {
		c.scale = scaleOf(c.trend.Metric, all...)
		c.chart.Unit = c.scale.unit
		if counted(c.trend.Metric) {
			c.chart.Most = 1 / c.scale.factor
		}
	}
	for i := range c.chart.Points {
		q := &c.chart.Points[i]
		q.Median, q.Level, q.Runs = q.Median/c.scale.factor, q.Level/c.scale.factor, scaled(q.Runs, c.scale.factor)
	}
}

func scaled(values []float64, factor float64) []float64 {
	all := make([]float64, len(values))
	for i, v := range values {
		all[i] = v / factor
	}
	return all
}

// comeAndGo says whether machines, or builds to hold against, are back after others: then no line of values can be followed as they were measured.
func comeAndGo(points []gate.Point) bool {
	const same = 1e-9
	var seen []float64
	for i, p := range points {
		if i > 0 && math.Abs(p.Moved-points[i-1].Moved) < same {
			continue
		}
		if slices.ContainsFunc(seen, func(v float64) bool { return math.Abs(p.Moved-v) < same }) {
			return true
		}
		seen = append(seen, p.Moved)
	}
	return false
}

// before returns where a chart has the change to a point.
func (c *trendChart) before(point int) float64 {
	at := float64(c.trend.Points[point].Night)
	if point == 0 {
		return at - 0.5
	}
	return (float64(c.trend.Points[point-1].Night) + at) / 2
}

// leftOut returns the nights that ran the scenario and have no point.
func (c *trendChart) leftOut() []int {
	followed := make(map[int]bool)
	for _, p := range c.trend.Points {
		followed[p.Night] = true
	}
	var nights []int
	for i := range c.of.Nights {
		if !followed[i] && c.of.LeftOut(c.trend.Scenario, i) != gate.NotRun {
			nights = append(nights, i)
		}
	}
	return nights
}

// driftOf returns the drift for which a trend regressed.
func driftOf(t gate.Trend, h *gate.History) (gate.Drift, bool) {
	for _, s := range h.Setbacks() {
		if s.Scenario != t.Scenario || s.Metric != t.Metric || s.Days == 0 {
			continue
		}
		for _, d := range t.Drifts {
			if d.Days == s.Days {
				return d, true
			}
		}
	}
	return gate.Drift{}, false
}

func drift(d gate.Drift) string { return fmt.Sprintf("%s in %d days", percent(d.Change), d.Days) }

// dates returns marks for some nights, away from the ends, so that their dates have room.
func dates(nights []gate.Night) []chart.Tick {
	n := min(mostDates, len(nights))
	all := make([]chart.Tick, n)
	for i := range all {
		at := (2*i + 1) * len(nights) / (2 * n)
		all[i] = chart.Tick{At: float64(at), Label: nights[at].Measured.Format(gate.Day)}
	}
	return all
}

// draw adds the chart to others, unless there is nothing to draw.
func (c *trendChart) draw(all []picture) ([]picture, error) {
	return draw(all, picture{kind: nightly, subject: c.trend.Metric, title: c.trend.Metric + " night by night", alt: c.alt(), note: strings.Join(c.notes(), " ")}, c.chart)
}

// lines says what happened, each change in a line as the chart numbers them.
func (c *trendChart) lines() []string {
	var lines []string
	if d, drifted := driftOf(c.trend, c.of); drifted {
		lines = append(lines, "drift of "+drift(d))
	}
	for i, change := range c.trend.Changes {
		lines = append(lines, fmt.Sprintf("%d  %v", i+1, newEvent(c.trend, change, c.of)))
	}
	return lines
}

func (c *trendChart) alt() string {
	s := fmt.Sprintf("%s of %s, %s, now at %s. ", c.trend.Metric, c.trend.Scenario, stretch(c.of), now(c.trend))
	lines := c.lines()
	if len(lines) == 0 {
		return s + "No change of level"
	}
	return s + "Changes of level: " + strings.Join(lines, "; ")
}

// crowded is how many nights are so many that a chart does not show each by itself.
const crowded = 500

// notes says what must be known to read the chart.
func (c *trendChart) notes() []string {
	var notes []string
	at := "machines"
	if c.trend.Relative {
		at = "builds to hold against"
	}
	switch {
	case c.fleet:
		notes = append(notes, fmt.Sprintf("The %s come and go: values are drawn as they would be with the newest.", at))
	case len(c.trend.Moves) > mostMoves:
		notes = append(notes, fmt.Sprintf("The %s changed %d times.", at, len(c.trend.Moves)))
	case len(c.trend.Moves) > 0:
		notes = append(notes, fmt.Sprintf("A triangle at the foot is where the %s changed.", at))
	}
	if c.chart.Exceeds() {
		notes = append(notes, "An arrow is a value beyond the axis.")
	}
	if len(c.chart.Windows) > 0 {
		notes = append(notes, "The shaded nights were held against each other.")
	}
	if len(c.chart.Points) > crowded {
		notes = append(notes, "Of marks that fall on one another one is drawn.")
	}
	return notes
}
