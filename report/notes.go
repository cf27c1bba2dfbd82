package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
)

// notes returns what must stand beside a finding. Metrics that are not gated have none: they decide nothing.
func notes(f gate.Finding, base, head int) []string {
	if !f.Gated {
		return nil
	}
	var all []string
	add := func(text string) { all = append(all, text) }
	switch {
	case f.Outcome == gate.Inconclusive:
		add(join("; ", "inconclusive: "+or(f.Reason, "no reason is given"), wouldSettle(f.RunsNeeded), visible(f)))
	case f.Reason != "":
		add(f.Reason)
	}
	if a := f.Accepted; a != nil {
		text := fmt.Sprintf("a change of %s is accepted", share(float64(a.Change)))
		if a.Until != "" {
			text += " until " + a.Until
		}
		add(text + ": " + a.Reason)
	}
	if (f.NBase != base || f.NHead != head) && f.NBase > 0 && f.NHead > 0 {
		add("rests on " + sides(f.NBase, f.NHead))
	}
	for _, w := range f.Warnings {
		add(w)
	}
	return all
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func wouldSettle(runs int) string {
	if runs <= 0 {
		return ""
	}
	return plural(runs, "run") + " a side would settle it"
}

func visible(f gate.Finding) string {
	if missing(f.SmallestVisible) || f.SmallestVisible <= 0 {
		return ""
	}
	unit := "%"
	if counted(f.Metric) {
		unit = "pp"
	}
	return "these runs could have shown a change of " + strings.TrimPrefix(signed(f.SmallestVisible, unit), "+")
}

// facts returns what a verdict rests on: which builds, where they ran, by what rule.
func facts(c Comparison) []fact {
	var all []fact
	add := func(name, text string) {
		if text != "" {
			all = append(all, fact{name, text})
		}
	}
	if c.Base == nil || c.Base == c.Head {
		add(record.Base, version(c.Head, record.Base))
		add(record.Head, version(c.Head, record.Head))
		add("record", strings.TrimPrefix(origin(c.Head), "record "))
	} else {
		add(record.Base, join(", ", version(c.Base, record.Head), origin(c.Base), c.Away))
		add(record.Head, join(", ", version(c.Head, record.Head), origin(c.Head)))
	}
	if !c.compared() {
		if c.Head != nil {
			add("machine", machine(c.Head.Environment))
		}
		add("driven by", drivers(c.sides()))
		add("limits", limitedBy(c))
		return all
	}
	machines := string(c.Verdict.Environment.Match)
	if differs := c.Verdict.Environment.Differs; len(differs) > 0 {
		machines += ": " + strings.Join(differs, "; ")
	}
	add("machines", machines)
	add("driven by", drivers(c.sides()))
	add("limits", limitedBy(c))
	add("rule", rule(c.Verdict))
	return all
}

// version returns the version of one arm's app.
func version(r *record.Record, arm string) string {
	if r == nil {
		return ""
	}
	return r.Apps[arm].Version
}

// origin says which record it is, and when and where in the history of the code it was made.
func origin(r *record.Record) string {
	if r == nil {
		return ""
	}
	var commit, made, id string
	if r.Commit != "" {
		commit = "commit " + start(r.Commit)
	}
	if !r.Created.IsZero() {
		made = r.Created.UTC().Format("2006-01-02 15:04 UTC")
	}
	if r.ID != "" {
		id = "record " + start(strings.TrimPrefix(r.ID, "sha256:"))
	}
	return join(", ", id, made, commit)
}

// start returns enough of a hash to find it by.
func start(hash string) string { return hash[:min(len(hash), 10)] }

func machine(e record.Environment) string {
	var cores, memory string
	if e.Cores > 0 {
		cores = plural(e.Cores, "core")
	}
	if e.Memory > 0 {
		memory = scaleOf("ram", float64(e.Memory)).write(float64(e.Memory))
	}
	return or(join(", ", e.CPU, cores, memory, join(" ", e.OS, e.Arch, e.Kernel), e.CPUs.String()), "unknown")
}

// designs says how both sides were measured.
var designs = map[gate.Design]string{
	gate.Pairs:         "base and head in turns on one machine",
	gate.SameMachine:   "a stored baseline of this machine",
	gate.OtherMachines: "a stored baseline of other machines",
}

// rule says how it was judged: the design, the levels of the limits, and what they promise.
func rule(v *gate.Verdict) string {
	parts := []string{designs[v.Design]}
	if lower, upper, ok := levels(v); ok {
		if lower != upper {
			lower += " below and " + upper + " above"
		}
		parts = append(parts, "one-sided limits at "+lower)
	}
	if v.Confidence > 0 && v.Confidence < 1 {
		parts = append(parts, fmt.Sprintf("an unchanged build fails at most %s of the time", share(1-v.Confidence)))
	}
	return join("; ", parts...)
}

// levels returns the levels of the limits of what is gated, as a range where they differ.
func levels(v *gate.Verdict) (lower, upper string, ok bool) {
	var low, high []float64
	for _, f := range v.Metrics {
		if f.Gated && f.LowerLevel > 0 && f.UpperLevel > 0 {
			low, high = append(low, f.LowerLevel), append(high, f.UpperLevel)
		}
	}
	if len(low) == 0 {
		return "", "", false
	}
	return span(low), span(high), true
}

func span(levels []float64) string {
	low, high := slices.Min(levels), slices.Max(levels)
	if low == high {
		return share(low)
	}
	return share(low) + " to " + share(high)
}
