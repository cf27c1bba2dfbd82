package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/gate"
)

// mostNights is how many nights a page lists.
const mostNights = 1000

// A nightsView is the table of a scenario's nights, newest first.
type nightsView struct {
	Title   string
	Headers []cell
	Rows    []nightView
}

// A nightView is one night. Address is where its commit can be seen, empty for nowhere.
type nightView struct {
	Date, Commit, Address string
	Note                  string
	Figures               []string // a metric each
	Texts                 []string // under the columns that there is anything to say in
}

// A column is what a table of nights says of each, beside its date and its commit.
type column struct {
	name string
	of   func(gate.Night) string
}

// columns returns those in which the nights are not all alike.
func columns(nights []gate.Night) []column {
	all := []column{
		{"version", func(n gate.Night) string {
			if n.Version == n.Commit {
				return ""
			}
			return cut(n.Version, 40)
		}},
		{"held against", func(n gate.Night) string { return cut(n.Pinned, 40) }},
		{"verdict then", func(n gate.Night) string { return n.Verdict }},
		{"machine", func(n gate.Night) string { return n.Machine }},
	}
	return slices.DeleteFunc(all, func(c column) bool {
		return !slices.ContainsFunc(nights, func(n gate.Night) bool { return c.of(n) != c.of(nights[0]) }) && (c.name == "machine" || len(nights) == 0 || c.of(nights[0]) == "")
	})
}

func newNightsView(trends []gate.Trend, h *gate.History) nightsView {
	v := nightsView{Title: plural(len(h.Nights), "night") + ", newest first"}
	if len(h.Nights) > mostNights {
		v.Title = fmt.Sprintf("The newest %d of %d nights; --format json has all", mostNights, len(h.Nights))
	}
	described := columns(h.Nights)
	v.Headers = []cell{{Text: "date", Class: "left"}, {Text: "commit", Class: "left"}, {Text: "note", Class: "left"}}
	var figures []map[int]string
	odd := make(map[int][]string)
	for _, t := range trends {
		v.Headers = append(v.Headers, cell{Text: t.Metric})
		figures = append(figures, figuresOf(t))
		for _, p := range t.Points {
			if p.Spike {
				odd[p.Night] = append(odd[p.Night], t.Metric)
			}
		}
	}
	for _, c := range described {
		v.Headers = append(v.Headers, cell{Text: c.name, Class: "left"})
	}
	for i := len(h.Nights) - 1; i >= max(0, len(h.Nights)-mostNights); i-- {
		row := newNightView(h.Nights[i], noted(h.Nights[i], h.LeftOut(trends[0].Scenario, i), odd[i]))
		for _, f := range figures {
			row.Figures = append(row.Figures, or(f[i], unknown))
		}
		for _, c := range described {
			row.Texts = append(row.Texts, or(c.of(h.Nights[i]), unknown))
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

func newNightView(n gate.Night, note string) nightView {
	row := nightView{Date: n.Measured.Format(gate.Day), Commit: fmt.Sprintf("%.10s", or(n.Commit, unknown)), Note: note}
	if at := site(n); at != "" {
		row.Address = at + "/commit/" + n.Commit
	}
	return row
}

// figuresOf writes the medians of a trend, by night, in one unit.
func figuresOf(t gate.Trend) map[int]string {
	var values []float64
	for _, p := range t.Points {
		values = append(values, p.Value)
	}
	unit := scaleOf(t.Metric, values...)
	written := make(map[int]string)
	for _, p := range t.Points {
		if written[p.Night] = unit.write(p.Value); t.Relative {
			written[p.Night] = digits(p.Value) + "×"
		}
	}
	return written
}

// noted says what is special about a night.
func noted(n gate.Night, leftOut string, odd []string) string {
	var notes []string
	if leftOut != "" {
		notes = append(notes, "left out: "+leftOut)
	}
	if len(odd) > 0 {
		notes = append(notes, "spike: "+strings.Join(odd, ", "))
	}
	if n.Accepted != "" {
		notes = append(notes, "accepted: "+n.Accepted)
	}
	return strings.Join(notes, "; ")
}
