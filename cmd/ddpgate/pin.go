package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/record"
)

// baselinePin says which build the next record of a key is to be held against, A/B.
type baselinePin struct {
	storeFlag
	Key     string `arg:"" help:"The key."`
	Default string `placeholder:"REF" help:"What to print where the key, or what it holds, names no build yet."`
	JSON    bool   `name:"json" help:"As JSON: the build, and where it comes from."`
}

// A pin is a reference build: the version by which the record names it.
type pin struct {
	Key      string  `json:"key"`
	Ref      string  `json:"ref"`
	From     pinFrom `json:"from"`
	Record   string  `json:"record,omitempty"` // that it is from
	Accepted string  `json:"accepted,omitempty"`
}

// A pinFrom is where a pin comes from.
type pinFrom string

const (
	pinBase     pinFrom = "base"     // the newest record was held against it
	pinPromoted pinFrom = "promoted" // it was promoted, or accepted, after that
	pinDefault  pinFrom = "default"
)

func (b *baselinePin) run(ctx context.Context, c *command) (int, error) {
	store, err := c.store(b.storeFlag)
	if err == nil {
		err = usage(baseline.CheckKey(b.Key))
	}
	if err != nil {
		return 0, err
	}
	entries, err := store.Load(ctx, b.Key)
	none := new(baseline.NoKeyError)
	if missing := errors.As(err, &none); missing && b.Default == "" {
		return c.noBaseline(none), nil
	} else if err != nil && !missing {
		return 0, usage(err)
	}
	found, err := c.pinned(ctx, store, entries)
	if err != nil {
		return 0, err
	}
	if found.Ref == "" {
		if b.Default == "" {
			return 0, usage(fmt.Errorf("key %s: no record names the build that it was held against: set version of app and of base, or give --default", b.Key))
		}
		if len(entries) > 0 {
			c.warn("no record of %s names the build that it was held against, so that it is the default: set version of app and of base", b.Key)
		}
		found = pin{Ref: b.Default, From: pinDefault}
	}
	if strings.ContainsFunc(found.Ref, unicode.IsControl) {
		return 0, usage(fmt.Errorf("key %s: %q names no build", b.Key, found.Ref))
	}
	found.Key = b.Key
	if b.JSON {
		return exitPass, printJSON(c.Stdout, found)
	}
	fmt.Fprintln(c.Stdout, found.Ref)
	return exitPass, nil
}

// movesPin says whether somebody made the entry's record the reference.
func movesPin(e baseline.Entry) bool { return e.Promoted || e.Accepted != "" }

// jobTime is how long a job may run on GitHub's runners. One that saves its record after a promotion may have asked for the pin so long before it began to measure.
const jobTime = 6 * time.Hour

// pinned goes back through a log, newest first: what somebody promoted or accepted is the reference from then on, until then what
// the newest record was held against. A job that was underway at a promotion could not know of it, so that its record says nothing.
// Nor do records that do not name their build.
func (c *command) pinned(ctx context.Context, store baseline.Store, entries []baseline.Entry) (pin, error) {
	promoted := -1
	var known time.Time
	for i, e := range entries {
		if movesPin(e) && e.Version != "" {
			promoted, known = i, e.Saved.Add(jobTime)
		}
	}
	for i := len(entries) - 1; i > promoted; i-- {
		e := entries[i]
		if movesPin(e) {
			c.warn("%.19s was promoted and does not name its build: the pin stays; set version of app", e.ID)
			continue
		}
		if e.Created.Before(known) {
			continue
		}
		var base string
		err := readEach(ctx, c, store, entries[i:i+1], func(_ baseline.Entry, rec *record.Record) { base = rec.Apps[record.Base].Version })
		if err != nil {
			return pin{}, usage(err)
		}
		if base != "" {
			return pin{Ref: base, From: pinBase, Record: e.ID}, nil
		}
	}
	if promoted < 0 {
		return pin{}, nil
	}
	e := entries[promoted]
	return pin{Ref: e.Version, From: pinPromoted, Record: e.ID, Accepted: e.Accepted}, nil
}
