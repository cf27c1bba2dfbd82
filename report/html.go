package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/report/chart"
)

var (
	//go:embed parts.html
	partsTemplate string
	//go:embed page.html
	pageTemplate string
	//go:embed history.html
	historyTemplate string
	//go:embed page.css
	pageStyle string
	//go:embed history.css
	historyStyle string
)

// HTML writes a report as one page that asks nothing of anybody: no scripts, no requests, for light and dark screens, phones and paper.
// Its first lines are the verdict in words. It fails where a record's histograms cannot be read.
func HTML(w io.Writer, c Comparison) error {
	v, err := newView(c)
	if err != nil {
		return err
	}
	return writePage(w, "page", v)
}

// writePage writes the page that a template makes of a view.
func writePage(w io.Writer, name string, v any) error {
	pages, err := template.New("").Funcs(template.FuncMap{
		"show":  shown,
		"mark":  func(o gate.Outcome) string { return marks[o] },
		"class": func(o gate.Outcome) string { return o.String() },
	}).Parse(partsTemplate + pageTemplate + historyTemplate)
	if err != nil {
		panic("the pages' template is wrong: " + err.Error()) // it is our own
	}
	var out strings.Builder
	if err := pages.ExecuteTemplate(&out, name, v); err != nil {
		return err
	}
	_, err = io.WriteString(w, out.String())
	return err
}

// shown returns foreign text as a browser may have it: with nothing to obey, and units on the line of their numbers.
func shown(s string) string {
	return unbroken.Replace(plain(cut(s, mostText)))
}

var unbroken = strings.NewReplacer(" %", "\u00a0%", " pp", "\u00a0pp")

// marks tell outcomes apart without colour, in fonts that all systems have.
var marks = map[gate.Outcome]string{
	gate.Inconclusive: "?", gate.Pass: "✓", gate.Improvement: "✓", gate.Unmeasured: "!", gate.Regression: "✗",
}

// A view is a page with its pictures, as the template reads it.
type view struct {
	Style     template.CSS
	Judged    bool
	Outcome   gate.Outcome
	Word      string
	Headline  string
	Basis     string // on what it rests, in a line
	Warnings  []string
	Scenarios []scenarioView
	Discarded []string
	Facts     []factView
	Arms      []string
	Traits    []traitView
}

type factView struct{ Name, Text string }

type traitView struct {
	Name    string
	Sides   []string
	Differs bool
}

type scenarioView struct {
	Name, About string
	Judged      bool
	Outcome     gate.Outcome
	Open        bool // shown at once
	Chips       []chipView
	Forest      []pictureView
	Table       tableView
	Notes       []factView
	Summaries   []summaryView
	Failures    []failureView
	Groups      []groupView
	More        []groupView // folded
}

// A chipView is a metric in the overview.
type chipView struct {
	Metric, Change string
	Outcome        gate.Outcome
}

type summaryView struct {
	Arm, About string
	Gated      tableView
	Others     tableView
	Left       int
}

type failureView struct {
	Title   string
	Reasons []string
	Causes  []causeView
	Left    string
	Output  []string
	Of      string
}

type causeView struct {
	Count         string
	Text, Example string
}

// A groupView is pictures under one heading, and a table.
type groupView struct {
	Title    string
	Pictures []pictureView
	Table    tableView
}

type pictureView struct {
	Title, Note string
	Drawing     template.HTML
	Figures     tableView
}

// mostOpen is how many scenarios are all shown at once; of more, only those that are not settled.
const mostOpen = 3

func newView(c Comparison) (view, error) {
	p := newPage(c)
	v := view{Judged: p.judged, Outcome: p.outcome, Word: "measured", Headline: p.headline, Warnings: p.warnings, Discarded: p.discarded}
	if p.judged {
		v.Word = called(p.outcome)
	}
	v.Style = style()
	for _, f := range p.facts {
		v.Facts = append(v.Facts, factView{f.name, f.text})
	}
	sides := c.sides()
	v.Basis = c.basis(sides)
	for _, s := range sides {
		v.Arms = append(v.Arms, s.arm)
	}
	for _, t := range traits(sides) {
		v.Traits = append(v.Traits, traitView{t.name, t.sides, t.differs})
	}
	for _, s := range p.sections {
		pictures, err := c.pictures(s.name)
		if err != nil {
			return v, err
		}
		shown := newScenarioView(s, pictures)
		shown.Open = shown.Open || len(p.sections) <= mostOpen
		v.Scenarios = append(v.Scenarios, shown)
	}
	return v, nil
}

