package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
)

// A page is what a report says, whatever it is written in. Its strings are raw: each format escapes them.
type page struct {
	outcome   gate.Outcome
	judged    bool // there is an outcome
	headline  string
	warnings  []string
	sections  []section
	discarded []string
	facts     []fact
}

// compared says whether there is a verdict on two sides.
func (c Comparison) compared() bool { return c.Verdict != nil && c.Verdict.Design != gate.Alone }

// A section is one scenario.
type section struct {
	name      string
	about     string // its load, and how many runs of it there are
	gated     []row
	others    []row
	notes     []note
	summaries []summary
	failures  []failure
	regions   []regional
}

// A row is one metric, base held against head.
type row struct {
	metric, base, head, change, between, limit string
	outcome                                    gate.Outcome
}

// A note qualifies the rows of metrics.
type note struct {
	metrics string // names, separated by commas
	text    string
}

// A fact is one line of what the verdict rests on.
type fact struct{ name, text string }

func newPage(c Comparison) page {
	p := page{headline: measured(c), warnings: warnings(c), facts: facts(c)}
	if v := c.Verdict; v != nil {
		p.outcome, p.headline = v.Outcome, v.Reason
		p.judged = c.compared() || !v.Outcome.Passed() // to have been measured is no pass
		for _, d := range v.Discarded {
			where := fmt.Sprintf("%s, run %d of %s: ", d.Scenario, d.Index+1, d.Arm) // people count from 1
			p.discarded = append(p.discarded, where+strings.Join(d.Reasons, "; "))
		}
	}
	for _, name := range c.scenarios() {
		p.sections = append(p.sections, c.section(name))
	}
	return p
}

// measured is the headline where nothing was judged.
func measured(c Comparison) string {
	runs, unfit := 0, 0
	names := c.scenarios()
	for _, name := range names {
		for _, a := range c.arms(name) {
			runs += len(a.runs)
			unfit += len(a.runs) - len(fit(a.runs))
		}
	}
	s := plural(len(names), "scenario") + ", " + plural(runs, "run")
	if unfit > 0 {
		s += fmt.Sprintf(", %d of them not ok", unfit)
	}
	return s
}

func warnings(c Comparison) []string {
	var all []string
	for _, r := range []struct {
		arm string
		*record.Record
	}{{record.Base, c.Base}, {record.Head, c.Head}} {
		if r.Record == nil || r.arm == record.Base && c.Base == c.Head {
			continue
		}
		if r.Interrupted && c.Verdict == nil { // else the verdict says so
			all = append(all, fmt.Sprintf("the record of %s was interrupted before all was measured", r.arm))
		}
		if shift := r.Environment.Shift; shift != "" {
			all = append(all, fmt.Sprintf("%s: %s", r.arm, shift))
		}
		if r.Altered {
			all = append(all, fmt.Sprintf("the record of %s was changed after it was written", r.arm))
		}
	}
	if c.Verdict != nil {
		all = append(all, c.Verdict.Warnings...)
	}
	return all
}

func (c Comparison) section(name string) section {
	s := section{name: name}
	for _, a := range c.arms(name) {
		s.regions = append(s.regions, regionals(a)...)
		if c.Verdict != nil {
			a.runs = slices.DeleteFunc(a.runs, setAside) // the verdict lists them
		}
		if f, failed := newFailure(a); failed {
			s.failures = append(s.failures, f)
		}
	}
	if !c.compared() {
		s.about = c.about(name)
		for _, a := range c.arms(name) {
			s.summaries = append(s.summaries, summarize(a))
		}
		if len(s.summaries) == 0 {
			s.about = join(", ", s.about, "no runs")
		}
		return s
	}
	findings := c.findings(name)
	base, head := usual(findings)
	s.about = join(", ", c.about(name), sides(base, head))
	for _, f := range findings {
		if r := newRow(f); f.Gated {
			s.gated = append(s.gated, r)
		} else {
			s.others = append(s.others, r)
		}
		for _, text := range notes(f, base, head) {
			s.note(f.Metric, text)
		}
	}
	return s
}

// note adds what is to be said of a metric, once for all of which it is said.
func (s *section) note(metric, text string) {
	for i := range s.notes {
		if s.notes[i].text == text {
			s.notes[i].metrics += ", " + metric
			return
		}
	}
	s.notes = append(s.notes, note{metric, text})
}

// findings returns a scenario's findings that have something to show.
func (c Comparison) findings(scenario string) []gate.Finding {
	var found []gate.Finding
	for _, f := range c.Verdict.Metrics {
		empty := math.IsNaN(f.Base) && math.IsNaN(f.Head)
		if f.Scenario == scenario && (f.Gated || !empty) {
			found = append(found, f)
		}
	}
	return found
}

// about says a scenario's load.
func (c Comparison) about(name string) string {
	s := c.scenario(name)
	if s == nil || s.Load.Rate == 0 {
		return ""
	}
	load := fmt.Sprintf("%g sessions/s for %g s", s.Load.Rate, s.Load.For)
	if len(s.Runs) > 0 && s.Runs[0].Sessions.Planned > 0 {
		load = fmt.Sprintf("%s, %g/s for %g s", plural(s.Runs[0].Sessions.Planned, "session"), s.Load.Rate, s.Load.For)
	}
	return load
}

func join(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}

// usual returns how many runs a side the findings rest on, where none is short of any.
func usual(findings []gate.Finding) (base, head int) {
	for _, f := range findings {
		base, head = max(base, f.NBase), max(head, f.NHead)
	}
	return base, head
}

// sides says how many runs there are of base and head.
func sides(base, head int) string {
	if base == head {
		return plural(base, "run") + " a side"
	}
	return fmt.Sprintf("%s of base and %d of head", plural(base, "run"), head)
}

func newRow(f gate.Finding) row {
	scale := scaleOf(f.Metric, f.Base, f.Head)
	r := row{metric: f.Metric, base: scale.write(f.Base), head: scale.write(f.Head), outcome: f.Outcome}
	r.change, r.between, r.limit = percent(f.Change), between(f.Lower, f.Upper), share(f.Threshold)
	switch floor := f.Floor / f.Base; {
	case counted(f.Metric):
		r.change, r.limit = signed(f.Change, "pp"), strings.Replace(share(f.Threshold), "%", "pp", 1)
	case floor > 0 && f.Threshold <= floor:
		r.limit = scaleOf(f.Metric, f.Floor).short(f.Floor)
	}
	return r
}

// tendency says which way a metric that is not gated went, if by as much as would count if it were.
func (r row) tendency() string {
	switch r.outcome {
	case gate.Regression:
		return "worse"
	case gate.Improvement:
		return "better"
	}
	return ""
}

// called is what a build's outcome is called.
func called(o gate.Outcome) string {
	switch o {
	case gate.Improvement:
		return gate.Pass.String()
	case gate.Unmeasured:
		return "not measured"
	}
	return o.String()
}

// counted says whether a metric's change is a difference of shares, not a ratio.
func counted(name string) bool {
	def, _ := metric.Lookup(name)
	return def.Counts
}
