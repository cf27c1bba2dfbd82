package baseline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ddpgate/ddpgate/record"
)

// watched opens a directory store and returns what it warns of.
func watched(t *testing.T, path string) (Store, *[]error) {
	t.Helper()
	var warned []error
	s, err := Open(path, func(err error) { warned = append(warned, err) })
	if err != nil {
		t.Fatal(err)
	}
	return s, &warned
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestCutLine cuts the log at every byte of its newest line, as a crash may: the log is as before or as after, and takes the next
// entry.
func TestCutLine(t *testing.T) {
	path := t.TempDir()
	s := open(t, path)
	save(t, s, "main", 1)
	log := filepath.Join(path, "keys", "main.jsonl")
	before := len(readFile(t, log))
	save(t, s, "main", 2)
	after := readFile(t, log)
	for n := before; n <= len(after); n++ {
		writeFile(t, log, after[:n])
		s, warned := watched(t, path)
		entries, err := s.Load(t.Context(), "main")
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		isWhole := n >= len(after)-1 // the end of the line may be missing
		torn := n > before && !isWhole
		if want := 1 + count(isWhole); len(entries) != want || len(*warned) != count(torn) {
			t.Fatalf("cut at %d of %d: got %d entries and warnings %v", n, len(after), len(entries), *warned)
		}
		want := save(t, s, "main", 3)
		again, err := s.Load(t.Context(), "main")
		if err != nil || len(again) != len(entries)+1 || again[len(again)-1] != want {
			t.Fatalf("cut at %d: the next entry is not the newest: %v, %v", n, again, err)
		}
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestCutRecordIsNoEntry(t *testing.T) {
	path := t.TempDir()
	s := open(t, path)
	save(t, s, "main", 1)
	// A save that ended after the record and before the log leaves a record that no key names.
	if err := os.Remove(filepath.Join(path, "keys", "main.jsonl")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context(), "main"); !errors.Is(err, ErrNoKey) {
		t.Errorf("got %v, want %v", err, ErrNoKey)
	}
	writeFile(t, filepath.Join(path, "keys", "main.jsonl"), nil)
	if _, err := s.Load(t.Context(), "main"); !errors.Is(err, ErrNoKey) {
		t.Errorf("an empty log: got %v, want %v", err, ErrNoKey)
	}
	if keys, err := s.Keys(t.Context()); err != nil || len(keys) != 0 {
		t.Errorf("an empty log: got keys %v, %v", keys, err)
	}
}

func TestForeignThings(t *testing.T) {
	path := t.TempDir()
	e := save(t, open(t, path), "main", 1)
	keys := filepath.Join(path, "keys")
	secret := filepath.Join(t.TempDir(), "secret")
	writeFile(t, secret, []byte("secret\n"))
	for _, name := range []string{"README.md", "..%2Fup.jsonl", "a%2fb.jsonl", ".jsonl"} {
		writeFile(t, filepath.Join(keys, name), []byte("x"))
	}
	if err := os.Symlink(secret, filepath.Join(keys, "linked.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(keys, "folder.jsonl"), 0o755); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(keys, "main.jsonl")
	writeFile(t, log, append([]byte("\n{\"id\":\"sha256:../../x\"}\nsecret\n[]\n"), readFile(t, log)...))

	s, warned := watched(t, path)
	found, err := s.Keys(t.Context())
	if err != nil || len(found) != 1 || found[0].Entries != 1 || found[0].Newest != e {
		t.Errorf("got %v, %v, want main with its entry", found, err)
	}
	if len(*warned) != 9 {
		t.Errorf("got %d warnings, want 6 files and 3 lines: %v", len(*warned), *warned)
	}
	for _, w := range *warned {
		if strings.Contains(w.Error(), "secret") {
			t.Errorf("a warning quotes a line: %v", w)
		}
	}
	if _, err := s.Save(t.Context(), "linked", numbered(2), at(2)); err == nil {
		t.Error("saved through a link out of the store")
	}
	if got := string(readFile(t, secret)); got != "secret\n" {
		t.Errorf("a file outside the store became %q", got)
	}
}

func TestDamagedRecord(t *testing.T) {
	path := t.TempDir()
	s := open(t, path)
	e, other := save(t, s, "main", 1), save(t, s, "other", 2)
	file := func(e Entry) string {
		return filepath.Join(path, "records", strings.TrimPrefix(e.ID, "sha256:")+".json.gz")
	}
	good := readFile(t, file(e))
	for name, spoil := range map[string][]byte{
		"cut":     good[:len(good)/2],
		"empty":   {},
		"foreign": []byte("hello"),
		"swapped": readFile(t, file(other)),
		"altered": fmt.Appendf(nil, `{"format":%q,"id":%q,"created":"2026-11-30T12:00:00Z","tool":{"version":""},"command":[],"environment":{},"apps":{},"scenarios":[]}`, record.Format, e.ID),
	} {
		writeFile(t, file(e), spoil)
		if rec, err := s.Record(t.Context(), e.ID); !errors.Is(err, ErrDamaged) || rec != nil {
			t.Errorf("%s: got %v, want %v", name, err, ErrDamaged)
		}
		if _, err := Newest(t.Context(), s, "main"); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: newest: got %v, want %v", name, err, ErrDamaged)
		}
		if _, err := os.Stat(file(e)); err != nil {
			t.Errorf("%s: the damaged record was taken away: %v", name, err)
		}
	}
	save(t, s, "main", 1)
	if _, err := s.Record(t.Context(), e.ID); err != nil {
		t.Errorf("saved again: %v", err)
	}
}

// TestRecordOfAnotherVersion reads what a newer ddpgate has saved, and what claims an older format: the one is no damage, and neither is taken or pruned.
func TestRecordOfAnotherVersion(t *testing.T) {
	path := t.TempDir()
	e, older := save(t, open(t, path), "main", 1), save(t, open(t, path), "main", 2)
	save(t, open(t, path), "main", 3)
	file := func(e Entry) string { return filepath.Join(path, recordsDir, recordFile(e.ID)) }
	writeFile(t, file(e), []byte(`{"format": "ddpgate/record/2"}`))
	writeFile(t, file(older), []byte(`{"format": "ddpgate/record/0"}`))
	s, warned := watched(t, path)
	if _, err := s.Record(t.Context(), e.ID); !errors.Is(err, record.ErrNewer) || errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "update ddpgate") {
		t.Errorf("newer: got %v", err)
	}
	if _, err := s.Record(t.Context(), older.ID); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "this build reads "+record.Format) {
		t.Errorf("older: got %v", err)
	}
	if done, err := s.Prune(t.Context(), Pruning{Keep: 1, Now: at(1)}); err != nil || len(done.Removed) != 0 || len(*warned) != 2 {
		t.Errorf("pruned %v, %v, warnings %v", done.Removed, err, *warned)
	}
	for _, e := range []Entry{e, older} {
		if _, err := os.Stat(file(e)); err != nil {
			t.Errorf("it is gone: %v", err)
		}
	}
}

func TestTwoKeysOfOneName(t *testing.T) {
	path := t.TempDir()
	save(t, open(t, path), "main", 1)
	writeFile(t, filepath.Join(path, "keys", "MAIN.jsonl"), readFile(t, filepath.Join(path, "keys", "main.jsonl")))
	s := open(t, path)
	_, err1 := s.Keys(t.Context())
	_, err2 := s.Load(t.Context(), "main")
	_, err3 := s.Save(t.Context(), "main", numbered(2), at(2))
	for i, err := range []error{err1, err2, err3} {
		if err == nil || !strings.Contains(err.Error(), "differ only in case") {
			t.Errorf("call %d: got %v", i+1, err)
		}
	}
}

func TestStoreThatIsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	writeFile(t, path, []byte("x"))
	s := open(t, path)
	_, err1 := s.Keys(t.Context())
	_, err2 := s.Load(t.Context(), "main")
	_, err3 := s.Save(t.Context(), "main", numbered(1), at(1))
	for i, err := range []error{err1, err2, err3} {
		if err == nil || errors.Is(err, ErrNoKey) || !strings.Contains(err.Error(), path) {
			t.Errorf("call %d: got %v, want an error that names %s", i+1, err, path)
		}
	}
}

func TestOpen(t *testing.T) {
	for _, tt := range []struct{ spec, want, fault string }{
		{"dir:a/b", "dir:a/b", ""},
		{"a/b", "dir:a/b", ""},
		{`C:\baselines`, `dir:C:\baselines`, ""},
		{"./odd:name", "dir:./odd:name", ""},
		{"git:x/y@origin", "git:x/y@origin", ""},
		{"git:x@https://me:secret@example.com/x.git", "git:x@https://me:xxxxx@example.com/x.git", ""},
		{"s3://bucket/a/b/", "s3://bucket/a/b", ""},
		{"git:-x", "", "cannot be a branch"},
		{"git:a..b", "", "cannot be a branch"},
		{"git:x@", "", "cannot be a remote"},
		{"git:x@--upload-pack=y", "", "cannot be a remote"},
		{"git:", "", "names no place, want git:BRANCH[@REMOTE]"},
		{"s3:bucket", "", "want s3://BUCKET/PREFIX"},
		{"s3://Bucket/x", "", "cannot be a bucket"},
		{"s3://bucket/../x", "", "cannot be a prefix"},
		{"s3://bucket//x", "", "cannot be a prefix"},
		{"dirr:x", "", `unknown kind of store "dirr", did you mean "dir"?`},
		{"ftp://x", "", `unknown kind of store "ftp", known are: dir, git, s3`},
		{"dir:", "", "names no place"},
		{"", "", "names no place"},
	} {
		s, err := Open(tt.spec, nil)
		switch {
		case tt.fault != "":
			if err == nil || !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("%q: got %v, want %q", tt.spec, err, tt.fault)
			}
		case err != nil:
			t.Errorf("%q: %v", tt.spec, err)
		case fmt.Sprint(s) != tt.want:
			t.Errorf("%q: got %v, want %s", tt.spec, s, tt.want)
		}
	}
}

func TestConfig(t *testing.T) {
	for _, good := range []Config{{}, {Store: "dir:x", Key: "main"}, {Key: "release/3.x"}, {Key: Auto}} {
		if err := good.Validate(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
	if got := (Config{}).Spec(); got != Default {
		t.Errorf("got %q, want %q", got, Default)
	}
	err := Config{Store: "gti:x", Key: "../up"}.Validate()
	for _, want := range []string{`store: unknown kind of store "gti"`, `key: "../up" cannot be a key`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

func FuzzKey(f *testing.F) {
	for _, key := range []string{"main", "release/3.x", "a/b/c", "a%2Fb", "..", "a+b", "x.jsonl"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if CheckKey(key) != nil {
			return
		}
		file := fileOf(key)
		if !filepath.IsLocal(file) || filepath.Base(file) != file || strings.HasPrefix(file, ".") {
			t.Errorf("key %q has file %q", key, file)
		}
		if back, ok := keyOf(file); !ok || back != key {
			t.Errorf("key %q has file %q, which is of %q", key, file, back)
		}
	})
}
