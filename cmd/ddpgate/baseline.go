package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/record"
)

// baselineCmd works on the store of baselines.
type baselineCmd struct {
	List    baselineList    `cmd:"" help:"List the keys."`
	Show    baselineShow    `cmd:"" help:"Show the records under a key, oldest first."`
	Save    baselineSave    `cmd:"" help:"Make a record the newest baseline of a key. One that is worse, undecided or not whole is kept in its history only."`
	Promote baselinePromote `cmd:"" help:"Make a record of a key's history its baseline."`
	Pin     baselinePin     `cmd:"" help:"Print the build that the next record of a key is to be held against."`
	Prune   baselinePrune   `cmd:"" help:"Delete old records that no key needs."`
}

type baselineList struct {
	storeFlag
	JSON bool `name:"json" help:"As JSON."`
}

func (b *baselineList) run(ctx context.Context, c *command) (int, error) {
	store, err := c.store(b.storeFlag)
	if err != nil {
		return 0, err
	}
	keys, err := store.Keys(ctx)
	if err != nil {
		return 0, usage(err)
	}
	if b.JSON {
		return exitPass, printJSON(c.Stdout, listed(keys))
	}
	if len(keys) == 0 {
		fmt.Fprintf(c.Stdout, "no baselines in %v\n", store)
		return exitPass, nil
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tRECORDS\tNEWEST\tMEASURED\tVERSION\tCOMMIT")
	for _, k := range keys {
		fmt.Fprintf(w, "%s\t%d\t%s\n", k.Name, k.Entries, row(k.Newest))
	}
	return exitPass, w.Flush()
}

// A listedKey is a key as baseline list prints it.
type listedKey struct {
	Key     string         `json:"key"`
	Records int            `json:"records"`
	Newest  baseline.Entry `json:"newest"`
}

func listed(keys []baseline.Key) []listedKey {
	out := make([]listedKey, len(keys))
	for i, k := range keys {
		out[i] = listedKey{k.Name, k.Entries, k.Newest}
	}
	return out
}

type baselineShow struct {
	storeFlag
	Key  string `arg:"" help:"The key."`
	JSON bool   `name:"json" help:"As JSON, with the whole records."`
}

func (b *baselineShow) run(ctx context.Context, c *command) (int, error) {
	store, err := c.store(b.storeFlag)
	if err != nil {
		return 0, err
	}
	entries, err := store.Load(ctx, b.Key)
	if none := new(baseline.NoKeyError); errors.As(err, &none) {
		return c.noBaseline(none), nil
	} else if err != nil {
		return 0, usage(err)
	}
	if !b.JSON {
		w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "SAVED\tID\tMEASURED\tVERSION\tCOMMIT\tNOTE")
		for _, e := range entries {
			fmt.Fprintf(w, "%s\t%s\t%s\n", day(e.Saved), row(e), noted(e))
		}
		return exitPass, w.Flush()
	}
	shown := struct {
		Key     string           `json:"key"`
		Records []*record.Record `json:"records"`
	}{Key: b.Key}
	if err := readEach(ctx, c, store, entries, func(_ baseline.Entry, rec *record.Record) { shown.Records = append(shown.Records, rec) }); err != nil {
		return 0, usage(err)
	}
	return exitPass, printJSON(c.Stdout, shown)
}

type baselineSave struct {
	storeFlag
	acceptFlag
	slimFlag
	Hold   bool   `help:"Keep it in the key's history only: it does not become the baseline."`
	Key    string `arg:"" help:"The key."`
	Record string `arg:"" help:"The record's file."`
	JSON   bool   `name:"json" help:"As JSON."`
}

func (b *baselineSave) run(ctx context.Context, c *command) (int, error) {
	cfg, err := c.load()
	if err != nil {
		return 0, err
	}
	store, err := b.open(c, cfg.Baseline)
	if err != nil {
		return 0, err
	}
	if err := baseline.CheckKey(b.Key); err != nil {
		return 0, usage(err)
	}
	rec, err := record.Read(b.Record)
	if err != nil {
		return 0, usage(err)
	}
	entries, err := store.Load(ctx, b.Key)
	if err != nil && !errors.Is(err, baseline.ErrNoKey) {
		return 0, err
	}
	n, err := nominate(ctx, c, store, b.Key, entries, rec, cfg.Gate)
	if err != nil {
		return 0, err
	}
	entry, err := n.save(ctx, c, store, b.Key, b.slimFlag, b.Accept, b.Hold)
	if err != nil {
		return 0, err
	}
	if b.JSON {
		return exitPass, printJSON(c.Stdout, entry)
	}
	as := "as the newest baseline"
	if entry.Held {
		as = "in the history"
	}
	fmt.Fprintf(c.Stdout, "saved %s %s of %s in %v\n", b.Record, as, b.Key, store)
	return exitPass, nil
}

// store opens the store that the flag names, or else the configuration.
func (c *command) store(flag storeFlag) (baseline.Store, error) {
	cfg, err := c.load()
	if err != nil {
		return nil, err
	}
	return flag.open(c, cfg.Baseline)
}

// noBaseline says that there is nothing under a key and how to make it: what cannot be known is inconclusive.
func (c *command) noBaseline(none *baseline.NoKeyError) int {
	fmt.Fprintf(c.Stderr, "ddpgate: %v\n", none)
	fmt.Fprintf(c.Stderr, "hint: %s\n", none.Hint())
	return exitInconclusive
}

// row is an entry's columns.
func row(e baseline.Entry) string {
	return fmt.Sprintf("%.19s\t%s\t%s\t%.12s", e.ID, day(e.Created), orDash(e.Version), orDash(e.Commit))
}

// noted says what is special about an entry.
func noted(e baseline.Entry) string {
	switch {
	case e.Accepted != "":
		return "accepted: " + e.Accepted
	case e.Held:
		return strings.TrimSpace("history only " + e.Verdict)
	case e.Promoted:
		return "promoted"
	}
	return ""
}

func day(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
