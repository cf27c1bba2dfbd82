package scenario

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each testdata/faults/*.yml is wrong in its own way; beside it stands what its author is told.
func TestFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Parse(filepath.Base(file), text)
			if err == nil {
				t.Fatalf("got %+v, want faults", s)
			}
			got := err.Error() + "\n"
			golden := strings.TrimSuffix(file, ".yml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

const everything = `
name: everything
arrivals: {rate: 240/min, for: 1m30s}
think: 0..200ms
timeout: 2m
transport: websocket
compression: no-takeover
vars: {n: 2, f: 1.5, ok: true, text: "a b"}
session:
  - subscribe: {name: tasks, params: [1, {a: [null, true, "${text}"]}]}
  - repeat: ${n}
    steps:
      - call: {method: add, params: ["${i}", "${session}", 2.5], think: 1s, find: {match: {a.b: "${i}"}, append: {ids: _id}}}
  - each: {id: ids}
    steps:
      - await: {collection: c, id: "${id}", gone: true}
      - call: {method: auto, think: 0s}
  - pause: 1s..3s
  - only: first
    steps:
      - pause: {until: arrived}
      - login: {token: {env: TOKEN}}
  - only: others
    steps:
      - login: {user: {env: USER_NAME}, password: {env: PASSWORD}}
      - call: {method: "read", params: ["${load}"]}
  - unsubscribe: {name: tasks}
`

func TestParse(t *testing.T) {
	got, err := Parse("everything.yml", []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	want := &Scenario{
		Name:        "everything",
		Arrivals:    Arrivals{Rate: 4, For: 90 * time.Second},
		Think:       Range{0, 200 * time.Millisecond},
		Timeout:     2 * time.Minute,
		Transport:   WebSocket,
		Compression: NoTakeover,
		Vars:        map[string]any{"n": int64(2), "f": 1.5, "ok": true, "text": "a b"},
		Session: []Step{
			{Subscribe: &Subscribe{"tasks", []any{int64(1), map[string]any{"a": []any{nil, true, "${text}"}}}}},
			{Repeat: &Repeat{"${n}", []Step{{Call: &Call{
				Method: "add", Params: []any{"${i}", "${session}", 2.5}, Think: &Range{time.Second, time.Second},
				Find: &Doc{Match: map[string]any{"a.b": "${i}"}, Append: map[string]string{"ids": "_id"}},
			}}}}},
			{Each: &Each{"id", "ids", []Step{
				{Await: &Await{"c", Doc{ID: "${id}", Gone: true}}},
				{Call: &Call{Method: "auto", Think: &Range{}}},
			}}},
			{Pause: &Pause{For: Range{time.Second, 3 * time.Second}}},
			{Only: &Only{First, []Step{
				{Pause: &Pause{Until: Arrived}},
				{Login: &Login{Token: &Secret{"TOKEN"}}},
			}}},
			{Only: &Only{Others, []Step{
				{Login: &Login{User: &Secret{"USER_NAME"}, Password: &Secret{"PASSWORD"}}},
				{Call: &Call{Method: "read", Params: []any{"${load}"}}},
			}}},
			{Unsubscribe: &Unsubscribe{"tasks"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got, want := got.Actions(), 360*3-1; got != want {
		t.Errorf("got %d actions, want %d: a call with think time 0 of its own is not the user's", got, want)
	}
	// 360 sessions; each thinks 2 × 1 s and pauses 2 s in the mean, and the last thinks 100 ms more. The first is done earlier.
	if got, want := got.Floor(), 359*250*time.Millisecond+4100*time.Millisecond; got != want {
		t.Errorf("got floor %s, want %s", got, want)
	}
}

func TestDefaults(t *testing.T) {
	s, err := Parse("s.yml", []byte("name: s\narrivals: {rate: 1/s, for: 1s}\nsession: [{subscribe: {name: p}}]"))
	if err != nil {
		t.Fatal(err)
	}
	want := &Scenario{
		Name: "s", Arrivals: Arrivals{1, time.Second}, Timeout: 2 * time.Minute, Transport: SockJS, Compression: Browser,
		Session: []Step{{Subscribe: &Subscribe{Name: "p"}}},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A list that two loops fill has as many values as both put in.
func TestFloorCountsLists(t *testing.T) {
	const text = `
name: lists
arrivals: {rate: 1/s, for: 1s}
session:
  - repeat: 3
    steps:
      - repeat: 2
        steps:
          - await: {collection: c, match: {a: "${i}"}, append: {ids: _id}}
      - each: {id: ids}
        steps: [{pause: 1s}]
`
	s, err := Parse("lists.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Floor(), (2+4+6)*time.Second; got != want {
		t.Errorf("got floor %s, want %s", got, want)
	}
}

// FuzzParse holds Parse to never panicking, and what it accepts to being sound, to having an identity, and to staying the
// same scenario as JSON, the form in which records and workers get it.
func FuzzParse(f *testing.F) {
	f.Add([]byte(everything))
	for _, glob := range []string{"testdata/faults/*.yml", "builtin/*.yml"} {
		files, err := filepath.Glob(glob)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("f.yml", text)
		if err != nil {
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("Parse accepts what Validate refuses: %v", err)
		}
		if s.Floor() < 0 || s.Actions() < 0 {
			t.Fatalf("floor %s, %d actions", s.Floor(), s.Actions())
		}
		asJSON, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var again Scenario
		if err := json.Unmarshal(asJSON, &again); err != nil {
			t.Fatal(err)
		}
		if err := again.Validate(); err != nil {
			t.Fatalf("as JSON: %v", err)
		}
		if got, want := again.Identity(), s.Identity(); got != want {
			t.Fatalf("identity as JSON %s, want %s\n%s", got, want, asJSON)
		}
	})
}
