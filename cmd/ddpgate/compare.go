package main

import (
	"context"
	"errors"

	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/report"
)

// compareCmd judges two records.
type compareCmd struct {
	Base         string `arg:"" help:"A record's file, or a key of the store."`
	Head         string `arg:"" help:"A record's file, or a key of the store."`
	Inconclusive string `placeholder:"fail|warn" help:"What an inconclusive verdict does: exit 4 or, with a warning, 0."`
	storeFlag
	JSON bool `name:"json" help:"Print the verdict as JSON."`
}

func (r *compareCmd) run(ctx context.Context, c *command) (int, error) {
	shown, policy, err := c.held(ctx, r.Base, r.Head, r.storeFlag, r.Inconclusive)
	if none := new(baseline.NoKeyError); errors.As(err, &none) {
		return c.noBaseline(none), nil
	} else if err != nil {
		return 0, err
	}
	if err := c.print(shown, r.JSON); err != nil {
		return 0, err
	}
	return c.exit(shown.Verdict, policy), nil
}

// held holds one record against another, each a file or a key.
func (c *command) held(ctx context.Context, base, head string, from storeFlag, inconclusive string) (shown report.Comparison, policy gate.Policy, err error) {
	cfg, err := c.load()
	if err != nil {
		return shown, policy, err
	}
	policy = cfg.Gate
	if inconclusive != "" {
		policy.Inconclusive = inconclusive
	}
	store, err := from.open(c, cfg.Baseline)
	if err == nil {
		err = usage(policy.Validate())
	}
	if err != nil {
		return shown, policy, err
	}
	shown.Base, policy.History, err = find(ctx, c, store, base)
	var headErr error
	shown.Head, _, headErr = find(ctx, c, store, head)
	if err := errors.Join(err, headErr); err != nil {
		return shown, policy, err
	}
	shown.Verdict, err = gate.Judge(shown.Base, shown.Head, policy)
	return shown, policy, usage(err)
}
