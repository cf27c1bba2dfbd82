package baseline

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Pruning says what Prune takes away.
type Pruning struct {
	Key    string          // the key whose log is cut; empty for all
	Keep   int             // newest records a key that stay, at least 1
	Spare  map[string]bool // ids that stay as well, such as those at change points
	DryRun bool            // only say what would go
	Now    time.Time
}

// Pruned is what Prune took away, or would.
type Pruned struct {
	Dropped map[string][]Entry // by key: out of its log
	Removed []string           // ids of records that no key uses any more
	Bytes   int64              // their size, as far as the store tells
	Kept    int                // records that are in use
}

// settling is how long a record that no key has ever named is left alone: its save may not be over.
const settling = 24 * time.Hour

// Prune implements Store. A key keeps its newest records, its baseline, what was promoted or accepted, and what is spared. A damaged or foreign
// file is reported and stays, and while a log has a damaged line, so does every record that no log names.
func (l *ledger) Prune(ctx context.Context, p Pruning) (Pruned, error) {
	if p.Keep < 1 {
		return Pruned{}, fmt.Errorf("%d records to keep: a key must keep 1 at least", p.Keep)
	}
	var done Pruned
	var err error
	if done.Dropped, err = l.surplus(ctx, p); err != nil {
		return Pruned{}, err
	}
	if !p.DryRun {
		for key, entries := range done.Dropped {
			if err := l.drop(ctx, key, entries); err != nil {
				return Pruned{}, l.wrap(err)
			}
		}
	}
	return done, l.wrap(l.sweep(ctx, p, &done))
}

// surplus returns what goes, by key.
func (l *ledger) surplus(ctx context.Context, p Pruning) (map[string][]Entry, error) {
	found := make(map[string][]Entry)
	names := []string{p.Key}
	if p.Key == "" {
		var err error
		if names, err = l.names(ctx); err != nil {
			return nil, l.wrap(err)
		}
	}
	for _, key := range names {
		entries, err := l.Load(ctx, key)
		if p.Key == "" && errors.Is(err, ErrNoKey) {
			continue
		} else if err != nil {
			return nil, err
		}
		if old := surplusOf(entries, p); len(old) > 0 {
			found[key] = old
		}
	}
	return found, nil
}

func surplusOf(entries []Entry, p Pruning) []Entry {
	distinct := Distinct(entries)
	stays := make(map[string]bool)
	for _, e := range distinct[max(0, len(distinct)-p.Keep):] {
		stays[e.ID] = true
	}
	if e, ok := Current(entries); ok {
		stays[e.ID] = true
	}
	for _, e := range entries {
		if e.Promoted || e.Accepted != "" || p.Spare[e.ID] {
			stays[e.ID] = true
		}
	}
	var old []Entry
	for _, e := range distinct {
		if !stays[e.ID] {
			old = append(old, e)
		}
	}
	return old
}

// drop takes entries out of a key's log.
func (l *ledger) drop(ctx context.Context, key string, entries []Entry) error {
	c := change{log: fileOf(key), admit: func([]string) error { return nil }}
	for _, e := range entries {
		b, err := line{Entry: e, Dropped: true}.encode()
		if err != nil {
			return err
		}
		c.lines = append(c.lines, b...)
	}
	return l.grow(ctx, c)
}

// A use is what all logs say of all records.
type use struct {
	live, dropped map[string]bool
	damaged       bool // a line cannot be read, and may name any record
}

// uses reads every log, afresh: a save since the last look counts.
func (l *ledger) uses(ctx context.Context, gone map[string][]Entry) (use, error) {
	u := use{live: make(map[string]bool), dropped: make(map[string]bool)}
	names, err := l.names(ctx)
	if err != nil {
		return u, err
	}
	for _, name := range names {
		b, err := l.read(ctx, keysDir, fileOf(name), maxLog)
		if err != nil {
			return u, err
		}
		log := parseLog(b, func(int, error) { u.damaged = true })
		for _, e := range gone[name] {
			log.add(line{Entry: e, Dropped: true})
		}
		for _, e := range log.live {
			u.live[e.ID] = true
		}
		for id := range log.dropped {
			u.dropped[id] = true
		}
	}
	return u, nil
}

// sweep deletes the records that no key uses.
func (l *ledger) sweep(ctx context.Context, p Pruning, done *Pruned) error {
	there, err := l.list(ctx, recordsDir)
	if err != nil {
		return err
	}
	u, err := l.uses(ctx, done.Dropped)
	if err != nil {
		return err
	}
	var names []string
	for _, f := range there {
		id, ok := recordOf(f.name)
		switch {
		case !ok || !f.plain:
			l.warn(fmt.Errorf("%s: %s/%s is not a record's file, skipped", l, recordsDir, f.name))
		case u.live[id]:
			done.Kept++
		case !u.dropped[id] && (u.damaged || p.Now.Sub(f.written) < settling):
		case l.isSound(ctx, id):
			names = append(names, f.name)
			done.Removed = append(done.Removed, id)
			done.Bytes += f.size
		}
	}
	if p.DryRun || len(names) == 0 {
		return nil
	}
	return l.remove(ctx, names)
}

// isSound says whether a record is whole. One that is not is reported.
func (l *ledger) isSound(ctx context.Context, id string) bool {
	_, err := l.Record(ctx, id)
	if err != nil {
		l.warn(fmt.Errorf("not deleted: %w", err))
	}
	return err == nil
}
