package record

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDecodeKnown reads records by their ids: as Decode does where the content is what it was, and with all of Decode's faults where it is not.
func TestDecodeKnown(t *testing.T) {
	b, id, err := encode(sample())
	if err != nil {
		t.Fatal(err)
	}
	want, err := Decode("x", bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeKnown(id, bytes.NewReader(b))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	changed := bytes.Replace(b, []byte(`"runs":[`), []byte(`"runs":[{},`), 1)
	if rec, err := DecodeKnown(id, bytes.NewReader(changed)); !errors.Is(err, ErrInvalid) || rec != nil {
		t.Errorf("changed against the schema: got %v, want %v", err, ErrInvalid)
	}
	changed = bytes.Replace(b, []byte(`"tasks-`), []byte(`"tasks_`), 1)
	if bytes.Equal(changed, b) {
		t.Fatal("the sample has no such scenario")
	}
	if rec, err := DecodeKnown(id, bytes.NewReader(changed)); err != nil || !rec.Altered || rec.ID == id {
		t.Errorf("changed within the schema: got %v, %v, want it altered", rec, err)
	}
}
