package main

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/internal/nearest"
	"github.com/ddpgate/ddpgate/record"
)

// exportCmd prints samples for other tools.
type exportCmd struct {
	Format string   `arg:"" help:"csv, or prometheus for a textfile collector."`
	What   []string `arg:"" name:"record" help:"Records' files, or keys of the store: all records of a key."`
	storeFlag
}

func (e *exportCmd) run(ctx context.Context, c *command) (int, error) {
	store, err := c.store(e.storeFlag)
	if err != nil {
		return 0, err
	}
	if !slices.Contains(record.Exports(), e.Format) {
		return 0, usage(nearest.Unknown("format", e.Format, record.Exports()))
	}
	var records []*record.Record
	for _, what := range e.What {
		if isFile(what) {
			rec, err := record.Read(what)
			if err != nil {
				return 0, usage(err)
			}
			records = append(records, rec)
			continue
		}
		err := eachRecord(ctx, c, store, what, func(_ baseline.Entry, rec *record.Record) { records = append(records, rec) })
		if none := new(baseline.NoKeyError); errors.As(err, &none) {
			return c.noBaseline(none), nil
		} else if err != nil {
			return 0, usage(err)
		}
	}
	return exitPass, record.Export(c.Stdout, e.Format, records)
}

// eachRecord reads a key's records, oldest first, each once.
func eachRecord(ctx context.Context, c *command, store baseline.Store, key string, take func(baseline.Entry, *record.Record)) error {
	entries, err := store.Load(ctx, key)
	if err != nil {
		return err
	}
	return readEach(ctx, c, store, baseline.Distinct(entries), take)
}

// readEach reads the records of entries, many at a time, and hands them on in their order. One that is damaged or gone is reported and left out.
func readEach(ctx context.Context, c *command, store baseline.Store, entries []baseline.Entry, take func(baseline.Entry, *record.Record)) error {
	atOnce := max(runtime.GOMAXPROCS(0), 16) // a store far away is waited for, not computed
	for batch := range slices.Chunk(entries, 4*atOnce) {
		records, errs := make([]*record.Record, len(batch)), make([]error, len(batch))
		limit := make(chan struct{}, atOnce)
		var all sync.WaitGroup
		for i, e := range batch {
			all.Go(func() {
				limit <- struct{}{}
				defer func() { <-limit }()
				records[i], errs[i] = store.Record(ctx, e.ID)
			})
		}
		all.Wait()
		for i, e := range batch {
			err := errs[i]
			switch {
			case errors.Is(err, baseline.ErrDamaged) || errors.Is(err, baseline.ErrNoRecord) || errors.Is(err, record.ErrNewer):
				c.warn("left out: %v", err)
			case err != nil:
				return err
			default:
				take(e, records[i])
			}
		}
	}
	return nil
}
