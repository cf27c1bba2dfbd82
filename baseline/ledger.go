package baseline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/internal/nearest"
	"github.com/ddpgate/ddpgate/record"
)

// A ledger is a store: what the files of a place mean.
type ledger struct {
	files
	warn func(error)
}

func (l *ledger) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("baselines in %s: %w", l, err)
}

// Keys implements Store.
func (l *ledger) Keys(ctx context.Context) ([]Key, error) {
	names, err := l.names(ctx)
	if err != nil {
		return nil, l.wrap(err)
	}
	var found []Key
	for _, name := range names {
		log, err := l.log(ctx, name)
		if err != nil {
			return nil, l.wrap(err)
		}
		if n := len(log.live); n > 0 {
			found = append(found, Key{name, n, log.live[n-1]})
		}
	}
	return found, nil
}

// names returns the keys that have a log, sorted.
func (l *ledger) names(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	there, err := l.list(ctx, keysDir)
	if err != nil {
		return nil, err
	}
	var logs []string
	for _, f := range there {
		if _, ok := keyOf(f.name); !ok || !f.plain {
			l.warn(fmt.Errorf("%s: %s/%s is not a key's file, skipped", l, keysDir, f.name))
			continue
		}
		logs = append(logs, f.name)
	}
	return keysOf(logs)
}

// keysOf returns the keys of logs. Two that differ only in case are an error: where file systems do not tell them apart, one would
// be the other.
func keysOf(logs []string) ([]string, error) {
	var names []string
	seen := make(map[string]string)
	for _, file := range logs {
		name, ok := keyOf(file)
		if !ok {
			continue
		}
		if other, twice := seen[strings.ToLower(name)]; twice {
			return nil, clash(name, other)
		}
		seen[strings.ToLower(name)] = name
		names = append(names, name)
	}
	return names, nil
}

func clash(a, b string) error {
	return fmt.Errorf("keys %q and %q differ only in case: rename one", a, b)
}

// log reads a key's log, without the lines that are none.
func (l *ledger) log(ctx context.Context, key string) (log, error) {
	b, err := l.read(ctx, keysDir, fileOf(key), maxLog)
	if err != nil {
		return log{}, err
	}
	return parseLog(b, func(line int, err error) {
		l.warn(fmt.Errorf("%s: %s/%s, line %d is skipped: %w", l, keysDir, fileOf(key), line, err))
	}), nil
}

// Load implements Store.
func (l *ledger) Load(ctx context.Context, key string) ([]Entry, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	names, err := l.names(ctx)
	if err != nil {
		return nil, l.wrap(err)
	}
	for _, name := range names {
		if name != key {
			continue
		}
		if log, err := l.log(ctx, key); err != nil || len(log.live) > 0 {
			return log.live, l.wrap(err)
		}
	}
	return nil, &NoKeyError{Key: key, Store: l.String(), Near: near(key, names)}
}

func near(key string, names []string) string {
	if w := nearest.Word(key, names); w != key {
		return w
	}
	return ""
}

// Record implements Store.
func (l *ledger) Record(ctx context.Context, id string) (*record.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !idForm.MatchString(id) {
		return nil, fmt.Errorf("%.80q is no id of a record", id)
	}
	b, err := l.packed(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("record %s: %w", id, ErrNoRecord)
	}
	if err != nil {
		return nil, l.wrap(err)
	}
	rec, err := unpacked(id, b)
	return rec, l.wrap(err)
}

// packed returns a record's file. One that was set aside is found too; while one is brought back, it is at least in one of both places.
func (l *ledger) packed(ctx context.Context, id string) ([]byte, error) {
	b, err := l.read(ctx, recordsDir, recordFile(id), maxRecord)
	if !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	aside, err := l.aside(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range aside {
		if g.id == id {
			if b, err := l.read(ctx, trashDir, g.name(), maxRecord); !errors.Is(err, fs.ErrNotExist) {
				return b, err
			}
		}
	}
	return l.read(ctx, recordsDir, recordFile(id), maxRecord)
}

// unpacked reads a record's file: ErrDamaged if it is not that of the id.
func unpacked(id string, b []byte) (*record.Record, error) {
	rec, err := record.DecodeKnown(id, bytes.NewReader(b))
	switch {
	case errors.Is(err, record.ErrNewer):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	case rec.ID != id || rec.Altered:
		return nil, fmt.Errorf("record %s: %w: its content has another hash", id, ErrDamaged)
	}
	return rec, nil
}

// Save implements Store. A record that is there already is written again, which mends a damaged one.
func (l *ledger) Save(ctx context.Context, key string, rec *record.Record, at time.Time, notes ...Note) (Entry, error) {
	if err := errors.Join(CheckKey(key), ctx.Err()); err != nil {
		return Entry{}, err
	}
	packed, err := record.Pack(rec)
	if err != nil {
		return Entry{}, l.wrap(err)
	}
	e := Entry{ID: rec.ID, Saved: at.UTC(), Created: rec.Created, Commit: rec.Commit, Version: rec.Apps[record.Head].Version}
	for _, note := range notes {
		note(&e)
	}
	c := change{record: recordFile(rec.ID), packed: packed}
	return e, l.wrap(l.enter(ctx, key, c, e))
}

// Promote implements Store.
func (l *ledger) Promote(ctx context.Context, key, id string, at time.Time, notes ...Note) (Entry, error) {
	entries, err := l.Load(ctx, key)
	if err != nil {
		return Entry{}, err
	}
	e, err := Find(entries, id)
	if err != nil {
		return Entry{}, fmt.Errorf("key %s: %w", key, err)
	}
	if _, err := l.Record(ctx, e.ID); err != nil {
		return Entry{}, err
	}
	packed, err := l.packed(ctx, e.ID) // kept anew, in case that somebody prunes it at this moment
	if err != nil {
		return Entry{}, l.wrap(err)
	}
	e.Held, e.Saved, e.Promoted = false, at.UTC(), true
	for _, note := range notes {
		note(&e)
	}
	return e, l.wrap(l.enter(ctx, key, change{record: recordFile(e.ID), packed: packed}, e))
}

// Find returns the newest entry of a record that the beginning of its id names, with or without sha256:.
func Find(entries []Entry, id string) (Entry, error) {
	found := make(map[string]Entry)
	for _, e := range entries {
		if id != "" && (strings.HasPrefix(e.ID, id) || strings.HasPrefix(strings.TrimPrefix(e.ID, hash), id)) {
			found[e.ID] = e
		}
	}
	if len(found) > 1 {
		return Entry{}, fmt.Errorf("%q is the beginning of %d records: give more of it", id, len(found))
	}
	for _, e := range found {
		return e, nil
	}
	return Entry{}, fmt.Errorf("there is no record %q under it", id)
}

// enter appends an entry's line to a key's log.
func (l *ledger) enter(ctx context.Context, key string, c change, e Entry) error {
	line, err := e.line()
	if err != nil {
		return err
	}
	c.log, c.lines = fileOf(key), line
	c.admit = func(logs []string) error {
		for _, other := range logs {
			if name, ok := keyOf(other); ok && name != key && strings.EqualFold(name, key) {
				return fmt.Errorf("keys %q and %q differ only in case: call it %s", key, name, name)
			}
		}
		_, err := keysOf(logs)
		return err
	}
	return l.grow(ctx, c)
}
