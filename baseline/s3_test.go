package baseline

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/internal/objects"
)

func TestS3Faults(t *testing.T) {
	refuse := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer refuse.Close()
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	for name, tt := range map[string]struct {
		spec, want string
		set        func()
	}{
		"no bucket":      {"s3://nobody/x", "there is no such bucket", func() { serveS3(t) }},
		"no permission":  {"s3://baselines/x", "these credentials may not do that", func() { useS3(t, refuse.URL) }},
		"nobody there":   {"s3://baselines/x", "connection refused", func() { useS3(t, "http://127.0.0.1:1") }},
		"no credentials": {"s3://baselines/x", "set AWS_ACCESS_KEY_ID", func() { serveS3(t); t.Setenv("AWS_ACCESS_KEY_ID", ""); t.Setenv("AWS_SECRET_ACCESS_KEY", "") }},
	} {
		tt.set()
		s := open(t, tt.spec)
		_, err1 := s.Keys(t.Context())
		_, err2 := s.Save(t.Context(), "main", numbered(1), at(1))
		for i, err := range []error{err1, err2} {
			if err == nil || errors.Is(err, ErrNoKey) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.spec) {
				t.Errorf("%s, call %d: got %v, want %q", name, i+1, err, tt.want)
			}
		}
	}
}

// TestForeignObjects puts objects of others under the prefix and damages a record: all is reported, and nothing is deleted.
func TestForeignObjects(t *testing.T) {
	serveS3(t)
	const spec = "s3://baselines/x"
	e := save(t, open(t, spec), "main", 1)
	b, err := objects.Parse("s3://baselines")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x/README", "x/keys/notes.txt", "x/keys/deep/main.jsonl", "x/keys/..%2Fup.jsonl", "xy/keys/other.jsonl", "x/records/" + recordFile(e.ID)} {
		if err := b.Put(t.Context(), name, "text/plain", []byte("hello"), objects.Condition{}); err != nil {
			t.Fatal(err)
		}
	}
	s, warned := watched(t, spec)
	keys, err := s.Keys(t.Context())
	if err != nil || len(keys) != 1 || keys[0].Newest != e || len(*warned) != 3 {
		t.Errorf("got %v, %v, warnings %v", keys, err, *warned)
	}
	if _, err := s.Record(t.Context(), e.ID); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged record: got %v", err)
	}
	save2, err := s.Save(t.Context(), "main", numbered(2), at(2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prune(t.Context(), Pruning{Keep: 1, Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Record(t.Context(), e.ID); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged record was deleted: %v", err)
	}
	if got := load(t, s, "main"); len(got) != 1 || got[0] != save2 {
		t.Errorf("got %v", got)
	}
}
