package record

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadAtMost(t *testing.T) {
	for _, name := range []string{"record.json", "record.json.gz"} {
		path := filepath.Join(t.TempDir(), name)
		rec := sample()
		rec.Commit = strings.Repeat("x", 1<<20)
		if err := Write(path, rec); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadAtMost(path, 1<<20); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: got %v, want %v", name, err, ErrTooLarge)
		}
		if _, err := ReadAtMost(path, 2<<20); err != nil {
			t.Errorf("%s: got %v, want the record", name, err)
		}
	}
}
