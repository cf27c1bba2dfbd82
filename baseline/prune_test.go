package baseline

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// ids returns the ids of entries.
func ids(entries []Entry) []string {
	var found []string
	for _, e := range entries {
		found = append(found, e.ID)
	}
	return found
}

func load(t *testing.T, s Store, key string) []Entry {
	t.Helper()
	entries, err := s.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestPrune(t *testing.T) {
	inEach(t, func(t *testing.T, spec string) {
		s := open(t, spec)
		var all []string
		for i := range 6 {
			all = append(all, save(t, s, "main", i).ID)
		}
		save(t, s, "other", 0) // another key uses the oldest as well
		p := Pruning{Key: "main", Keep: 2, Spare: map[string]bool{all[2]: true}, DryRun: true, Now: time.Now()}
		dry, err := s.Prune(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if got := ids(load(t, s, "main")); !slices.Equal(got, all) {
			t.Fatalf("a dry run changed the log to %v", got)
		}
		p.DryRun = false
		done, err := s.Prune(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{all[1], all[3]}
		slices.Sort(want)
		for what, got := range map[string][]string{"dry": dry.Removed, "done": done.Removed} {
			if got = slices.Sorted(slices.Values(got)); !slices.Equal(got, want) {
				t.Errorf("%s: removed %v, want %v", what, got, want)
			}
		}
		if got := ids(done.Dropped["main"]); !slices.Equal(got, []string{all[0], all[1], all[3]}) || done.Kept != 4 || done.Bytes == 0 {
			t.Errorf("dropped %v, kept %d, %d bytes", got, done.Kept, done.Bytes)
		}
		s = open(t, spec)
		if got := ids(load(t, s, "main")); !slices.Equal(got, []string{all[2], all[4], all[5]}) {
			t.Errorf("the log is %v", got)
		}
		for i, id := range all { // what was set aside can be had for a day
			if _, err := s.Record(t.Context(), id); err != nil {
				t.Errorf("record %d: %v", i, err)
			}
		}
		save(t, s, "main", 1) // what was dropped can come back
		if got := load(t, s, "main"); got[len(got)-1].ID != all[1] {
			t.Errorf("saved again: %v", ids(got))
		}
		for range 2 {
			p = Pruning{Keep: 365, Now: p.Now.Add(settling + time.Minute)}
			if done, err = s.Prune(t.Context(), p); err != nil || len(done.Removed) != 0 {
				t.Fatalf("a day later: %+v, %v", done, err)
			}
		}
		for i, id := range all {
			_, err := s.Record(t.Context(), id)
			if gone := i == 3; gone != errors.Is(err, ErrNoRecord) || !gone && err != nil {
				t.Errorf("record %d, a day later: %v", i, err)
			}
		}
	})
}

func TestPruneKeepsWhatCounts(t *testing.T) {
	inEach(t, func(t *testing.T, spec string) {
		s := open(t, spec)
		accepted, err := s.Save(t.Context(), "main", numbered(0), at(0), Accepted("worth it"))
		if err != nil {
			t.Fatal(err)
		}
		current := save(t, s, "main", 1)
		var held []string
		for i := range 4 {
			e, err := s.Save(t.Context(), "main", numbered(2+i), at(2+i), Held(), Judged("regression"))
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, e.ID)
		}
		if _, err := s.Prune(t.Context(), Pruning{Keep: 1, Now: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if got := ids(load(t, s, "main")); !slices.Equal(got, []string{accepted.ID, current.ID, held[3]}) {
			t.Errorf("got %v", got)
		}
		if _, err := s.Prune(t.Context(), Pruning{Keep: 0}); err == nil {
			t.Error("a key was to keep nothing")
		}
		if _, err := s.Prune(t.Context(), Pruning{Key: "mian", Keep: 1}); !errors.Is(err, ErrNoKey) {
			t.Errorf("another key: got %v", err)
		}
	})
}

func TestPruneLeavesWhatItDoesNotKnow(t *testing.T) {
	path := t.TempDir()
	s, warned := watched(t, path)
	var all []Entry
	for i := range 4 {
		all = append(all, save(t, s, "main", i))
	}
	records := filepath.Join(path, "records")
	damaged := filepath.Join(records, recordFile(all[0].ID))
	writeFile(t, damaged, []byte("hello"))
	writeFile(t, filepath.Join(records, "notes.txt"), []byte("x"))
	orphan, young := save(t, s, "gone", 10), save(t, s, "gone", 11)
	if err := os.Remove(filepath.Join(path, "keys", "gone.jsonl")); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	if err := os.Chtimes(filepath.Join(records, recordFile(orphan.ID)), now, now.Add(-2*settling)); err != nil {
		t.Fatal(err)
	}
	done, err := s.Prune(t.Context(), Pruning{Keep: 1, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{all[1].ID, all[2].ID, orphan.ID}; !slices.Equal(slices.Sorted(slices.Values(done.Removed)), slices.Sorted(slices.Values(want))) {
		t.Errorf("removed %v, want %v", done.Removed, want)
	}
	for _, name := range []string{damaged, filepath.Join(records, "notes.txt"), filepath.Join(records, recordFile(young.ID))} {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("%s was deleted", name)
		}
	}
	if len(*warned) != 2 {
		t.Errorf("got warnings %v, want one of the damaged record and one of the foreign file", *warned)
	}

	// A line that cannot be read may name any record: none that no log names may go.
	log := filepath.Join(path, "keys", "main.jsonl")
	writeFile(t, log, append([]byte("{damaged\n"), readFile(t, log)...))
	later := now.Add(100 * settling)
	if done, err := s.Prune(t.Context(), Pruning{Keep: 1, Now: later}); err != nil || len(done.Removed) != 0 {
		t.Errorf("beside a damaged line: removed %v, %v", done.Removed, err)
	}
}

func TestPromote(t *testing.T) {
	inEach(t, func(t *testing.T, spec string) {
		s := open(t, spec)
		first := save(t, s, "main", 1)
		held, err := s.Save(t.Context(), "main", numbered(2), at(2), Held(), Judged("regression"))
		if err != nil {
			t.Fatal(err)
		}
		if rec, err := Newest(t.Context(), s, "main"); err != nil || rec.ID != first.ID {
			t.Fatalf("a record that is only held became the baseline: %v", err)
		}
		short := strings.TrimPrefix(held.ID, hash)[:10]
		got, err := s.Promote(t.Context(), "main", short, at(3), Accepted("worth it"))
		if err != nil || got.ID != held.ID || got.Held || !got.Promoted || got.Accepted != "worth it" || got.Verdict != "regression" {
			t.Fatalf("got %+v, %v", got, err)
		}
		if rec, err := Newest(t.Context(), open(t, spec), "main"); err != nil || rec.ID != held.ID {
			t.Errorf("the baseline is not what was promoted: %v", err)
		}
		if d := Distinct(load(t, s, "main")); len(d) != 2 || d[1].ID != held.ID || d[1].Held || d[1].Accepted != "worth it" {
			t.Errorf("got %+v", d)
		}
		for _, id := range []string{"", "sha256:", "zz", "sha256:" + strings.Repeat("0", 64)} {
			if _, err := s.Promote(t.Context(), "main", id, at(4)); err == nil {
				t.Errorf("promoted %q", id)
			}
		}
		if _, err := s.Promote(t.Context(), "mian", short, at(4)); !errors.Is(err, ErrNoKey) {
			t.Errorf("another key: got %v", err)
		}
	})
}

func TestOnlyHeldIsNoBaseline(t *testing.T) {
	inEach(t, func(t *testing.T, spec string) {
		s := open(t, spec)
		if _, err := s.Save(t.Context(), "main", numbered(2), at(2), Held()); err != nil {
			t.Fatal(err)
		}
		if _, err := Newest(t.Context(), s, "main"); !errors.Is(err, ErrNoKey) {
			t.Errorf("got %v, want %v", err, ErrNoKey)
		}
	})
}
