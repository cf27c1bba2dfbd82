package baseline

import (
	"context"
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
	Removed []string           // ids of records that no key uses any more, set aside
	Bytes   int64              // their size, as far as the store tells
	Deleted []string           // ids of those that were set aside over a day ago and that nobody asked for since: deleted for good
	Kept    int                // records that are in use
}

// settling is how long nothing is decided about: a record that no key has ever named is left alone, since its save may not be over, and one that was set aside can come
// back. No save takes a day between two of its steps.
const settling = 24 * time.Hour

// Prune implements Store. A key keeps its newest records, its baseline, what was promoted or accepted, and what is spared. A damaged or foreign
// file is reported and stays, and while a log has a damaged line, so does every record that no log names.
func (l *ledger) Prune(ctx context.Context, p Pruning) (Pruned, error) {
	if p.Keep < 1 {
		return Pruned{}, fmt.Errorf("%d records to keep: a key must keep 1 at least", p.Keep)
	}
	cuts, err := l.surplus(ctx, p)
	if err != nil {
		return Pruned{}, err
	}
	done := Pruned{Dropped: make(map[string][]Entry)}
	for key, c := range cuts {
		done.Dropped[key] = c.entries
		if p.DryRun {
			continue
		}
		if err := l.drop(ctx, key, c); err != nil {
			return Pruned{}, l.wrap(err)
		}
	}
	return done, l.wrap(l.sweep(ctx, p, cuts, &done))
}

// A cut is what goes out of a log, as of so many of its lines.
type cut struct {
	entries []Entry
	lines   int
}

// surplus returns what goes, by key.
func (l *ledger) surplus(ctx context.Context, p Pruning) (map[string]cut, error) {
	if p.Key != "" {
		if _, err := l.Load(ctx, p.Key); err != nil {
			return nil, err
		}
	}
	names, err := l.names(ctx)
	if err != nil {
		return nil, l.wrap(err)
	}
	found := make(map[string]cut)
	for _, key := range names {
		if p.Key != "" && p.Key != key {
			continue
		}
		log, err := l.log(ctx, key)
		if err != nil {
			return nil, l.wrap(err)
		}
		if old := surplusOf(log.live, p); len(old) > 0 {
			found[key] = cut{old, log.lines}
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

// dropped returns the lines that say what goes.
func (c cut) dropped() []line {
	var lines []line
	for _, e := range c.entries {
		lines = append(lines, line{Entry: e, Dropped: true, Until: c.lines})
	}
	return lines
}

// drop takes entries out of a key's log. What was saved since it was read stays.
func (l *ledger) drop(ctx context.Context, key string, gone cut) error {
	c := change{log: fileOf(key), admit: func([]string) error { return nil }}
	for _, line := range gone.dropped() {
		b, err := line.encode()
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
func (l *ledger) uses(ctx context.Context, gone map[string]cut) (use, error) {
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
		for _, line := range gone[name].dropped() {
			log.add(line)
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
