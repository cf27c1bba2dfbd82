package baseline

import (
	"path/filepath"
	"testing"
	"time"
)

// TestThousandNights holds how long a log of a thousand nights takes to list.
func TestThousandNights(t *testing.T) {
	path := t.TempDir()
	s := open(t, path)
	e := save(t, s, "main", 1)
	var log []byte
	for range 1000 {
		line, err := e.line()
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, line...)
	}
	writeFile(t, filepath.Join(path, keysDir, fileOf("main")), log)
	start := time.Now()
	keys, err := s.Keys(t.Context())
	if err != nil || len(keys) != 1 || keys[0].Entries != 1000 {
		t.Fatalf("got %v, %v", keys, err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("listing took %v", took)
	}
}

func BenchmarkKeys(b *testing.B) {
	path := b.TempDir()
	s, err := Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		if _, err := s.Save(b.Context(), "main", numbered(i), at(i)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := s.Keys(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
