package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/internal/nearest"
	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/report"
)

// historyCmd shows what became of a key.
type historyCmd struct {
	storeFlag
	Key    string   `arg:"" help:"The key."`
	Metric []string `placeholder:"NAME" help:"Only these metrics (the gated ones, and others that changed)."`
	All    bool     `help:"All metrics."`
	Gate   bool     `help:"End as the gate does: 1 where a metric got worse and nobody accepted it, 4 where too little is known."`
	Format string   `default:"text" placeholder:"FORMAT" help:"text, html, svg or json."`
	JSON   bool     `name:"json" help:"As JSON: nights, trends, change points."`
	Out    string   `placeholder:"DIR" help:"Write files there instead of to stdout; svg: one a chart."`
	strictFlags
}

func (r *historyCmd) run(ctx context.Context, c *command) (int, error) {
	cfg, err := c.load()
	if err != nil {
		return 0, err
	}
	for _, name := range r.Metric {
		if _, known := metric.Lookup(name); !known {
			return 0, usage(nearest.Unknown("metric", name, metric.Names()))
		}
	}
	chosen, err := r.format(c)
	if err != nil {
		return 0, err
	}
	store, err := r.open(c, cfg.Baseline)
	if err == nil {
		err = usage(baseline.CheckKey(r.Key))
	}
	if err != nil {
		return 0, err
	}
	policy := r.amend(cfg.Gate)
	h, err := history(ctx, c, store, r.Key, policy)
	if none := new(baseline.NoKeyError); errors.As(err, &none) {
		return c.noBaseline(none), nil
	} else if err != nil {
		return 0, usage(err)
	}
	if c.heard != nil {
		c.heard.history = h
	}
	if err := put(c, chosen, h, r.Out); err != nil || !r.Gate {
		return exitPass, err
	}
	if h.Outcome == gate.Inconclusive && policy.Warns() {
		c.warn("INCONCLUSIVE, and let through as asked: %s", h.Reason)
	}
	return h.Outcome.Exit(policy.Warns()), nil
}

// format returns how the history is written.
func (r *historyCmd) format(c *command) (format[*gate.History], error) {
	name := r.Format
	if r.JSON {
		if name != "text" && name != "json" {
			return format[*gate.History]{}, usage(fmt.Errorf("--json and --format %s: give one of them", name))
		}
		name = "json"
	}
	return formatOf(r.formats(c), name)
}

func (r *historyCmd) formats(c *command) map[string]format[*gate.History] {
	o := report.HistoryOptions{Options: c.layout(), Metrics: r.Metric, All: r.All}
	page := func(write func(io.Writer, string, *gate.History, report.HistoryOptions) error) func(io.Writer, *gate.History) error {
		return func(w io.Writer, h *gate.History) error { return write(w, r.Key, h, o) }
	}
	return map[string]format[*gate.History]{
		"text": {file: "history.txt", write: page(report.History)},
		"html": {file: "history.html", write: page(report.HistoryHTML)},
		"svg":  {write: page(report.HistorySVG), files: func(h *gate.History) ([]report.File, error) { return report.HistorySVGFiles(h, o) }},
		"json": {file: "history.json", write: func(w io.Writer, h *gate.History) error { return printJSON(w, h) }},
	}
}

// history judges all of a key's records.
func history(ctx context.Context, c *command, store baseline.Store, key string, p gate.Policy) (*gate.History, error) {
	var nights []gate.Night
	err := eachRecord(ctx, c, store, key, func(e baseline.Entry, rec *record.Record) {
		n := gate.Observe(rec, e.Accepted)
		n.Verdict = e.Verdict
		nights = append(nights, n)
	})
	if err != nil {
		return nil, err
	}
	return gate.JudgeHistory(nights, p, historySeed)
}

// historySeed makes one history always give one answer.
const historySeed = 1
