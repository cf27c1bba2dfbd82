package baseline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ddpgate/ddpgate/record"
)

// The variables make the test binary save records under one key of the store that it names.
const (
	asWriter = "BASELINE_TEST_WRITER"
	byWriter = "BASELINE_TEST_NUMBER"
	justOne  = "BASELINE_TEST_ONE"   // one record, whatever the store
	asPruner = "BASELINE_TEST_PRUNE" // prune that store instead, down to one record a key
	withRoom = "BASELINE_TEST_ROOM"  // no file may be larger than so many bytes
	each     = 5                     // records a writer, at most
)

func TestMain(m *testing.M) {
	if room, err := strconv.ParseUint(os.Getenv(withRoom), 10, 64); err == nil {
		if err := limitFiles(room); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
	}
	if store := os.Getenv(asWriter); store != "" {
		n, err := strconv.Atoi(os.Getenv(byWriter))
		if err == nil {
			err = saveEach(store, n)
		}
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	if store := os.Getenv(asPruner); store != "" {
		s, err := Open(store, nil)
		if err == nil {
			err = pruneHard(context.Background(), s)
		}
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// pruneHard leaves each key one record, and what is its baseline.
func pruneHard(ctx context.Context, s Store) error {
	_, err := s.Prune(ctx, Pruning{Keep: 1, Now: time.Now()})
	return err
}

func saveEach(store string, writer int) error {
	s, err := Open(store, nil)
	if err != nil {
		return err
	}
	for i := range writes(store) {
		if _, err := s.Save(context.Background(), "main", numbered(writer*each+i), at(i)); err != nil {
			return err
		}
	}
	return nil
}

func at(i int) time.Time { return time.Date(2026, 11, 30, 12, 0, i, 0, time.UTC) }

// numbered returns a small record that differs from those of other numbers.
func numbered(i int) *record.Record {
	return &record.Record{
		Created: at(i), Seed: uint64(i) + 1, Commit: fmt.Sprintf("commit-%d", i),
		Apps:      map[string]record.App{record.Head: {Version: fmt.Sprintf("v%d", i)}},
		Scenarios: []record.Scenario{{Name: "idle", Runs: []record.Run{{Arm: record.Head, Outcome: record.OK, Metrics: map[string]float64{"time": float64(i)}}}}},
	}
}

// stores are the kinds of store, each with the spec of an empty one.
var stores = map[string]func(t *testing.T) (spec string){
	"dir":    func(t *testing.T) string { return "dir:" + filepath.Join(t.TempDir(), "baselines") },
	"branch": func(t *testing.T) string { t.Chdir(repository(t)); return "git:ddpgate" },
	"remote": func(t *testing.T) string { t.Chdir(below(t, cloned(t))); return "git:ddpgate/baselines@origin" },
	"s3":     func(t *testing.T) string { serveS3(t); return "s3://baselines/of/app" },
}

// below makes a folder in a repository, as an app in a larger one has.
func below(t *testing.T, repository string) string {
	t.Helper()
	dir := filepath.Join(repository, "apps", "tasks")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// writes says how many records each of many writers saves: of what takes long, one.
func writes(spec string) int {
	if strings.HasPrefix(spec, "git:") || os.Getenv(justOne) != "" {
		return 1
	}
	return each
}

// inEach runs a test in each kind of store.
func inEach(t *testing.T, test func(t *testing.T, spec string)) {
	t.Helper()
	for _, kind := range slices.Sorted(maps.Keys(stores)) {
		t.Run(kind, func(t *testing.T) { test(t, stores[kind](t)) })
	}
}

// open opens a store that must not warn.
func open(t *testing.T, spec string) Store {
	t.Helper()
	s, err := Open(spec, func(err error) { t.Errorf("unexpected warning: %v", err) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func save(t *testing.T, s Store, key string, i int) Entry {
	t.Helper()
	e, err := s.Save(t.Context(), key, numbered(i), at(100+i))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestSaveAndLoad(t *testing.T) {
	inEach(t, func(t *testing.T, spec string) {
		s := open(t, spec)
		if keys, err := s.Keys(t.Context()); err != nil || len(keys) != 0 {
			t.Fatalf("an empty store: got %v, %v", keys, err)
		}
		rec := numbered(1)
		first, err := s.Save(t.Context(), "main", rec, at(9))
		if err != nil {
			t.Fatal(err)
		}
		want := Entry{ID: rec.ID, Saved: at(9), Created: at(1), Commit: "commit-1", Version: "v1"}
		if first != want || rec.ID == "" {
			t.Errorf("got entry %+v, want %+v", first, want)
		}
		other := save(t, s, "release/3.x", 2)
		third := save(t, s, "main", 3)
		again := save(t, s, "main", 1)

		s = open(t, spec) // as another process would
		got, err := s.Load(t.Context(), "main")
		if diff := cmp.Diff([]Entry{first, third, again}, got); err != nil || diff != "" {
			t.Errorf("log of main (%v):\n%s", err, diff)
		}
		keys, err := s.Keys(t.Context())
		if diff := cmp.Diff([]Key{{"main", 3, again}, {"release/3.x", 1, other}}, keys); err != nil || diff != "" {
			t.Errorf("keys (%v):\n%s", err, diff)
		}
		saved, err := s.Record(t.Context(), first.ID)
		if diff := cmp.Diff(rec, saved, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Command" }, cmp.Ignore())); err != nil || diff != "" {
			t.Errorf("record (%v):\n%s", err, diff)
		}
		if newest, err := Newest(t.Context(), s, "main"); err != nil || newest.ID != rec.ID {
			t.Errorf("newest of main: %v, %v", newest, err)
		}
	})
}

func TestNoKey(t *testing.T) {
	inEach(t, func(t *testing.T, spec string) {
		s := open(t, spec)
		for _, near := range []string{"", "main"} {
			_, err := Newest(t.Context(), s, "mian")
			var no *NoKeyError
			if !errors.Is(err, ErrNoKey) || !errors.As(err, &no) || no.Near != near {
				t.Fatalf("got %#v, want a NoKeyError near %q", err, near)
			}
			if !strings.Contains(no.Hint(), "ddpgate run --save-baseline mian") {
				t.Errorf("hint %q does not say how to make it", no.Hint())
			}
			save(t, s, "main", 1)
		}
		_, err := s.Load(t.Context(), "mian")
		if want := `no baseline under key "mian" in ` + spec + `, did you mean "main"?`; err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
		_, err = s.Load(t.Context(), "MAIN")
		var no *NoKeyError
		if !errors.As(err, &no) || no.Near != "main" || strings.Contains(no.Hint(), "save") || !strings.Contains(no.Hint(), "call it main") {
			t.Errorf("a key in another case: got %#v, whose save would be refused", err)
		}
	})
}

func TestNoRecord(t *testing.T) {
	inEach(t, func(t *testing.T, spec string) {
		s := open(t, spec)
		id := "sha256:" + strings.Repeat("0", 64)
		for range 2 {
			if _, err := s.Record(t.Context(), id); !errors.Is(err, ErrNoRecord) {
				t.Errorf("got %v, want %v", err, ErrNoRecord)
			}
			save(t, s, "main", 1)
		}
		for _, id := range []string{"", "sha256:", "sha256:../../etc/passwd", strings.ToUpper(id), id + "0"} {
			if _, err := s.Record(t.Context(), id); err == nil || errors.Is(err, ErrNoRecord) {
				t.Errorf("id %q: got %v", id, err)
			}
		}
	})
}

func TestKeysThatDifferInCase(t *testing.T) {
	inEach(t, func(t *testing.T, spec string) {
		s := open(t, spec)
		save(t, s, "Main", 1)
		_, err := s.Save(t.Context(), "main", numbered(2), at(2))
		if err == nil || !strings.Contains(err.Error(), `keys "main" and "Main" differ only in case`) {
			t.Errorf("got %v", err)
		}
		if got, err := s.Load(t.Context(), "Main"); err != nil || len(got) != 1 {
			t.Errorf("Main: %v, %v", got, err)
		}
	})
}

func TestBadKeys(t *testing.T) {
	inEach(t, func(t *testing.T, spec string) {
		s := open(t, spec)
		for _, key := range []string{"", ".", "..", "../up", "a/../../b", "/etc", "a//b", "a/", "a\\b", "a b", "a\x00b", "a\nb", "-x", "ключ", "%2e%2e", Auto, strings.Repeat("k", 101)} {
			if _, err := s.Save(t.Context(), key, numbered(1), at(1)); err == nil {
				t.Errorf("saved under %q", key)
			}
			if _, err := s.Load(t.Context(), key); err == nil || errors.Is(err, ErrNoKey) {
				t.Errorf("loaded %q: %v", key, err)
			}
		}
		if keys, err := s.Keys(t.Context()); err != nil || len(keys) > 0 {
			t.Errorf("got %v, %v, want no keys", keys, err)
		}
	})
}

func TestBadRecordIsNotSaved(t *testing.T) {
	inEach(t, func(t *testing.T, spec string) {
		s := open(t, spec)
		bad := numbered(1)
		bad.Scenarios[0].Name = ""
		if _, err := s.Save(t.Context(), "main", bad, at(1)); err == nil {
			t.Error("a scenario without a name was saved")
		}
		if _, err := s.Load(t.Context(), "main"); !errors.Is(err, ErrNoKey) {
			t.Errorf("got %v, want %v", err, ErrNoKey)
		}
	})
}

func TestCancelled(t *testing.T) {
	inEach(t, func(t *testing.T, spec string) {
		s := open(t, spec)
		e := save(t, s, "main", 1)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err1 := s.Save(ctx, "main", numbered(2), at(2))
		_, err2 := s.Load(ctx, "main")
		_, err3 := s.Record(ctx, e.ID)
		_, err4 := s.Keys(ctx)
		for i, err := range []error{err1, err2, err3, err4} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("call %d: got %v, want %v", i+1, err, context.Canceled)
			}
		}
		if got, err := s.Load(t.Context(), "main"); err != nil || len(got) != 1 {
			t.Errorf("got %v, %v, want one entry", got, err)
		}
	})
}

// TestManyWriters lets processes and goroutines save under one key at once.
func TestManyWriters(t *testing.T) {
	inEach(t, func(t *testing.T, spec string) {
		const writers = 20
		var wg sync.WaitGroup
		for n := range writers {
			wg.Go(func() {
				if n%2 == 0 {
					if err := saveEach(spec, n); err != nil {
						t.Errorf("goroutine %d: %v", n, err)
					}
					return
				}
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), asWriter+"="+spec, byWriter+"="+strconv.Itoa(n))
				if said, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("process %d: %v: %s", n, err, said)
				}
			})
		}
		wg.Wait()
		s := open(t, spec)
		entries, err := s.Load(t.Context(), "main")
		if err != nil {
			t.Fatal(err)
		}
		checkSaved(t, s, entries, writers*writes(spec))
	})
}

// checkSaved checks that every record is there once, and each writer's in the order in which it saved them.
func checkSaved(t *testing.T, s Store, entries []Entry, want int) {
	t.Helper()
	var seeds []int
	for _, e := range entries {
		rec, err := s.Record(t.Context(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, int(rec.Seed)-1)
	}
	last := make(map[int]int)
	for _, n := range seeds {
		if before, seen := last[n/each]; seen && before >= n {
			t.Errorf("writer %d: record %d stands after %d", n/each, n, before)
		}
		last[n/each] = n
	}
	slices.Sort(seeds)
	if len(seeds) != want || len(slices.Compact(seeds)) != want {
		t.Errorf("got %d records of %d", len(slices.Compact(seeds)), want)
	}
}