// style returns the CSS of a page and its charts.
func style() template.CSS {
	return template.CSS(":root{" + chart.Variables(false) + "}@media screen and (prefers-color-scheme:dark){:root{" + chart.Variables(true) + "}}" + chart.Style() + pageStyle)
}

func newScenarioView(s section, pictures []picture) scenarioView {
	v := scenarioView{Name: s.name, About: s.about, Judged: len(s.gated) > 0, Table: newTable("What is gated", gatedTable(s.gated))}
	v.Outcome = worst(s.gated)
	v.Open = v.Judged && !v.Outcome.Passed() || len(s.failures) > 0
	for _, r := range s.gated {
		change := r.change
		if change == unknown {
			change = "unknown"
		}
		v.Chips = append(v.Chips, chipView{r.metric, change, r.outcome})
	}
	for _, n := range s.notes {
		v.Notes = append(v.Notes, factView{n.metrics, n.text})
	}
	for _, sum := range s.summaries {
		v.Summaries = append(v.Summaries, summaryView{sum.arm, sum.about, newTable("Figures of "+sum.arm, figureTable("metric", sum.gated)), newTable("Other figures of "+sum.arm, figureTable(notGated, sum.others)), len(sum.others)})
	}
	for _, f := range s.failures {
		v.Failures = append(v.Failures, newFailureView(f))
	}
	v.Forest = viewsOf(pictures, effects)
	for _, g := range []groupView{{Title: "Runs, in the order in which they were made", Pictures: viewsOf(pictures, inOrder)},
		{Title: "Over time", Pictures: viewsOf(pictures, overTime)}, {Title: "Latencies", Pictures: viewsOf(pictures, latencies)}} {
		if len(g.Pictures) > 0 {
			v.Groups = append(v.Groups, g)
		}
	}
	if more := viewsOf(pictures, secondary); len(more) > 0 {
		v.More = append(v.More, groupView{Title: "More latencies: " + plural(len(more), "chart"), Pictures: more})
	}
	for _, r := range s.regions {
		v.More = append(v.More, groupView{Title: "Latencies of " + r.title, Table: newTable("Latencies of "+r.title, r.grid)})
	}
	if len(s.others) > 0 {
		v.More = append(v.More, groupView{Title: "Not gated: " + plural(len(s.others), "metric"), Pictures: viewsOf(pictures, unweighed), Table: newTable("What is not gated", othersTable(s.others))})
	}
	return v
}

// worst returns the outcome that a scenario has from its gated metrics.
func worst(rows []row) gate.Outcome {
	all := gate.Pass
	for _, r := range rows {
		switch {
		case r.outcome == gate.Regression:
			return gate.Regression
		case !r.outcome.Passed():
			all = gate.Inconclusive
		}
	}
	return all
}

func viewsOf(pictures []picture, of kind) []pictureView {
	var all []pictureView
	for _, p := range pictures {
		if p.kind == of {
			drawing := template.HTML(p.drawing.Inline(plain(p.alt))) // escapes what comes from outside
			all = append(all, pictureView{p.title, p.note, drawing, newTable("Figures of the chart: "+p.title, p.figures.even())})
		}
	}
	return all
}

func newFailureView(f failure) failureView {
	v := failureView{Title: f.title, Reasons: f.reasons, Output: f.output, Of: f.of}
	for _, c := range f.causes {
		shown := causeView{Count: plural(c.count, "session"), Text: c.text}
		if c.example != c.text {
			shown.Example = cut(c.example, widestLine)
		}
		v.Causes = append(v.Causes, shown)
	}
	if f.left > 0 {
		v.Left = plural(f.left, "other cause")
	}
	return v
}

// A tableView is a table as the template reads it.
type tableView struct {
	Caption string
	Headers []cell
	Rows    [][]cell
}

type cell struct{ Text, Class, Mark string }

func newTable(caption string, g grid) tableView {
	t := tableView{Caption: caption}
	class := func(column int) string {
		var classes []string
		if g.left[column] {
			classes = append(classes, "left")
		}
		for _, spare := range g.spare {
			if spare == column {
				classes = append(classes, "spare")
			}
		}
		return strings.Join(classes, " ")
	}
	for i, h := range g.headers {
		if h == "verdict" {
			h = "" // signs and colours say it where space is short
		}
		t.Headers = append(t.Headers, cell{Text: h, Class: class(i)})
	}
	for n, r := range g.rows {
		var cells []cell
		for i, text := range r {
			c := cell{Text: text, Class: class(i)}
			if o, ok := g.state[n]; ok && i == len(r)-1 {
				c = cell{strings.ToLower(text), join(" ", c.Class, "of-"+o.String()), marks[o]}
			}
			cells = append(cells, c)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}
