// Package baseline keeps records that later ones are held against.
//
// A store holds records, which never change and are found by the hash of their content, and keys (main, release-3.x), each of which
// is a log of records that only grows.
package baseline

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/ddpgate/ddpgate/internal/nearest"
	"github.com/ddpgate/ddpgate/record"
)

// Default is the store that is used where none is named.
const Default = "dir:.ddpgate/baselines"

// A Store keeps records under keys. It may be used by several goroutines, and by several processes at once: of many who save under
// one key, none is lost.
type Store interface {
	// Keys returns the keys that have a record, by name.
	Keys(ctx context.Context) ([]Key, error)
	// Load returns a key's log, oldest first and never empty: a key without records is ErrNoKey.
	Load(ctx context.Context, key string) ([]Entry, error)
	// Record returns a record by its id: ErrNoRecord if the store has none, ErrDamaged if it is not what was saved.
	Record(ctx context.Context, id string) (*record.Record, error)
	// Save keeps the record, sets its ID, and makes it the newest of the key, as of the given time. No error loses what was there
	// before.
	Save(ctx context.Context, key string, rec *record.Record, at time.Time) (Entry, error)
}

// A Key is a key's name and what is under it.
type Key struct {
	Name    string
	Entries int
	Newest  Entry
}

// An Entry is one record in a key's log.
type Entry struct {
	ID      string    `json:"id"`
	Saved   time.Time `json:"saved"`             // when it was put under the key
	Created time.Time `json:"created"`           // when it was measured
	Commit  string    `json:"commit,omitempty"`  // of the repository that it was measured in
	Version string    `json:"version,omitempty"` // of the app
}

// Why a store has no answer.
var (
	ErrNoKey    = errors.New("no baseline under this key")
	ErrNoRecord = errors.New("not in the store")
	ErrDamaged  = errors.New("damaged")
)

// A NoKeyError is the ErrNoKey of one key.
type NoKeyError struct {
	Key   string
	Store string
	Near  string // the key that was most likely meant, if any
}

func (e *NoKeyError) Error() string {
	s := fmt.Sprintf("no baseline under key %q in %s", e.Key, e.Store)
	if e.Near != "" {
		s += fmt.Sprintf(", did you mean %q?", e.Near)
	}
	return s
}

// Is makes the error an ErrNoKey.
func (e *NoKeyError) Is(target error) bool { return target == ErrNoKey }

// Hint says how to make the baseline.
func (e *NoKeyError) Hint() string {
	return fmt.Sprintf("make one with ddpgate run --save-baseline %s, or from a record with ddpgate baseline save %s RECORD", e.Key, e.Key)
}

// Newest returns the newest record under a key.
func Newest(ctx context.Context, s Store, key string) (*record.Record, error) {
	entries, err := s.Load(ctx, key)
	if err != nil {
		return nil, err
	}
	rec, err := s.Record(ctx, entries[len(entries)-1].ID)
	if err != nil {
		return nil, fmt.Errorf("baseline %s: %w", key, err)
	}
	return rec, nil
}

// Open returns the store that spec names: dir:PATH, or a plain path. Nothing is made or read until it is used. warn, which may be nil,
// is told of each thing in the store that is damaged or was not put there by a store; such things are skipped and never
// deleted.
func Open(spec string, warn func(error)) (Store, error) {
	kind, place, err := parse(spec)
	if err != nil {
		return nil, err
	}
	if warn == nil {
		warn = func(error) {}
	}
	switch kind {
	case "dir":
		return &dir{place, warn}, nil
	default:
		return nil, nearest.Unknown("kind of store", kind, []string{"dir"})
	}
}

// A kind has two letters or more, so that C:\ is a path.
var kindOf = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+]+):(.*)$`)

func parse(spec string) (kind, place string, err error) {
	kind, place = "dir", spec
	if m := kindOf.FindStringSubmatch(spec); m != nil {
		kind, place = m[1], m[2]
	}
	if place == "" {
		return "", "", fmt.Errorf("store %q names no place, want dir:PATH", spec)
	}
	return kind, place, nil
}

// Config is the baseline block of the configuration.
type Config struct {
	Store string `yaml:"store,omitempty" json:"store,omitempty"` // dir:PATH; empty for Default
	Key   string `yaml:"key,omitempty" json:"key,omitempty"`     // the key to gate against; empty for none
}

// Validate returns every fault of the block, joined.
func (c Config) Validate() error {
	var faults []error
	if _, err := Open(c.Spec(), nil); err != nil {
		faults = append(faults, fmt.Errorf("store: %w", err))
	}
	if c.Key != "" {
		if err := CheckKey(c.Key); err != nil {
			faults = append(faults, fmt.Errorf("key: %w", err))
		}
	}
	return errors.Join(faults...)
}

// Spec returns the store to open.
func (c Config) Spec() string {
	if c.Store == "" {
		return Default
	}
	return c.Store
}
