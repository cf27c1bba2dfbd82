package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/ddpgate/ddpgate/gate"
)

// Text writes a report for a terminal or a log. Its first line is the verdict in words.
func Text(w io.Writer, c Comparison, o Options) error {
	t := &text{width: o.width(), color: o.Color, brief: o.Brief}
	t.page(newPage(c))
	_, err := io.WriteString(w, t.out.String())
	return err
}

// text lays a page out in columns of one width.
type text struct {
	out   strings.Builder
	width int
	color bool
	brief bool
}

func (t *text) page(p page) {
	word, style := "MEASURED", t.bold()
	if p.judged {
		word, style = strings.ToUpper(called(p.outcome)), t.of(p.outcome).Bold(t.color)
	}
	t.hanging(word+"  ", style, p.headline, t.plain())
	for _, warning := range p.warnings {
		t.hanging("warning: ", t.of(gate.Inconclusive), warning, t.plain())
	}
	for _, s := range p.sections {
		t.line("")
		t.section(s)
	}
	if len(p.discarded) > 0 {
		t.line("")
		t.line(t.bold().Render("not judged: " + plural(len(p.discarded), "run")))
		for _, d := range p.discarded {
			t.hanging("  ", t.plain(), d, t.plain())
		}
	}
	if len(p.facts) > 0 {
		t.line("")
	}
	for _, f := range p.facts {
		t.hanging(fmt.Sprintf("%-10s", f.name), t.dim(), f.text, t.dim())
	}
}

func (t *text) section(s section) {
	t.hanging(plain(s.name)+"  ", t.bold(), s.about, t.dim())
	t.table(gatedTable(s.gated), t.plain())
	for _, n := range s.notes {
		t.hanging("  "+plain(n.metrics)+"  ", t.plain(), n.text, t.plain())
	}
	for _, sum := range s.summaries {
		t.hanging(sum.arm+": ", t.bold(), sum.about, t.plain())
		t.table(figureTable("metric", sum.gated), t.plain())
		if t.brief {
			t.left(len(sum.others))
		} else {
			t.table(figureTable(notGated, sum.others), t.dim())
		}
	}
	for _, f := range s.failures {
		t.failure(f)
	}
	t.others(s.others)
	for _, r := range s.regions {
		t.regions(r)
	}
}

// regions writes latencies by region; where the report is to be brief, those of whole sessions.
func (t *text) regions(r regional) {
	if t.brief {
		r.rows = slices.DeleteFunc(slices.Clone(r.rows), func(row []string) bool { return !strings.HasPrefix(row[0], "session.") })
	}
	t.line("")
	t.line(t.bold().Render(r.title))
	t.table(r.grid, t.dim())
}

// mostMoved is how many metrics that moved a brief report shows: a slow app moves dozens of latencies at once.
const mostMoved = 10

// others writes what is not gated; where the report is to be brief, only the first of what moved.
func (t *text) others(rows []row) {
	shown := rows
	if t.brief {
		shown = slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.tendency() == "" })
		shown = shown[:min(len(shown), mostMoved)]
	}
	if len(shown) > 0 {
		t.line("")
		t.table(othersTable(shown), t.dim())
	}
	t.left(len(rows) - len(shown))
}

// left says how many metrics are not shown.
func (t *text) left(n int) {
	if n > 0 {
		t.line(t.dim().Render("and " + plural(n, "other metric") + ", not gated"))
	}
}

func (t *text) failure(f failure) {
	t.hanging("", t.plain(), f.title, t.of(gate.Regression))
	for _, reason := range f.reasons {
		t.hanging("  ", t.plain(), reason, t.plain())
	}
	for _, c := range f.causes {
		t.hanging(fmt.Sprintf("  %5d  ", c.count), t.plain(), c.text, t.plain())
		if c.example != "" && c.example != c.text {
			t.hanging("         e.g. ", t.dim(), cut(c.example, widestLine), t.dim())
		}
	}
	if f.left > 0 {
		t.line("         and " + plural(f.left, "other cause"))
	}
	if len(f.output) > 0 {
		t.line("  the app's last lines, " + f.of + ":")
		for _, line := range f.output {
			t.hanging("  | ", t.dim(), line, t.dim())
		}
	}
}

func (t *text) line(s string) { t.out.WriteString(strings.TrimRight(s, " ") + "\n") }

// Numbers keep their signs and units, and names their hyphens, when lines are wrapped: what stands for them has one column and is never
// left in by plain.
var (
	joined = strings.NewReplacer(" %", "\u00a0%", " pp", "\u00a0pp", "-", "\ue000")
	parted = strings.NewReplacer("\u00a0", " ", "\ue000", "-")
)

// hanging writes foreign text after a mark, wrapped so that its further lines stand under its first.
func (t *text) hanging(mark string, markStyle lipgloss.Style, s string, style lipgloss.Style) {
	indent := lipgloss.Width(mark)
	if indent > t.width/2 { // the mark has a line of its own
		t.line(markStyle.Render(middle(strings.TrimSpace(mark), t.width)))
		mark, indent = "    ", 4
	}
	for i, line := range strings.Split(lipgloss.Wrap(joined.Replace(plain(cut(s, mostText))), t.width-indent, ""), "\n") {
		before := strings.Repeat(" ", indent)
		if i == 0 {
			before = markStyle.Render(mark)
		}
		t.line(before + style.Render(parted.Replace(strings.TrimRight(line, " "))))
	}
}

func (t *text) plain() lipgloss.Style { return lipgloss.NewStyle().Inline(true) }

func (t *text) bold() lipgloss.Style { return t.plain().Bold(t.color) }

func (t *text) dim() lipgloss.Style { return t.plain().Faint(t.color) }

// of returns the style of an outcome.
func (t *text) of(o gate.Outcome) lipgloss.Style {
	if !t.color {
		return t.plain()
	}
	colors := map[gate.Outcome]string{gate.Pass: "2", gate.Improvement: "2", gate.Regression: "1"}
	color, known := colors[o]
	if !known {
		color = "3"
	}
	return t.plain().Foreground(lipgloss.Color(color))
}
