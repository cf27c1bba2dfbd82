package baseline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/internal/nearest"
	"github.com/ddpgate/ddpgate/record"
)

// dir is a store in a directory: records/HASH.json.gz and keys/NAME.jsonl, one entry a line. No name and no link leads out of it.
type dir struct {
	path string
	warn func(error)
}

const (
	keysDir    = "keys"
	recordsDir = "records"
)

func (d *dir) String() string { return "dir:" + d.path }

// open returns a directory of the store, nil if it does not exist and need not be made.
func (d *dir) open(name string, create bool) (*os.Root, error) {
	if create {
		if err := os.MkdirAll(d.path, 0o755); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return nil, absent(err, create)
	}
	defer root.Close()
	if create {
		if err := root.MkdirAll(name, 0o755); err != nil {
			return nil, err
		}
		if err := record.SyncDir(root); err != nil {
			return nil, err
		}
	}
	sub, err := root.OpenRoot(name)
	return sub, absent(err, create)
}

func absent(err error, matters bool) error {
	if !matters && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Keys implements Store.
func (d *dir) Keys(ctx context.Context) ([]Key, error) {
	keys, err := d.open(keysDir, false)
	if err != nil || keys == nil {
		return nil, d.wrap(err)
	}
	defer keys.Close()
	names, err := d.names(keys)
	if err != nil {
		return nil, d.wrap(err)
	}
	var found []Key
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		entries, err := d.read(keys, name)
		if err != nil {
			return nil, d.wrap(err)
		}
		if len(entries) > 0 {
			found = append(found, Key{name, len(entries), entries[len(entries)-1]})
		}
	}
	return found, nil
}

// names returns the keys that have a file, sorted. Two that differ only in case are an error: where file systems do not
// tell them apart, one would be the other.
func (d *dir) names(keys *os.Root) ([]string, error) {
	files, err := fs.ReadDir(keys.FS(), ".")
	if err != nil {
		return nil, err
	}
	var names []string
	seen := make(map[string]string)
	for _, f := range files {
		name, ok := keyOf(f.Name())
		if !ok || !f.Type().IsRegular() {
			d.warn(fmt.Errorf("%s: %s/%s is not a key's file, skipped", d, keysDir, f.Name()))
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

// Load implements Store.
func (d *dir) Load(ctx context.Context, key string) ([]Entry, error) {
	if err := errors.Join(CheckKey(key), ctx.Err()); err != nil {
		return nil, err
	}
	keys, err := d.open(keysDir, false)
	if err != nil {
		return nil, d.wrap(err)
	}
	var names []string
	if keys != nil {
		defer keys.Close()
		if names, err = d.names(keys); err != nil {
			return nil, d.wrap(err)
		}
		for _, name := range names {
			if name != key {
				continue
			}
			entries, err := d.read(keys, key)
			if err != nil || len(entries) > 0 {
				return entries, d.wrap(err)
			}
		}
	}
	return nil, &NoKeyError{Key: key, Store: d.String(), Near: near(key, names)}
}

func near(key string, names []string) string {
	if w := nearest.Word(key, names); w != key {
		return w
	}
	return ""
}

func (d *dir) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("baselines in %s: %w", d, err)
}

// Record implements Store.
func (d *dir) Record(ctx context.Context, id string) (*record.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !idForm.MatchString(id) {
		return nil, fmt.Errorf("%.80q is no id of a record", id)
	}
	records, err := d.open(recordsDir, false)
	if err != nil {
		return nil, d.wrap(err)
	}
	missing := fmt.Errorf("record %s: %w", id, ErrNoRecord)
	if records == nil {
		return nil, d.wrap(missing)
	}
	defer records.Close()
	f, err := records.Open(recordFile(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, d.wrap(missing)
	} else if err != nil {
		return nil, d.wrap(err)
	}
	defer f.Close()
	rec, err := record.Decode(id, f)
	if err != nil {
		return nil, d.wrap(fmt.Errorf("%w: %w", ErrDamaged, err))
	}
	if rec.ID != id || rec.Altered {
		return nil, d.wrap(fmt.Errorf("record %s: %w: its content has another hash", id, ErrDamaged))
	}
	return rec, nil
}

func recordFile(id string) string { return strings.TrimPrefix(id, "sha256:") + ".json.gz" }

// Save implements Store. The record is on the disk before the key names it.
func (d *dir) Save(ctx context.Context, key string, rec *record.Record, at time.Time) (Entry, error) {
	if err := errors.Join(CheckKey(key), ctx.Err()); err != nil {
		return Entry{}, err
	}
	keys, err := d.open(keysDir, true)
	if err != nil {
		return Entry{}, d.wrap(err)
	}
	defer keys.Close()
	names, err := d.names(keys)
	if err != nil {
		return Entry{}, d.wrap(err)
	}
	for _, name := range names {
		if name != key && strings.EqualFold(name, key) {
			return Entry{}, d.wrap(clash(key, name))
		}
	}
	if err := d.keep(rec); err != nil {
		return Entry{}, d.wrap(err)
	}
	e := Entry{ID: rec.ID, Saved: at.UTC(), Created: rec.Created, Commit: rec.Commit, Version: rec.Apps[record.Head].Version}
	if err := add(keys, fileOf(key), e); err != nil {
		return Entry{}, d.wrap(err)
	}
	return e, nil
}

// keep writes the record under its hash. One that is there already is written again, which mends a damaged one.
func (d *dir) keep(rec *record.Record) error {
	records, err := d.open(recordsDir, true)
	if err != nil {
		return err
	}
	defer records.Close()
	return record.WriteIn(records, recordFile, rec)
}
