package report

import (
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	lgtable "charm.land/lipgloss/v2/table"

	"github.com/ddpgate/ddpgate/gate"
)

// A grid is a table before it is laid out. Its first column is names, which may be cut to fit.
type grid struct {
	headers []string
	rows    [][]string
	left    map[int]bool         // columns that are flush left
	spare   []int                // columns to leave out, one after the other, where space is short: from right to left
	state   map[int]gate.Outcome // of rows whose last column is an outcome
}

// notGated heads the metrics that decide nothing.
const notGated = "not gated"

func gatedTable(rows []row) grid {
	g := grid{headers: []string{"metric", "base", "head", "change", "between %", "limit", "verdict"}, left: map[int]bool{0: true, 6: true}, spare: []int{5, 4}, state: make(map[int]gate.Outcome)}
	for i, r := range rows {
		verdict := r.outcome.String()
		if r.outcome == gate.Regression {
			verdict = strings.ToUpper(verdict)
		}
		g.rows = append(g.rows, []string{r.metric, r.base, r.head, r.change, r.between, r.limit, verdict})
		g.state[i] = r.outcome
	}
	return g
}

func othersTable(rows []row) grid {
	g := grid{headers: []string{notGated, "base", "head", "change", "between %", ""}, left: map[int]bool{0: true, 5: true}, spare: []int{4}}
	for _, r := range rows {
		g.rows = append(g.rows, []string{r.metric, r.base, r.head, r.change, r.between, r.tendency()})
	}
	return g
}

func figureTable(title string, figures []figure) grid {
	g := grid{headers: []string{title, "median", "lowest", "highest", "runs"}, left: map[int]bool{0: true}}
	for _, f := range figures {
		g.rows = append(g.rows, []string{f.metric, f.median, f.low, f.high, strconv.Itoa(f.runs)})
	}
	return g
}

const gap = 2 // between columns

// table writes a table in which whatever is no outcome has one style.
func (t *text) table(g grid, style lipgloss.Style) {
	if len(g.rows) == 0 {
		return
	}
	g = g.fit(t.width)
	last := len(g.headers) - 1
	lines := lgtable.New().
		Border(lipgloss.Border{}).BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderColumn(false).BorderHeader(false).
		Headers(g.headers...).Rows(g.rows...).
		StyleFunc(func(row, column int) lipgloss.Style {
			s := style
			if row == lgtable.HeaderRow {
				s = t.dim()
			} else if o, ok := g.state[row]; ok && column == last {
				s = t.of(o)
			}
			s = s.Inline(false).Align(lipgloss.Right)
			if g.left[column] {
				s = s.Align(lipgloss.Left)
			}
			if column < last {
				s = s.PaddingRight(gap)
			}
			return s
		})
	for line := range strings.SplitSeq(lines.String(), "\n") {
		t.line(line)
	}
}

// fit escapes the names, and makes the table narrower where it is too wide: by the spare columns, then by cutting names in the middle,
// since their ends tell them apart.
func (g grid) fit(width int) grid {
	for _, r := range g.rows {
		r[0] = plain(r[0])
	}
	for _, column := range g.spare {
		if g.width() > width {
			g = g.without(column)
		}
	}
	over := g.width() - width
	if over <= 0 {
		return g
	}
	room := max(8, g.column(0)-over)
	for _, r := range g.rows {
		r[0] = middle(r[0], room)
	}
	return g
}

func (g grid) width() int {
	sum := gap * (len(g.headers) - 1)
	for i := range g.headers {
		sum += g.column(i)
	}
	return sum
}

func (g grid) column(i int) int {
	w := lipgloss.Width(g.headers[i])
	for _, r := range g.rows {
		w = max(w, lipgloss.Width(r[i]))
	}
	return w
}

// without leaves a column out.
func (g grid) without(column int) grid {
	cut := func(cells []string) []string {
		return append(append([]string{}, cells[:column]...), cells[column+1:]...)
	}
	narrow := grid{headers: cut(g.headers), left: make(map[int]bool), state: g.state}
	for _, r := range g.rows {
		narrow.rows = append(narrow.rows, cut(r))
	}
	for i := range g.left {
		if i > column {
			i--
		}
		narrow.left[i] = true
	}
	return narrow
}

// middle cuts text in the middle to a number of columns.
func middle(s string, columns int) string {
	r := []rune(s)
	for n := min(columns, len(r)); lipgloss.Width(s) > columns && n > 1; n-- {
		end := (n - 1) * 2 / 3
		s = string(r[:n-1-end]) + "…" + string(r[len(r)-end:])
	}
	return s
}
