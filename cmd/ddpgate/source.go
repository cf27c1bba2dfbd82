package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/record"
)

// storeFlag names where baselines are kept.
type storeFlag struct {
	Store string `placeholder:"STORE" help:"Where baselines are kept, such as dir:PATH (the configuration's, else dir:.ddpgate/baselines)."`
}

// open opens the store that the flag names, or else the configuration.
func (s storeFlag) open(c *command, configured baseline.Config) (baseline.Store, error) {
	if s.Store != "" {
		configured.Store = s.Store
	}
	store, err := baseline.Open(configured.Spec(), func(err error) { c.warn("%v", err) })
	return store, usage(err)
}

// find returns the record that is meant by a file's name or by a key of the store, and of a key the records before it, oldest
// first. A key without a baseline is a baseline.NoKeyError; every other error is the user's to mend.
func find(ctx context.Context, c *command, store baseline.Store, what string) (newest *record.Record, before []*record.Record, err error) {
	if isFile(what) {
		newest, err = record.Read(what)
		return newest, nil, usage(err)
	}
	entries, err := store.Load(ctx, what)
	if none := new(baseline.NoKeyError); errors.As(err, &none) {
		return nil, nil, err
	} else if err != nil {
		return nil, nil, usage(err)
	}
	current, ok := baseline.Current(entries)
	if !ok {
		return nil, nil, &baseline.NoKeyError{Key: what, Store: fmt.Sprint(store)}
	}
	return withEarlier(ctx, c, store, what, entries, current)
}

// withEarlier reads an entry's record and those before it that were baselines once. Of these, what is damaged is reported and left out.
func withEarlier(ctx context.Context, c *command, store baseline.Store, key string, entries []baseline.Entry, chosen baseline.Entry) (*record.Record, []*record.Record, error) {
	rec, err := store.Record(ctx, chosen.ID)
	if err != nil {
		return nil, nil, usage(fmt.Errorf("baseline %s: %w", key, err))
	}
	var wanted []baseline.Entry
	for _, e := range baseline.Distinct(entries) {
		if e.ID != chosen.ID && !e.Held && !e.Created.After(chosen.Created) {
			wanted = append(wanted, e)
		}
	}
	var before []*record.Record
	err = readEach(ctx, c, store, wanted[max(0, len(wanted)-recent):], func(_ baseline.Entry, rec *record.Record) { before = append(before, rec) })
	return rec, before, usage(err)
}

// recent is how many of a key's newest records are looked at.
const recent = 50

// isFile says whether a record is named by its file: it is there, or its name ends like one.
func isFile(what string) bool {
	info, err := os.Stat(what)
	if err == nil {
		return info.Mode().IsRegular() || !info.IsDir()
	}
	return !errors.Is(err, fs.ErrNotExist) || strings.HasSuffix(what, ".json") || strings.HasSuffix(what, ".json.gz")
}

// warn prints a line that changes no exit code.
func (c *command) warn(format string, args ...any) {
	fmt.Fprintf(c.Stderr, "ddpgate: warning: "+format+"\n", args...)
}
