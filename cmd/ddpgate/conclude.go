package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/report"
	"github.com/ddpgate/ddpgate/runner"
)

// announce says beforehand what is going to be measured, who drives it, and what will be missing from the verdict.
func (m *measurement) announce(t *ticker) error {
	t.say("%s", announce(m.plan, m.estimate, m.judge.gates()))
	if m.fleet != nil {
		lines, err := m.drivers()
		if err != nil {
			return err
		}
		for _, line := range lines {
			t.say("%s: %s", m.where(), line)
		}
	}
	if m.judge.missing != nil {
		t.say("warning: %v; the verdict will be inconclusive", m.judge.missing)
	}
	return nil
}

// announce says beforehand what is going to be measured and how long it takes.
func announce(p runner.Plan, e runner.Estimate, gates bool) string {
	runs := p.Runs
	least, most := min(runs.Min, e.Fit), e.Fit
	if !gates {
		most = least
	}
	count, length := fmt.Sprint(least), "about "+roughly(e.Least)
	if most > least {
		count += fmt.Sprintf(" to %d", most)
		length += ", or up to " + roughly(e.Most) + " where that is not enough to decide"
	}
	each := " each"
	if len(p.Arms) > 1 {
		each = " each of base and head, taking turns"
	}
	s := count + plural(most, " run") + each
	if len(p.Scenarios) > 1 {
		s = fmt.Sprintf("%d scenarios, %s", len(p.Scenarios), s)
	} else {
		s = p.Scenarios[0].Name + ", " + strings.Replace(s, " each", "", 1)
	}
	if runs.Warmup > 0 {
		s += fmt.Sprintf(", after %d%s", runs.Warmup, plural(runs.Warmup, " warm-up"))
	}
	if runs.Budget > 0 && e.Fit < runs.Max {
		s += fmt.Sprintf("; no more than %d of %d runs fit the budget of %s", e.Fit, runs.Max, roughly(runs.Budget))
	}
	return s + ": " + length
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// describeRun says what became of a run.
func describeRun(p runner.Progress) string {
	run := p.Over
	s := fmt.Sprintf("%s: %s", runName(p), run.Outcome)
	for _, name := range []string{"time", "cpu_seconds", "ram"} {
		if v, found := run.Metrics[name]; found {
			s += fmt.Sprintf(", %s %s", name, report.Figure(name, v))
		}
	}
	if len(run.Reasons) > 0 {
		s += ": " + strings.Join(run.Reasons, "; ")
	}
	return s
}

// conclude judges the record, says so, and keeps it as a baseline where that was asked for.
func (r *runCmd) conclude(ctx context.Context, c *command, m *measurement, rec *record.Record) (int, error) {
	if rec.Interrupted {
		fmt.Fprintf(c.Stderr, "ddpgate: interrupted; the record so far is %s\n", m.out)
		if m.fleet != nil && m.away() {
			c.warn("functions that were called drive on until their load is over: nothing can stop them")
		}
		return exitUnmeasured, nil
	}
	v, err := m.judge.verdict(rec)
	if err != nil {
		return 0, usage(err)
	}
	shown := report.Comparison{Verdict: v, Base: m.judge.base, Head: rec, Away: m.judge.away}
	if c.heard != nil {
		c.heard.shown = shown
	}
	if err := c.print(shown, r.JSON); err != nil {
		return 0, err
	}
	if !r.JSON {
		fmt.Fprintf(c.Stdout, "\nwritten   %s\nsee all   ddpgate report %s\n", m.out, m.out)
	}
	if err := r.keep(ctx, c, m, rec, v); err != nil {
		return 0, err
	}
	if r.AA && !rec.Interrupted {
		if err := m.keepAA(ctx, c, rec, r.JSON); err != nil {
			return 0, err
		}
	}
	if m.judge.missing != nil && string(r.SaveBaseline) != m.judge.missing.Key {
		fmt.Fprintf(c.Stderr, "hint: %s\n", m.judge.missing.Hint())
	}
	return c.exit(v, m.judge.policy), nil
}

// keep makes the record a baseline, or keeps it in the history only. One that was held against nothing is held against what it is to replace, unless it was found that nothing
// there is fit for that. One that says nothing of the app has no place in either.
func (r *runCmd) keep(ctx context.Context, c *command, m *measurement, rec *record.Record, v *gate.Verdict) error {
	if r.SaveBaseline == "" {
		return nil
	}
	key := string(r.SaveBaseline)
	if why := nothing(rec); why != "" {
		c.warn("not saved under %s: %s", key, why)
		return nil
	}
	n := candidate{record: rec, verdict: v}
	if !m.judge.gates() && m.judge.unfit == "" {
		entries, err := m.store.Load(ctx, key)
		if err == nil {
			n, err = nominate(ctx, c, m.store, key, entries, rec, m.judge.policy)
		}
		if err != nil && !errors.Is(err, baseline.ErrNoKey) {
			return err
		}
	}
	e, err := n.save(ctx, c, m.store, key, r.slimFlag, r.Accept, false)
	if err == nil && !e.Held && !r.JSON {
		fmt.Fprintf(c.Stdout, "baseline  newest of %s in %v\n", key, m.store)
	}
	return err
}

// print writes a verdict with its records to stdout.
func (c *command) print(shown report.Comparison, asJSON bool) error {
	if asJSON {
		return printJSON(c.Stdout, shown.Verdict)
	}
	layout := c.layout()
	layout.Brief = true
	return report.Text(c.Stdout, shown, layout)
}

// layout is how text is laid out on stdout.
func (c *command) layout() report.Options {
	width, _ := terminal(c.Stdout)
	return report.Options{Width: min(width, 120), Color: c.colour(c.Stdout)}
}

// exit returns the exit code of a verdict. An inconclusive one that only warns does so loudly.
func (c *command) exit(v *gate.Verdict, p gate.Policy) int {
	if v.Outcome == gate.Inconclusive && p.Warns() {
		c.warn("INCONCLUSIVE, and let through as asked: %s", v.Reason)
	}
	return v.Exit(p.Warns())
}
