package baseline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestFirstWritersThatDifferInCase lets two be the first under keys that differ only in case, each of which has seen that there is no key at all when the other
// goes on: one has the name, the other is told so, and the store stays whole.
func TestFirstWritersThatDifferInCase(t *testing.T) {
	inEach(t, func(t *testing.T, spec string) {
		spellings := []string{"release/Main", "release/main"}
		var looked sync.WaitGroup
		looked.Add(len(spellings))
		errs := make([]error, len(spellings))
		var all sync.WaitGroup
		for i, key := range spellings {
			all.Go(func() {
				l := open(t, spec).(*ledger)
				l.files = first{l.files, sync.OnceFunc(func() {
					looked.Done()
					looked.Wait()
				})}
				_, errs[i] = l.Save(t.Context(), key, numbered(i), at(i))
			})
		}
		all.Wait()
		won := 0
		if errs[0] != nil {
			won = 1
		}
		if lost := errs[1-won]; errs[won] != nil || lost == nil || !strings.Contains(lost.Error(), "differ only in case") {
			t.Fatalf("got %v", errs)
		}
		s := open(t, spec)
		keys, err := s.Keys(t.Context())
		if err != nil || len(keys) != 1 || keys[0].Name != spellings[won] {
			t.Errorf("got %v, %v, want %s alone", keys, err, spellings[won])
		}
		if _, err := s.Save(t.Context(), spellings[1-won], numbered(3), at(3)); err == nil {
			t.Error("the other spelling was taken afterwards")
		}
		save(t, s, spellings[won], 4)
	})
}

// first is a place whose first change waits, once it has seen which keys there are.
type first struct {
	files
	looked func()
}

func (f first) grow(ctx context.Context, c change) error {
	admit := c.admit
	c.admit = func(logs []string) error {
		err := admit(logs)
		f.looked()
		return err
	}
	return f.files.grow(ctx, c)
}

// TestManyFirstWriters lets ten of each spelling begin at once.
func TestManyFirstWriters(t *testing.T) {
	inEach(t, func(t *testing.T, spec string) {
		var all sync.WaitGroup
		var mu sync.Mutex
		saved := make(map[string]int)
		for i := range 20 {
			all.Go(func() {
				key := []string{"Main", "main"}[i%2]
				_, err := open(t, spec).Save(t.Context(), key, numbered(i), at(i))
				if err != nil && !strings.Contains(err.Error(), "differ only in case") {
					t.Errorf("%s: %v", key, err)
				}
				mu.Lock()
				defer mu.Unlock()
				saved[key] += count(err == nil)
			})
		}
		all.Wait()
		keys, err := open(t, spec).Keys(t.Context())
		if err != nil || len(keys) != 1 || keys[0].Entries != 10 || saved[keys[0].Name] != 10 || saved["Main"]+saved["main"] != 10 {
			t.Errorf("got %v, %v, saved %v", keys, err, saved)
		}
	})
}

// TestClaimWithoutALog is what a save leaves that ended right after it: the key can be saved, and the other spelling says why it cannot.
func TestClaimWithoutALog(t *testing.T) {
	path := t.TempDir()
	save(t, open(t, path), "Main", 1)
	if err := os.RemoveAll(filepath.Join(path, keysDir)); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, path).Save(t.Context(), "main", numbered(2), at(2))
	if err == nil || !strings.Contains(err.Error(), `claims/main keeps the name for "Main"`) {
		t.Errorf("got %v", err)
	}
	save(t, open(t, path), "Main", 3)
	claim := filepath.Join(path, claimsDir, "main")
	writeFile(t, claim, []byte("x"))
	if err := os.RemoveAll(filepath.Join(path, keysDir)); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, path).Save(t.Context(), "Main", numbered(4), at(4)); err == nil || !strings.Contains(err.Error(), "claims/main is damaged") {
		t.Errorf("got %v", err)
	}
	if entries, err := os.ReadDir(filepath.Join(path, claimsDir)); err != nil || len(entries) != 1 {
		t.Errorf("drafts are left: %v, %v", entries, err)
	}
	if _, err := open(t, path).Load(t.Context(), "Main"); !errors.Is(err, ErrNoKey) {
		t.Errorf("got %v", err)
	}
}
