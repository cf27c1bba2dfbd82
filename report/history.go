package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/gate"
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
	if n := len(h.Nights); n > 0 {
		t.hanging(plain(key)+"  ", t.bold(), fmt.Sprintf("%s, %s to %s", plural(n, "record"), h.Nights[0].Measured.Format(gate.Day), h.Nights[n-1].Measured.Format(gate.Day)), t.dim())
	}
	var scenarios []string
	for _, trend := range h.Trends {
		if !slices.Contains(scenarios, trend.Scenario) {
			scenarios = append(scenarios, trend.Scenario)
		}
	}
	left := 0
	for _, name := range scenarios {
		var shown []gate.Trend
		for _, trend := range h.Trends {
			switch {
			case trend.Scenario != name:
			case o.shows(trend):
				shown = append(shown, trend)
			default:
				left++
			}
		}
		if len(shown) > 0 {
			t.line("")
			t.trends(name, shown, h)
		}
	}
	t.left(left)
	_, err := io.WriteString(w, t.out.String())
	return err
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
	about := ""
	if trends[0].Relative {
		about = "head as a ratio to the build that was measured beside it"
	}
	t.hanging(plain(scenario)+"  ", t.bold(), about, t.dim())
	g := grid{headers: []string{"metric", "trend", "now", "30 days", "90 days", "verdict"}, left: map[int]bool{0: true, 1: true, 5: true}, spare: []int{4, 3}, state: make(map[int]gate.Outcome)}
	for i, trend := range trends {
		verdict := trend.Outcome.String()
		if !trend.Gated {
			verdict = "not gated"
		} else if trend.Outcome == gate.Regression {
			verdict = strings.ToUpper(verdict)
		}
		g.rows = append(g.rows, []string{trend.Metric, sparkline(trend, t.sparkWidth()), now(trend), drifted(trend, 30), drifted(trend, 90), verdict})
		if trend.Gated {
			g.state[i] = trend.Outcome
		}
	}
	t.table(g, t.plain())
	for _, trend := range trends {
		for _, c := range trend.Changes {
			style := t.plain()
			if c.Open {
				style = t.of(gate.Regression)
			}
			t.hanging("  "+plain(trend.Metric)+"  ", t.plain(), changed(trend, c, h), style)
		}
		if trend.Outcome == gate.Regression && !slices.ContainsFunc(trend.Changes, func(c gate.Change) bool { return c.Open }) {
			t.hanging("  "+plain(trend.Metric)+"  ", t.plain(), trend.Reason, t.of(gate.Regression))
		}
		if trend.LeftOut > 0 {
			t.hanging("  "+plain(trend.Metric)+"  ", t.plain(), plural(trend.LeftOut, "record")+" of another load left out", t.dim())
		}
	}
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

// changed says what is known of a change of level.
func changed(t gate.Trend, c gate.Change, h *gate.History) string {
	first := h.Nights[t.Points[c.At].Night]
	s := first.Measured.Format(gate.Day) + "  " + percent(c.Change)
	switch {
	case c.Cause == gate.Machine:
		return s + ", with the machine"
	case c.Cause == gate.Pin:
		return s + ", with the build to hold against"
	case c.From != "" && c.To != "" && c.From != c.To:
		s += fmt.Sprintf(" between %.10s and %.10s", c.From, c.To)
	case first.Version != "":
		s += " with " + cut(first.Version, 40)
	}
	s += fmt.Sprintf(", %s since", plural(c.Nights, "record"))
	switch {
	case c.Accepted != "":
		s += ", accepted: " + c.Accepted
	case !c.Worse:
		s += ", better"
	case c.Open:
		s += ", OPEN"
	case math.Abs(c.Change) >= t.Threshold:
		s += ", made good since"
	default:
		s += ", below the threshold"
	}
	return s
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
