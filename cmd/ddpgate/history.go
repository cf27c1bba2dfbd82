package main

import (
	"context"
	"errors"

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
	JSON   bool     `name:"json" help:"As JSON: nights, trends, change points."`
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
	if r.JSON {
		err = printJSON(c.Stdout, h)
	} else {
		err = report.History(c.Stdout, r.Key, h, report.HistoryOptions{Options: c.layout(), Metrics: r.Metric, All: r.All})
	}
	if err != nil || !r.Gate {
		return exitPass, err
	}
	if h.Outcome == gate.Inconclusive && policy.Warns() {
		c.warn("INCONCLUSIVE, and let through as asked: %s", h.Reason)
	}
	return h.Outcome.Exit(policy.Warns()), nil
}

// history judges all of a key's records.
func history(ctx context.Context, c *command, store baseline.Store, key string, p gate.Policy) (*gate.History, error) {
	var nights []gate.Night
	err := eachRecord(ctx, c, store, key, func(e baseline.Entry, rec *record.Record) {
		nights = append(nights, gate.Observe(rec, e.Accepted))
	})
	if err != nil {
		return nil, err
	}
	return gate.JudgeHistory(nights, p, historySeed)
}

// historySeed makes one history always give one answer.
const historySeed = 1
