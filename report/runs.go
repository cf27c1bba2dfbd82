package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/stat"
)

// A summary is one arm's figures where nothing is held against them.
type summary struct {
	arm    string
	about  string // how many runs, and what became of them
	gated  []figure
	others []figure
}

// A figure is one metric over an arm's runs.
type figure struct {
	metric, median, low, high string
	runs                      int
}

// fit returns the runs that are in order.
func fit(runs []record.Run) []record.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r record.Run) bool { return r.Outcome != record.OK })
}

// setAside says whether a run is one that no verdict rests on.
func setAside(r record.Run) bool { return r.Outcome != record.OK && r.Outcome != record.Failed }

func summarize(a arm) summary {
	s := summary{arm: a.name, about: plural(len(a.runs), "run")}
	for _, o := range []record.Outcome{record.Failed, record.Invalid, record.Interrupted} {
		n := 0
		for _, r := range a.runs {
			if r.Outcome == o {
				n++
			}
		}
		if n > 0 {
			s.about += fmt.Sprintf(", %d %s", n, o)
		}
	}
	values := valuesOf(a.runs)
	for _, name := range slices.SortedFunc(maps.Keys(values), metric.Compare) {
		f := newFigure(name, values[name])
		if def, _ := metric.Lookup(name); def.Gated {
			s.gated = append(s.gated, f)
		} else {
			s.others = append(s.others, f)
		}
	}
	return s
}

// valuesOf returns each metric's value in the runs that are in order. How many sessions ended well is known of failed runs too.
func valuesOf(runs []record.Run) map[string][]float64 {
	values := make(map[string][]float64)
	for _, r := range runs {
		for name, v := range r.Metrics {
			if r.Outcome == record.OK || r.Outcome == record.Failed && counted(name) {
				values[name] = append(values[name], v)
			}
		}
	}
	return values
}

func newFigure(name string, values []float64) figure {
	low, high := slices.Min(values), slices.Max(values)
	scale := scaleOf(name, low, high)
	return figure{name, scale.write(stat.Median(values)), scale.write(low), scale.write(high), len(values)}
}

const (
	mostCauses  = 5
	mostReasons = 5
	mostLines   = 20  // of an app's output
	widestLine  = 200 // characters of one
)

// A failure is what went wrong in one arm of one scenario.
type failure struct {
	title  string
	causes []cause
	left   int // causes that are not shown
	// reasons are why runs are not ok, where no verdict lists them.
	reasons []string
	output  []string // the app's last lines
	of      string   // which run the output is of
}

// A cause is one error that failed sessions.
type cause struct {
	count         int
	text, example string
}

// newFailure collects what went wrong in an arm's runs.
func newFailure(a arm) (f failure, failed bool) {
	var sessions record.Sessions
	bad, died := 0, 0
	causes := make(map[string]cause)
	for _, r := range a.runs {
		sessions.Planned += r.Sessions.Planned
		sessions.Failed += r.Sessions.Failed
		sessions.Dropped += r.Sessions.Dropped
		bad += 1 - len(fit([]record.Run{r}))
		if r.Died {
			died++
		}
		for _, e := range r.Errors {
			c := causes[e.Cause]
			causes[e.Cause] = cause{c.count + e.Count, e.Cause, cmp.Or(c.example, e.Example)}
		}
		for _, reason := range r.Reasons {
			f.reasons = append(f.reasons, fmt.Sprintf("run %d: %s", r.Index+1, reason))
		}
		if len(r.Output) > 0 && f.output == nil {
			f.output, f.of = last(r.Output), fmt.Sprintf("run %d of %s", r.Index+1, a.name)
		}
	}
	f.title = a.name + ": " + happened(len(a.runs), bad, died, sessions)
	f.causes = slices.SortedFunc(maps.Values(causes), func(a, b cause) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.text, b.text))
	})
	if n := len(f.reasons); n > mostReasons {
		f.reasons = append(f.reasons[:mostReasons], "and "+plural(n-mostReasons, "more reason"))
	}
	if n := len(f.causes); n > mostCauses {
		f.causes, f.left = f.causes[:mostCauses], n-mostCauses
	}
	return f, bad+died+sessions.Failed+sessions.Dropped+len(causes)+len(f.reasons)+len(f.output) > 0
}

// happened says in a line what went wrong, from counts.
func happened(runs, bad, died int, sessions record.Sessions) string {
	s := plural(runs, "run") + " ok"
	if bad > 0 {
		s = fmt.Sprintf("%d of %s not ok", bad, plural(runs, "run"))
	}
	if died > 0 {
		s += fmt.Sprintf(", the app died in %d", died)
	}
	if sessions.Failed > 0 || sessions.Dropped > 0 {
		s += fmt.Sprintf("; %d of %s failed", sessions.Failed, plural(sessions.Planned, "session"))
	}
	if sessions.Dropped > 0 {
		s += fmt.Sprintf(", %d never began", sessions.Dropped)
	}
	return s
}

// last returns the last lines, shortened.
func last(lines []string) []string {
	lines = slices.Clone(lines[max(0, len(lines)-mostLines):])
	for i, line := range lines {
		lines[i] = cut(line, widestLine)
	}
	return lines
}
