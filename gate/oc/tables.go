package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/ddpgate/ddpgate/gate"
)

var (
	sizes   = []int{3, 5, 8, 10, 15, 20}
	changes = []float64{0, delta / 2, delta, 1.5 * delta, 2 * delta, 3 * delta}
)

// A writer writes the tables, and stops at the first error.
type writer struct {
	out, progress io.Writer
	trials        int
	seed          uint64
	err           error
}

func (w *writer) print(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.out, format, args...)
	}
}

// simulate runs a cell; where nothing changed, or as much as the threshold, what is counted is rare and gets five times the trials.
func (w *writer) simulate(c cell) tally {
	trials := w.trials
	if c.change == 0 || c.change == delta {
		trials *= 5
	}
	return w.often(c, trials)
}

// often runs a cell so many times.
func (w *writer) often(c cell, trials int) tally {
	if w.err != nil {
		return tally{trials: 1, rivals: make([]int, len(rivals))}
	}
	t, err := c.simulate(w.seed, trials)
	if err != nil {
		w.err = err
		return tally{trials: 1, rivals: make([]int, len(rivals))}
	}
	fmt.Fprintf(w.progress, "%s, %d runs, %+.1f %%: %d trials\n", c.model.name, c.n, c.change*100, trials)
	return t
}

func (w *writer) row(cells ...string) { w.print("| %s |\n", strings.Join(cells, " | ")) }

func (w *writer) header(cells ...string) {
	w.row(cells...)
	w.row(strings.Split(strings.Repeat("--- ", len(cells)-1)+"---", " ")...)
}

// all writes every table.
func (w *writer) all(data string) {
	w.print("Figures are percent of builds, ± one Monte Carlo error; %d trials each, and %d where nothing changed or as much as the threshold. Cells of one size share their draws.\n\n", w.trials, 5*w.trials)
	w.modes()
	w.rivals()
	w.twelve()
	w.history()
	w.looks()
	w.calibration()
	if data != "" {
		w.real(data)
	}
}

// modes writes the full grid, interleaved and stored.
func (w *writer) modes() {
	for _, stored := range []bool{false, true} {
		if stored {
			w.print("\n### Stored baseline\n\nOne machine; where machines differ, five earlier records of the baseline, each of another machine. ")
		} else {
			w.print("### A/B on one machine\n\n")
		}
		w.print("Four gated metrics, δ = 5 %%, of which one changes. *Fails*: the build fails; *passes*: the changed metric passes.\n\n")
		head := []string{"noise", "n", "0: fails", "0: undecided"}
		for _, c := range changes[1:] {
			head = append(head, fmt.Sprintf("%+.1f %%: fails", c*100), "passes")
		}
		w.header(head...)
		for _, m := range models {
			for _, n := range sizes {
				c := cell{model: m, n: n, metrics: 4, stored: stored}
				if stored && m.machine > 0 {
					c.earlier = 4
				}
				w.grid(c)
			}
		}
	}
}

// grid writes one row: all changes of one noise and size.
func (w *writer) grid(c cell) {
	row := []string{c.model.name, fmt.Sprint(c.n)}
	for _, c.change = range changes {
		t := w.simulate(c)
		if c.change == 0 {
			row = append(row, t.String(t.failed), t.String(t.trials-t.failed-t.passed))
			continue
		}
		row = append(row, t.String(t.metricFail), t.String(t.metricPass))
	}
	w.row(row...)
}

