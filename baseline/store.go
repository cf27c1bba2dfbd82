// Package baseline keeps records that later ones are held against.
//
// A store holds records, which never change and are found by the hash of their content, and keys (main, release-3.x), each of which
// is a log of records that only grows.
package baseline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/internal/nearest"
	"github.com/ddpgate/ddpgate/record"
)

// Auto, as a key, is the record of the nearest earlier commit: see Ancestry and Nearest.
const Auto = "auto"

// Default is the store that is used where none is named.
const Default = "dir:.ddpgate/baselines"

// A Store keeps records under keys. It may be used by several goroutines, and by several processes at once: of many who save under
// one key, none is lost. A change that fails, or is cut short, leaves what was there before.
type Store interface {
	// Keys returns the keys that have a record, by name.
	Keys(ctx context.Context) ([]Key, error)
	// Load returns a key's log, oldest first and never empty: a key without records is ErrNoKey.
	Load(ctx context.Context, key string) ([]Entry, error)
	// Record returns a record by its id: ErrNoRecord if the store has none, ErrDamaged if it is not what was saved.
	Record(ctx context.Context, id string) (*record.Record, error)
	// Save keeps the record, sets its ID, and makes it the newest of the key, as of the given time.
	Save(ctx context.Context, key string, rec *record.Record, at time.Time, notes ...Note) (Entry, error)
	// Promote makes a record that is in the key's log its baseline. The id may be cut to its beginning.
	Promote(ctx context.Context, key, id string, at time.Time, notes ...Note) (Entry, error)
	// Prune drops old entries from logs, and deletes records that no key uses any more.
	Prune(ctx context.Context, p Pruning) (Pruned, error)
}

// A Key is a key's name and what is under it.
type Key struct {
	Name    string
	Entries int
	Newest  Entry
}

// An Entry is one record in a key's log.
type Entry struct {
	ID       string    `json:"id"`
	Saved    time.Time `json:"saved"`              // when it was put under the key
	Created  time.Time `json:"created"`            // when it was measured
	Commit   string    `json:"commit,omitempty"`   // of the repository that it was measured in
	Version  string    `json:"version,omitempty"`  // of the app
	Held     bool      `json:"held,omitempty"`     // in the key's history only: it is no baseline
	Promoted bool      `json:"promoted,omitempty"` // a record of the log that was made the baseline afterwards
	Verdict  string    `json:"verdict,omitempty"`  // of the gate, when it was saved
	Accepted string    `json:"accepted,omitempty"` // why it is the baseline though it is worse
}

// A Note adds to an entry what is known of its record.
type Note func(*Entry)

// Judged notes the gate's verdict.
func Judged(verdict string) Note { return func(e *Entry) { e.Verdict = verdict } }

// Held keeps the record in the key's history without making it the baseline.
func Held() Note { return func(e *Entry) { e.Held = true } }

// Accepted notes why a record that is worse becomes the baseline all the same. An empty reason notes nothing.
func Accepted(reason string) Note { return func(e *Entry) { e.Accepted = reason } }

// Current returns the entry of a log that is the key's baseline: the newest that is not only held. ok is false if there is none.
func Current(entries []Entry) (e Entry, ok bool) {
	for i := len(entries) - 1; i >= 0; i-- {
		if !entries[i].Held {
			return entries[i], true
		}
	}
	return Entry{}, false
}

// Distinct returns the entries without those that say again what an earlier one of the same record said; of each record its first,
// with the reason for which a later one accepted it.
func Distinct(entries []Entry) []Entry {
	var found []Entry
	at := make(map[string]int)
	for _, e := range entries {
		i, seen := at[e.ID]
		if !seen {
			at[e.ID] = len(found)
			found = append(found, e)
			continue
		}
		found[i].Held = found[i].Held && e.Held
		if e.Accepted != "" {
			found[i].Accepted = e.Accepted
		}
	}
	return found
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

// Hint says how to make the baseline, or by which name to call the one that is there.
func (e *NoKeyError) Hint() string {
	if e.Near != e.Key && strings.EqualFold(e.Near, e.Key) {
		return fmt.Sprintf("call it %s: two keys must not differ only in case", e.Near)
	}
	return fmt.Sprintf("make one with ddpgate run --save-baseline %s, or from a record with ddpgate baseline save %s RECORD", e.Key, e.Key)
}

// Newest returns the record that is a key's baseline.
func Newest(ctx context.Context, s Store, key string) (*record.Record, error) {
	entries, err := s.Load(ctx, key)
	if err != nil {
		return nil, err
	}
	e, ok := Current(entries)
	if !ok {
		return nil, &NoKeyError{Key: key, Store: fmt.Sprint(s)}
	}
	rec, err := s.Record(ctx, e.ID)
	if err != nil {
		return nil, fmt.Errorf("baseline %s: %w", key, err)
	}
	return rec, nil
}

// kinds are the kinds of store, with how each is written.
var kinds = map[string]string{"dir": "dir:PATH", "git": "git:BRANCH[@REMOTE]", "s3": "s3://BUCKET[/PREFIX]"}

// Open returns the store that spec names: dir:PATH or a plain path, git:BRANCH[@REMOTE] of the repository in the current directory,
// or s3://BUCKET/PREFIX. Nothing is made or read until it is used. warn, which may be nil, is told of each thing in the store that is
// damaged or was not put there by a store; such things are skipped and never deleted.
func Open(spec string, warn func(error)) (Store, error) {
	kind, place, err := parse(spec)
	if err != nil {
		return nil, err
	}
	if warn == nil {
		warn = func(error) {}
	}
	var f files
	switch kind {
	case "dir":
		f = dir{place}
	case "git":
		f, err = newBranch(place)
	case "s3":
		f, err = newBucket(place)
	default:
		return nil, nearest.Unknown("kind of store", kind, slices.Sorted(maps.Keys(kinds)))
	}
	if err != nil {
		return nil, fmt.Errorf("store %q: %w", spec, err)
	}
	return &ledger{f, warn}, nil
}

// A kind has two letters or more, so that C:\ is a path.
var kindOf = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+]+):(.*)$`)

func parse(spec string) (kind, place string, err error) {
	kind, place = "dir", spec
	if m := kindOf.FindStringSubmatch(spec); m != nil {
		kind, place = m[1], m[2]
	}
	if form, known := kinds[kind]; place == "" && known {
		return "", "", fmt.Errorf("store %q names no place, want %s", spec, form)
	}
	return kind, place, nil
}

// Config is the baseline block of the configuration.
type Config struct {
	Store string `yaml:"store,omitempty" json:"store,omitempty"` // as Open takes it; empty for Default
	Key   string `yaml:"key,omitempty" json:"key,omitempty"`     // the key to gate against; empty for none
	// How old and how many commits away the record may be that auto chooses; 0 for the defaults.
	MaxAge      time.Duration `yaml:"max_age,omitempty" json:"max_age,omitempty"`
	MaxDistance int           `yaml:"max_distance,omitempty" json:"max_distance,omitempty"`
}

// Validate returns every fault of the block, joined.
func (c Config) Validate() error {
	var faults []error
	if _, err := Open(c.Spec(), nil); err != nil {
		faults = append(faults, fmt.Errorf("store: %w", err))
	}
	if c.MaxAge < 0 {
		faults = append(faults, fmt.Errorf("max_age is %v, must not be negative", c.MaxAge))
	}
	if c.MaxDistance < 0 || c.MaxDistance >= farthest {
		faults = append(faults, fmt.Errorf("max_distance is %d, must be from 0 to %d", c.MaxDistance, farthest-1))
	}
	if c.Key != "" && c.Key != Auto {
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
