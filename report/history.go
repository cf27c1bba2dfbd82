package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/report/chart"
	"github.com/ddpgate/ddpgate/stat"
)

// HistoryOptions say what of a history is shown.
type HistoryOptions struct {
	Options
	Metrics []string // only these; empty for the gated ones, and others that changed
	All     bool     // every metric
}

// History writes what became of a key for a terminal or a log: a line a metric with a sparkline, and the changes of level below. Its first line is the verdict in words.
func History(w io.Writer, key string, h *gate.History, o HistoryOptions) error {
	t := &text{width: o.width(), color: o.Color}
	t.hanging(strings.ToUpper(called(h.Outcome))+"  ", t.of(h.Outcome).Bold(t.color), h.Reason, t.plain())
	for _, warning := range h.Warnings {
		t.hanging("warning: ", t.of(gate.Inconclusive), warning, t.plain())
	}
	if about := stretch(h); about != "" {
		t.hanging(plain(key)+"  ", t.bold(), about, t.dim())
	}
	sections, left := o.sections(h)
	for _, shown := range sections {
		t.line("")
		t.trends(shown[0].Scenario, shown, h)
	}
	t.left(left)
	_, err := io.WriteString(w, t.out.String())
	return err
}

// stretch says how many records there are, from when to when.
func stretch(h *gate.History) string {
	n := len(h.Nights)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s, %s to %s", plural(n, "record"), h.Nights[0].Measured.Format(gate.Day), h.Nights[n-1].Measured.Format(gate.Day))
}

// sections returns the trends that are shown, by scenario, and how many others there are.
func (o HistoryOptions) sections(h *gate.History) (sections [][]gate.Trend, left int) {
	at := make(map[string]int)
	for _, trend := range h.Trends {
		if !o.shows(trend) {
			left++
			continue
		}
		i, found := at[trend.Scenario]
		if !found {
			i = len(sections)
			at[trend.Scenario], sections = i, append(sections, nil)
		}
		sections[i] = append(sections[i], trend)
	}
	return sections, left
}

func (o HistoryOptions) shows(t gate.Trend) bool {
	switch {
	case len(o.Metrics) > 0:
		return slices.Contains(o.Metrics, t.Metric)
	case o.All || t.Gated:
		return true
	}
	return slices.ContainsFunc(t.Changes, func(c gate.Change) bool { return c.Cause == gate.Code && math.Abs(c.Change) >= t.Threshold })
}

// sparkWidth is how many columns a sparkline has: fewer where names need them.
func (t *text) sparkWidth() int { return min(24, t.width-48) }

func (t *text) trends(scenario string, trends []gate.Trend, h *gate.History) {
	t.hanging(plain(scenario)+"  ", t.bold(), followed(trends[0]), t.dim())
	t.table(trendTable(trends).withTrend(trends, t.sparkWidth()), t.plain())
	for _, trend := range trends {
		for _, c := range trend.Changes {
			style := t.plain()
			if c.Open {
				style = t.of(gate.Regression)
			}
			t.hanging("  "+plain(trend.Metric)+"  ", t.plain(), newEvent(trend, c, h).String(), style)
		}
		if trend.Outcome == gate.Regression && !slices.ContainsFunc(trend.Changes, func(c gate.Change) bool { return c.Open }) {
			t.hanging("  "+plain(trend.Metric)+"  ", t.plain(), trend.Reason, t.of(gate.Regression))
		}
		if trend.LeftOut > 0 {
			why := " of another load left out"
			if trend.Relative {
				why = " of another load or without a base left out"
			}
			t.hanging("  "+plain(trend.Metric)+"  ", t.plain(), plural(trend.LeftOut, "record")+why, t.dim())
		}
	}
}

// followed says what is followed, where it is not what was measured.
func followed(t gate.Trend) string {
	if t.Relative {
		return "head as a ratio to the build that was measured beside it"
	}
	return ""
}

