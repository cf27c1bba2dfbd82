package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
)

// acceptFlag takes responsibility for a record that is worse.
type acceptFlag struct {
	Accept string `placeholder:"REASON" help:"Take the record though it is worse; the reason is kept and shown."`
}

// slimFlag saves space in a store.
type slimFlag struct {
	Slim bool `help:"Save it without series and histograms: a tenth of the size, and all that the gate and the history need."`
}

// of returns the record as it is saved.
func (s slimFlag) of(rec *record.Record) *record.Record {
	if s.Slim {
		return record.Slim(rec)
	}
	return rec
}

// baselinePromote makes a record of a key's history its baseline.
type baselinePromote struct {
	storeFlag
	acceptFlag
	Key  string `arg:"" help:"The key."`
	ID   string `arg:"" name:"id" help:"The record's id, or its beginning."`
	JSON bool   `name:"json" help:"As JSON."`
}

func (b *baselinePromote) run(ctx context.Context, c *command) (int, error) {
	cfg, err := c.load()
	if err != nil {
		return 0, err
	}
	store, err := b.open(c, cfg.Baseline)
	if err != nil {
		return 0, err
	}
	n, err := b.candidate(ctx, c, store, cfg.Gate)
	if none := new(baseline.NoKeyError); errors.As(err, &none) {
		return c.noBaseline(none), nil
	} else if err != nil {
		return 0, usage(err)
	}
	if why, final := n.obstacle(b.Accept); why != "" {
		fmt.Fprintf(c.Stderr, "ddpgate: not promoted: %s\n", why)
		if !final {
			fmt.Fprintln(c.Stderr, "hint: --accept REASON takes it all the same")
		}
		return n.refused(), nil
	}
	entry, err := store.Promote(ctx, b.Key, b.ID, time.Now(), baseline.Judged(n.verdict.Outcome.String()), baseline.Accepted(b.Accept))
	if err != nil {
		return 0, usage(err)
	}
	if b.JSON {
		return exitPass, printJSON(c.Stdout, entry)
	}
	fmt.Fprintf(c.Stdout, "promoted %.19s to the baseline of %s in %v\n", entry.ID, b.Key, store)
	return exitPass, nil
}

// candidate finds the record and judges it.
func (b *baselinePromote) candidate(ctx context.Context, c *command, store baseline.Store, p gate.Policy) (candidate, error) {
	entries, err := store.Load(ctx, b.Key)
	if err != nil {
		return candidate{}, err
	}
	entry, err := baseline.Find(entries, b.ID)
	if err != nil {
		return candidate{}, fmt.Errorf("key %s: %w", b.Key, err)
	}
	rec, err := store.Record(ctx, entry.ID)
	if err != nil {
		return candidate{}, err
	}
	return nominate(ctx, c, store, b.Key, entries, rec, p)
}
