package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ddpgate/ddpgate/baseline"
)

// mainKey is the key that auto looks under where the configuration names none.
const mainKey = "main"

// choose takes as the base the newest healthy record of the nearest earlier commit. Where there is none, or none near enough, what is measured can only be
// inconclusive.
func (j *judge) choose(ctx context.Context, c *command, store baseline.Store, from baseline.Config) error {
	key := from.Key
	if key == "" || key == baseline.Auto {
		key = mainKey
	}
	entries, err := store.Load(ctx, key)
	if errors.As(err, &j.missing) {
		return nil
	} else if err != nil {
		return usage(err)
	}
	var branches []string
	if target := c.Env("GITHUB_BASE_REF"); target != "" {
		branches = append(branches, target)
	}
	before, err := baseline.Ancestry(ctx, append(branches, key)...)
	if err != nil {
		return usage(fmt.Errorf("--baseline auto: %w", err))
	}
	choice, ok := baseline.Nearest(entries, before.Commits, time.Now())
	if !ok {
		j.unfit = fmt.Sprintf("none of the %d commits before this one has a healthy record under key %q in %v", len(before.Commits), key, store)
		if before.Shallow {
			j.unfit += ": " + baseline.ErrShallow.Error()
		}
		return nil
	}
	if j.unfit = from.TooFar(choice); j.unfit != "" {
		return nil
	}
	fmt.Fprintf(c.Stderr, "ddpgate: baseline auto: %v\n", choice)
	j.away = choice.Away()
	j.base, j.policy.History, err = withEarlier(ctx, c, store, key, entries, choice.Entry)
	return err
}
