package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/record"
)

// aaKey is where records of one build measured against itself are kept, whatever their verdict: leaving out false alarms would
// hide how often there are any.
const aaKey = "aa"

// enoughAA is the number of A/A records from which the gate takes them into account.
const enoughAA = 20

// itself returns the app under test as its own second arm.
func (f *appFlags) itself(configured *app.Config, head app.Config) (*app.Config, error) {
	if f.BaseApp != "" || f.BaseDir != "" || configured != nil {
		return nil, errors.New("--aa measures one build against itself: it has no use where there is a base arm")
	}
	return &head, nil
}

// keepAA adds a record to the A/A records of the store.
func (m *measurement) keepAA(ctx context.Context, c *command, rec *record.Record, asJSON bool) error {
	if _, err := m.store.Save(ctx, aaKey, rec, time.Now()); err != nil {
		return err
	}
	if !asJSON {
		n := len(m.judge.policy.AA) + 1
		fmt.Fprintf(c.Stdout, "A/A       record %d under %s in %v; from %d on they say what this machine can hold\n", n, aaKey, m.store, enoughAA)
	}
	return nil
}

// experience gives the gate what earlier records of the store say of the noise: those of one build against itself, and for two
// arms also those of the configured key.
func (j *judge) experience(ctx context.Context, c *command, store baseline.Store, from baseline.Config) (err error) {
	if j.policy.AA, err = recentOf(ctx, c, store, aaKey); err != nil || !j.pairs {
		return err
	}
	j.policy.History = j.policy.AA
	if from.Key == "" || from.Key == baseline.Auto {
		return nil
	}
	earlier, err := recentOf(ctx, c, store, from.Key)
	j.policy.History = append(earlier, j.policy.AA...)
	return err
}

// recentOf reads a key's newest records; there may be none.
func recentOf(ctx context.Context, c *command, store baseline.Store, key string) ([]*record.Record, error) {
	entries, err := store.Load(ctx, key)
	if errors.Is(err, baseline.ErrNoKey) {
		return nil, nil
	} else if err != nil {
		return nil, usage(err)
	}
	entries = baseline.Distinct(entries)
	var records []*record.Record
	err = readEach(ctx, c, store, entries[max(0, len(entries)-recent):], func(_ baseline.Entry, rec *record.Record) { records = append(records, rec) })
	return records, usage(err)
}
