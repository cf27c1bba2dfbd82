package report

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ddpgate/ddpgate/gate"
)

// Markdown writes a report in GitHub's Markdown, for a comment or a job's summary. Its first line is the verdict in words.
func Markdown(w io.Writer, c Comparison) error {
	m := new(markdown)
	m.page(newPage(c))
	_, err := io.WriteString(w, m.out.String())
	return err
}

type markdown struct {
	out   strings.Builder
	folds bool // gated metrics that are settled are shown on demand
}

// signs are seen before words are read; the words stand beside them.
var signs = map[gate.Outcome]string{
	gate.Inconclusive: "❔", gate.Pass: "✅", gate.Improvement: "✅", gate.Unmeasured: "⚠️", gate.Regression: "❌",
}

// block writes a block of its own.
func (m *markdown) block(s string) { m.out.WriteString(s + "\n\n") }

// list writes a list, if there is anything on it.
func (m *markdown) list(items []string) {
	for _, item := range items {
		m.out.WriteString("- " + item + "\n")
	}
	if len(items) > 0 {
		m.out.WriteString("\n")
	}
}

func (m *markdown) page(p page) {
	m.block("### " + p.title() + ": " + prose(p.headline))
	m.warn(p)
	for _, s := range p.sections {
		m.section(s)
	}
	m.foot(p)
}

// title is the verdict in a word.
func (p page) title() string {
	if !p.judged {
		return "Measured"
	}
	word := called(p.outcome)
	return signs[p.outcome] + " " + strings.ToUpper(word[:1]) + word[1:]
}

func (m *markdown) warn(p page) {
	for _, warning := range p.warnings {
		m.block("> ⚠️ " + prose(warning))
	}
}

// foot writes what the verdict rests on.
func (m *markdown) foot(p page) {
	if len(p.discarded) > 0 {
		m.block(plural(len(p.discarded), "run") + " not judged:")
		m.list(each(p.discarded, prose))
	}
	var facts []string
	for _, f := range p.facts {
		facts = append(facts, "**"+f.name+"** "+prose(f.text))
	}
	if len(facts) > 0 {
		m.block(strings.Join(facts, "<br>\n"))
	}
}

func each(all []string, f func(string) string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = f(s)
	}
	return out
}

func (m *markdown) section(s section) {
	title := "**" + code(s.name) + "**"
	if s.about != "" {
		title += " " + prose(s.about)
	}
	m.block(title)
	shown, settled := s.gated, []row(nil)
	if m.folds {
		shown, settled = s.unsettled()
	}
	if len(shown) > 0 {
		m.table(gatedMarkdown(shown))
	}
	m.fold("settled: "+plural(len(settled), "metric")+" not worse", gatedMarkdown(settled))
	var notes []string
	for _, n := range s.notes {
		notes = append(notes, code(n.metrics)+" – "+prose(n.text))
	}
	m.list(notes)
	for _, sum := range s.summaries {
		m.block("**" + sum.arm + "** " + prose(sum.about))
		m.table(figureMarkdown(sum.gated))
		m.fold(notGated+": "+plural(len(sum.others), "metric"), figureMarkdown(sum.others))
	}
	for _, f := range s.failures {
		m.failure(f)
	}
	m.fold(notGated+": "+plural(len(s.others), "metric"), othersMarkdown(s.others))
	for _, r := range s.regions {
		m.fold(r.title+": latencies", r.markdown())
	}
}

func (m *markdown) failure(f failure) {
	m.block("**" + prose(f.title) + "**")
	items := each(f.reasons, prose)
	for _, c := range f.causes {
		item := plural(c.count, "session") + ": " + prose(c.text)
		if c.example != "" && c.example != c.text {
			item += ", for example " + code(cut(c.example, widestLine))
		}
		items = append(items, item)
	}
	if f.left > 0 {
		items = append(items, plural(f.left, "other cause"))
	}
	m.list(items)
	if len(f.output) > 0 {
		m.block("<details><summary>The app's last lines, " + f.of + "</summary>")
		m.block(fenced(f.output) + "\n</details>")
	}
}

// fold writes a table that is shown on demand, if it has rows.
func (m *markdown) fold(summary string, table [][]string) {
	if len(table) < 2 {
		return
	}
	m.block("<details><summary>" + summary + "</summary>")
	m.table(table)
	m.block("</details>")
}

// table writes rows of Markdown, the first of which is the header. The first column is flush left, and the last where it has no
// figures.
func (m *markdown) table(rows [][]string) {
	for i, cells := range rows {
		m.out.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if i == 0 {
			last := ":--"
			if cells[len(cells)-1] == "runs" {
				last = "--:"
			}
			m.out.WriteString("|:--" + strings.Repeat("|--:", len(cells)-2) + "|" + last + "|\n")
		}
	}
	m.out.WriteString("\n")
}

func gatedMarkdown(rows []row) [][]string {
	table := [][]string{{"metric", "base", "head", "change", "between %", "limit", "verdict"}}
	for _, r := range rows {
		change, verdict := r.change, signs[r.outcome]+" "+r.outcome.String()
		if r.outcome == gate.Regression {
			change, verdict = "**"+change+"**", "**"+verdict+"**"
		}
		table = append(table, []string{code(r.metric), r.base, r.head, change, r.between, r.limit, verdict})
	}
	return table
}

func othersMarkdown(rows []row) [][]string {
	table := [][]string{{"metric", "base", "head", "change", "between %", "went"}}
	for _, r := range rows {
		table = append(table, []string{code(r.metric), r.base, r.head, r.change, r.between, r.tendency()})
	}
	return table
}

func figureMarkdown(figures []figure) [][]string {
	table := [][]string{{"metric", "median", "lowest", "highest", "runs"}}
	for _, f := range figures {
		table = append(table, []string{code(f.metric), f.median, f.low, f.high, strconv.Itoa(f.runs)})
	}
	return table
}

func (r regional) markdown() [][]string {
	headers := slices.Clone(r.headers)
	for i := 1; i < len(headers)-1; i++ {
		headers[i] = code(headers[i])
	}
	table := [][]string{headers}
	for _, row := range r.rows {
		table = append(table, append([]string{code(row[0])}, row[1:]...))
	}
	return table
}
