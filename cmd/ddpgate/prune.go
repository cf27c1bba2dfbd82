package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/gate"
)

// baselinePrune takes old records out of a store.
type baselinePrune struct {
	storeFlag
	Key    string `arg:"" optional:"" help:"The key (all of them)."`
	Keep   int    `default:"365" placeholder:"N" help:"Newest records of a key that stay. Its baseline, what was promoted or accepted, and change points stay as well."`
	DryRun bool   `help:"Only say what would go."`
	JSON   bool   `name:"json" help:"As JSON."`
}

func (b *baselinePrune) run(ctx context.Context, c *command) (int, error) {
	cfg, err := c.load()
	if err != nil {
		return 0, err
	}
	store, err := b.open(c, cfg.Baseline)
	if err != nil {
		return 0, err
	}
	spare, err := b.changePoints(ctx, c, store, cfg.Gate)
	if none := new(baseline.NoKeyError); errors.As(err, &none) {
		return c.noBaseline(none), nil
	} else if err != nil {
		return 0, usage(err)
	}
	pruned, err := store.Prune(ctx, baseline.Pruning{Key: b.Key, Keep: b.Keep, Spare: spare, DryRun: b.DryRun, Now: time.Now()})
	if err != nil {
		return 0, usage(err)
	}
	if b.JSON {
		return exitPass, printJSON(c.Stdout, pruned)
	}
	verb := map[bool]string{false: "dropped", true: "would drop"}[b.DryRun]
	for _, key := range slices.Sorted(maps.Keys(pruned.Dropped)) {
		for _, e := range pruned.Dropped[key] {
			fmt.Fprintf(c.Stdout, "%s  %s  %.19s, measured %s\n", verb, key, e.ID, day(e.Created))
		}
	}
	verb = map[bool]string{false: "set aside", true: "would set aside"}[b.DryRun]
	fmt.Fprintf(c.Stdout, "%s %d %s (%.1f MB) that no key uses; %d stay\n", verb, len(pruned.Removed), plural(len(pruned.Removed), "record"), float64(pruned.Bytes)/1e6, pruned.Kept)
	if n := len(pruned.Deleted); n > 0 {
		verb = map[bool]string{false: "deleted", true: "would delete"}[b.DryRun]
		fmt.Fprintf(c.Stdout, "%s %d that had been set aside for a day or more\n", verb, n)
	}
	return exitPass, nil
}

// changePoints returns the records on both sides of every change point of the keys: what a change is seen by.
func (b *baselinePrune) changePoints(ctx context.Context, c *command, store baseline.Store, p gate.Policy) (map[string]bool, error) {
	names := []string{b.Key}
	if b.Key == "" {
		keys, err := store.Keys(ctx)
		if err != nil {
			return nil, err
		}
		names = nil
		for _, k := range keys {
			names = append(names, k.Name)
		}
	}
	spare := make(map[string]bool)
	for _, name := range names {
		h, err := history(ctx, c, store, name, p)
		if err != nil {
			return nil, err
		}
		maps.Copy(spare, h.Evidence())
	}
	return spare, nil
}