// trendTable has a line a metric.
func trendTable(trends []gate.Trend) grid {
	g := grid{headers: []string{"metric", "now", "30 days", "90 days", "verdict"}, left: map[int]bool{0: true, 4: true}, spare: []int{3, 2}, state: make(map[int]gate.Outcome)}
	for i, trend := range trends {
		verdict := trend.Outcome.String()
		if !trend.Gated {
			verdict = notGated
		} else if trend.Outcome == gate.Regression {
			verdict = strings.ToUpper(verdict)
		}
		g.rows = append(g.rows, []string{trend.Metric, now(trend), drifted(trend, 30), drifted(trend, 90), verdict})
		if trend.Gated {
			g.state[i] = trend.Outcome
		}
	}
	return g
}

// withTrend adds a column with sparklines of so many columns of a terminal.
func (g grid) withTrend(trends []gate.Trend, columns int) grid {
	g.headers = slices.Insert(g.headers, 1, "trend")
	for i, trend := range trends {
		g.rows[i] = slices.Insert(g.rows[i], 1, sparkline(trend, columns))
	}
	g.left, g.spare = map[int]bool{0: true, 1: true, 5: true}, []int{4, 3}
	return g
}

// now returns the level that the newest night is on.
func now(t gate.Trend) string {
	if len(t.Points) == 0 {
		return unknown
	}
	p := t.Points[len(t.Points)-1]
	if t.Relative {
		return digits(p.Level) + "×"
	}
	return Figure(t.Metric, p.Level)
}

func drifted(t gate.Trend, days int) string {
	for _, d := range t.Drifts {
		if d.Days == days {
			return percent(d.Change)
		}
	}
	return unknown
}

// An event is what is known of a change of level, in words.
type event struct {
	date, size string
	from, to   string // commits, where both are known
	with       string // the version that came with it, where they are not
	after      string // what became of it
	kind       chart.Kind
}

func newEvent(t gate.Trend, c gate.Change, h *gate.History) event {
	first := h.Nights[t.Points[c.At].Night]
	e := event{date: first.Measured.Format(gate.Day), size: percent(c.Change), after: plural(c.Nights, "record") + " since"}
	switch {
	case c.Cause == gate.Machine:
		e.kind, e.after = chart.Move, "with the machine"
		return e
	case c.Cause == gate.Pin:
		e.kind, e.after = chart.Move, "with the build to hold against"
		return e
	case c.From != "" && c.To != "" && c.From != c.To:
		e.from, e.to = c.From, c.To
	case first.Version != "":
		e.with = cut(first.Version, 40)
	}
	fate := ""
	switch {
	case c.Accepted != "":
		e.kind, fate = chart.Accepted, "accepted: "+c.Accepted
	case !c.Worse:
		e.kind, fate = chart.Better, "better"
	case c.Open:
		e.kind, fate = chart.Worse, "OPEN"
	case math.Abs(c.Change) >= t.Threshold:
		fate = "made good since"
	default:
		fate = "below the threshold"
	}
	e.after += ", " + fate
	return e
}

// between says which commits a change lies between; the version that came with it where they are not known.
func (e event) between() string {
	switch {
	case e.from != "":
		return fmt.Sprintf("between %.10s and %.10s", e.from, e.to)
	case e.with != "":
		return "with " + e.with
	}
	return ""
}

func (e event) String() string {
	return e.date + "  " + join(", ", join(" ", e.size, e.between()), e.after)
}

var bars = []rune("▁▂▃▄▅▆▇█")

// sparkline draws the values, one column a night, or where there are too many, the median of several. Its height is at least a tenth of the level, so that noise looks like
// noise.
func sparkline(t gate.Trend, width int) string {
	n := min(width, len(t.Points))
	columns := make([]float64, n)
	for i := range columns {
		var values []float64
		for _, p := range t.Points[i*len(t.Points)/n : (i+1)*len(t.Points)/n] {
			values = append(values, math.Log(p.Value))
		}
		columns[i] = stat.Median(values)
	}
	if n == 0 {
		return unknown
	}
	low, high := slices.Min(columns), slices.Max(columns)
	if least := 0.1; high-low < least {
		low -= (least - (high - low)) / 2
		high = low + least
	}
	var b strings.Builder
	for _, v := range columns {
		i := int(float64(len(bars)) * (v - low) / (high - low))
		b.WriteRune(bars[min(max(0, i), len(bars)-1)])
	}
	return b.String()
}
