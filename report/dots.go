package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/report/chart"
	"github.com/ddpgate/ddpgate/stat"
)

// of returns how charts name an arm.
func (a arm) of() chart.Arm {
	if a.name == record.Base {
		return chart.Base
	}
	return chart.Head
}

// higher says whether more of a metric is better.
func higher(name string) bool {
	def, _ := metric.Lookup(name)
	return def.Better == metric.Higher
}

// decisive returns the metrics whose runs are drawn: those that are gated.
func (c Comparison) decisive(scenario string) []string {
	var names []string
	if c.compared() {
		for _, f := range c.findings(scenario) {
			if f.Gated {
				names = append(names, f.Metric)
			}
		}
		return names
	}
	return metric.Gated()
}

// dots draws the runs of each metric that is gated, in the order in which they were made.
func (c Comparison) dots(scenario string) ([]picture, error) {
	arms := c.arms(scenario)
	var all []picture
	for _, name := range c.decisive(scenario) {
		var err error
		if all, err = dotsOf(all, name, arms); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func dotsOf(all []picture, name string, arms []arm) ([]picture, error) {
	scale := scaleOf(name, valuesIn(name, arms)...)
	runs := chart.Runs{Unit: scale.unit}
	if counted(name) {
		runs.Most = 1 / scale.factor
	}
	p := picture{kind: inOrder, subject: name, title: name + " of each run", figures: grid{headers: []string{"run"}, left: map[int]bool{0: true}}}
	var parts []string
	for i, a := range arms {
		drawn := chart.ArmRuns{Arm: a.of(), Median: math.NaN()}
		p.figures.headers = append(p.figures.headers, a.name)
		for n, r := range a.runs {
			v, found := r.Metrics[name]
			if !found {
				v = math.NaN()
			}
			drawn.Values = append(drawn.Values, v/scale.factor)
			drawn.Out = append(drawn.Out, found && len(valuesOf([]record.Run{r})[name]) == 0)
			p.figures.set(n, i+1, strconv.Itoa(n+1), mark(scale.write(v), r))
		}
		if judged := valuesOf(a.runs)[name]; len(judged) > 0 {
			drawn.Median = stat.Median(judged) / scale.factor
			parts = append(parts, fmt.Sprintf("median of %s %s", a.name, scale.write(stat.Median(judged))))
		}
		runs.Arms = append(runs.Arms, drawn)
	}
	p.alt = fmt.Sprintf("%s of each run, in the order in which they were made. %s", name, strings.Join(parts, "; "))
	if runs.Excluded() {
		p.note = "a cross is a run that does not count"
	}
	return draw(all, p, runs)
}

// mark says beside a figure that its run is not in order.
func mark(figure string, r record.Run) string {
	if r.Outcome == record.OK {
		return figure
	}
	return figure + " (" + string(r.Outcome) + ")"
}

// valuesIn returns a metric's values in all runs.
func valuesIn(name string, arms []arm) []float64 {
	var all []float64
	for _, a := range arms {
		for _, r := range a.runs {
			if v, found := r.Metrics[name]; found {
				all = append(all, v)
			}
		}
	}
	return all
}

// set writes a cell of a table that has a title a row, and makes the table longer where it must be.
func (g *grid) set(row, column int, title, cell string) {
	for len(g.rows) <= row {
		g.rows = append(g.rows, nil)
	}
	r := g.rows[row]
	for len(r) <= column {
		r = append(r, "")
	}
	r[0], r[column] = title, cell
	g.rows[row] = r
}

// even gives each row as many cells as there are headers.
func (g grid) even() grid {
	rows := slices.Clone(g.rows)
	for i, r := range rows {
		rows[i] = append(slices.Clone(r), make([]string, max(0, len(g.headers)-len(r)))...)
	}
	g.rows = rows
	return g
}