// rivals writes what other rules do with the same records.
func (w *writer) rivals() {
	w.print("\n### Beside the rules of other tools\n\nThe same builds, 10 runs a side, any of four metrics over the rule fails the build: false failures of an unchanged build, and how often +10 %% is found.\n\n")
	head := []string{"noise", "ours 0", "+10 %"}
	for _, r := range rivals {
		head = append(head, r.name+": 0", "+10 %")
	}
	w.header(head...)
	for _, stored := range []bool{false, true} {
		for _, m := range models {
			if stored && m.machine == 0 {
				continue
			}
			c := cell{model: m, n: 10, metrics: 4, stored: stored, beside: true}
			name := m.name
			if stored {
				c.earlier, name = 4, name+", stored"
			}
			unchanged := w.simulate(c)
			c.change = 2 * delta
			changed := w.simulate(c)
			row := []string{name, unchanged.String(unchanged.failed), changed.String(changed.failed)}
			for i := range rivals {
				row = append(row, unchanged.String(unchanged.rivals[i]), changed.String(changed.rivals[i]))
			}
			w.row(row...)
		}
	}
}

// twelve writes false failures with twelve gated metrics.
func (w *writer) twelve() {
	w.print("\n### Twelve gated metrics, unchanged build, A/B: fails\n\n")
	head := []string{"noise"}
	for _, n := range sizes {
		head = append(head, fmt.Sprint(n, " pairs"))
	}
	w.header(head...)
	for _, m := range models {
		row := []string{m.name}
		for _, n := range sizes {
			t := w.simulate(cell{model: m, n: n, metrics: 12})
			row = append(row, t.String(t.failed))
		}
		w.row(row...)
	}
}

// history writes what moderating the variance by earlier records gains.
func (w *writer) history() {
	w.print("\n### Spread moderated by earlier records, 8 pairs\n\n%d trials each.\n\n", 5*w.trials)
	w.header("noise", "earlier records", "0: fails", "+10 %: fails")
	for _, m := range models[:5] {
		for _, earlier := range []int{0, 5, 10} {
			c := cell{model: m, n: 8, metrics: 4, earlier: earlier}
			unchanged := w.often(c, 5*w.trials)
			c.change = 2 * delta
			changed := w.often(c, 5*w.trials)
			w.row(m.name, fmt.Sprint(earlier), unchanged.String(unchanged.failed), changed.String(changed.metricFail))
		}
	}
}

// looks writes what looking at 5, 8, 10, 13 and 15 pairs does.
func (w *writer) looks() {
	looks := gate.Looks{Min: 5, Max: 15}
	w.print("\n### Looking while runs are made: between %d and %d pairs, looks at %v\n\n", looks.Min, looks.Max, looks.At())
	w.header("noise", "change", "fails", "changed metric passes", "undecided", "mean pairs")
	for _, m := range models[:5] {
		for _, change := range []float64{0, delta, 2 * delta} {
			t := w.simulate(cell{model: m, n: looks.Max, metrics: 4, looks: looks, change: change})
			w.row(m.name, fmt.Sprintf("%+.0f %%", change*100), t.String(t.failed), t.String(t.metricPass),
				t.String(t.trials-t.failed-t.passed), fmt.Sprintf("%.1f", float64(t.runs)/float64(t.trials)))
		}
	}
}

// calibration writes what the calibration load does as a covariate between machines.
func (w *writer) calibration() {
	w.print("\n### The calibration load as a covariate, stored baseline of other machines, 5 runs a record\n\n")
	w.header("calibration load", "records of the baseline", "0: fails", "+10 %: fails", "+15 %: fails", "+30 %: fails")
	for _, earlier := range []int{4, 9, 19} {
		for _, load := range []struct {
			name       string
			calibrated bool
			explains   float64
		}{{"none", false, 0}, {"explains nothing", true, 0}, {"explains 90 %", true, 0.9}, {"explains all", true, 1}} {
			m := models[5]
			m.calibrated, m.explains = load.calibrated, load.explains
			c := cell{model: m, n: 5, metrics: 4, stored: true, earlier: earlier}
			unchanged := w.simulate(c)
			row := []string{load.name, fmt.Sprint(earlier + 1), unchanged.String(unchanged.failed)}
			for _, c.change = range []float64{0.10, 0.15, 0.30} {
				t := w.simulate(c)
				row = append(row, t.String(t.metricFail))
			}
			w.row(row...)
		}
	}
}
