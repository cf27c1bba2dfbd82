package report

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/report/chart"
)

// A picture is a chart with what it shows in words and in figures.
type picture struct {
	kind    kind
	subject string // what it is of, as raw text: a metric, a series, a histogram
	title   string // raw, as are the other texts
	alt     string
	note    string // what must be known to read it
	drawing chart.Drawing
	figures grid
}

// A kind is what a picture shows. Its text is the start of a file's name.
type kind string

const (
	effects   kind = "effects"
	unweighed kind = "effects-not-gated" // effects of what is not gated
	inOrder   kind = "runs"
	overTime  kind = "time"
	latencies kind = "latency"
	secondary kind = "latency-more" // latencies that say little beside the others
)

// pictures returns all charts of one scenario, in the order in which they are looked at.
func (c Comparison) pictures(scenario string) ([]picture, error) {
	var all []picture
	for _, of := range []func(string) ([]picture, error){c.forests, c.dots, c.series, c.percentiles} {
		some, err := of(scenario)
		if err != nil {
			return nil, fmt.Errorf("charts of scenario %q: %w", scenario, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// drawer is what draws one chart.
type drawer interface{ Draw() (chart.Drawing, error) }

// draw adds a picture, unless there is nothing to draw.
func draw(all []picture, p picture, d drawer) ([]picture, error) {
	drawing, err := d.Draw()
	switch {
	case errors.Is(err, chart.ErrEmpty):
		return all, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", p.title, err)
	}
	p.drawing = drawing
	return append(all, p), nil
}

// forests draws a scenario's effects against their limits: those that are gated, and the others.
func (c Comparison) forests(scenario string) ([]picture, error) {
	if !c.compared() {
		return nil, nil
	}
	var all []picture
	gated := picture{kind: effects, title: "Change against the limit", note: "Each interval against its own limit, beyond which the scale is logarithmic."}
	others := picture{kind: unweighed, title: "Change of what is not gated"}
	var forest, rest chart.Forest
	var rows, otherRows []row
	for _, f := range c.findings(scenario) {
		r := newRow(f)
		switch e, ok := effect(f, r); {
		case f.Gated:
			forest, rows = append(forest, e), append(rows, r)
		case ok:
			rest, otherRows = append(rest, e), append(otherRows, r)
		}
	}
	gated.figures, gated.alt = gatedTable(rows), changes(rows)
	others.figures, others.alt = othersTable(otherRows), changes(otherRows)
	all, err := draw(all, gated, forest)
	if err != nil {
		return nil, err
	}
	return draw(all, others, rest)
}

// effect returns a finding as changes in multiples of its limit, and whether there is anything to draw.
func effect(f gate.Finding, r row) (e chart.Effect, ok bool) {
	worse := 1 / f.Threshold
	if f.Better == "higher" || f.Better == "" && higher(f.Metric) {
		worse = -worse
	}
	e = chart.Effect{Name: plain(f.Metric), Change: r.change, Estimate: f.Change * worse, Lower: f.Lower * worse, Upper: f.Upper * worse}
	if worse < 0 {
		e.Lower, e.Upper = e.Upper, e.Lower
	}
	switch {
	case f.Outcome == gate.Regression:
		e.State = chart.Bad
	case f.Outcome.Passed():
		e.State = chart.Good
	}
	if r.change == unknown {
		e.Change = "unknown"
	}
	return e, f.Threshold > 0 && !missing(f.Change)
}

// changes says a list of effects in words.
func changes(rows []row) string {
	parts := make([]string, len(rows))
	for i, r := range rows {
		parts[i] = fmt.Sprintf("%s %s between %s, limit %s: %s", r.metric, r.change, r.between, r.limit, r.outcome)
	}
	return "Changes of head against base, with their intervals. " + strings.Join(parts, "; ")
}
