package scenario

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestBuiltin(t *testing.T) {
	for _, name := range Names() {
		s, err := Builtin(name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.Name != name {
			t.Errorf("builtin/%s.yml calls itself %s", name, s.Name)
		}
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Builtin("task-reactive"); err == nil || !strings.Contains(err.Error(), `did you mean "tasks-reactive"?`) {
		t.Errorf("got %v, want the nearest name", err)
	}
	if _, err := Builtin("../builtin/tasks-reactive"); err == nil {
		t.Error("a path is no built-in name")
	}
}

// The published loads: 180 reactive sessions at 3/s, 240 non-reactive ones at 4/s, 20 tasks, think time 500 ms.
func TestPublishedLoads(t *testing.T) {
	for _, tt := range []struct {
		name              string
		sessions, actions int
		floor             time.Duration
	}{
		// Actions: removeAllTasks, 20 inserts, 20 removals, removeAllTasks. The last session arrives one interval before 60 s.
		{"tasks-reactive", 180, 42, 60*time.Second - time.Second/3 + 21*time.Second},
		{"tasks-nonreactive", 240, 42, 60*time.Second - time.Second/4 + 21*time.Second},
	} {
		s, err := Builtin(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Arrivals.Sessions(); got != tt.sessions {
			t.Errorf("%s: got %d sessions, want %d", tt.name, got, tt.sessions)
		}
		if got, want := s.Actions(), tt.sessions*tt.actions; got != want {
			t.Errorf("%s: got %d actions, want %d", tt.name, got, want)
		}
		if got := s.Floor(); (got - tt.floor).Abs() > time.Microsecond {
			t.Errorf("%s: got floor %s, want %s", tt.name, got, tt.floor)
		}
	}
}

// The first session of a fanout has all of the work: it writes once all have arrived.
func TestFanoutFloor(t *testing.T) {
	s, err := Builtin("fanout")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Actions(), 40; got != want {
		t.Errorf("got %d actions, want %d", got, want)
	}
	if got, want := s.Floor(), 9900*time.Millisecond+2*time.Second+40*500*time.Millisecond; got != want {
		t.Errorf("got floor %s, want %s", got, want)
	}
}

// Each session of an idle load is there until the last has arrived and 30 s more.
func TestIdleFloor(t *testing.T) {
	s, err := Builtin("idle")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Floor(), 30*time.Second-50*time.Millisecond+30*time.Second; got != want {
		t.Errorf("got floor %s, want %s", got, want)
	}
	s.Timeout = 59*time.Second + 950*time.Millisecond
	if err := s.Validate(); err != nil {
		t.Errorf("the first session waits for the last: %v", err)
	}
	s.Timeout -= time.Millisecond
	if err := s.Validate(); err == nil {
		t.Error("a timeout is taken that the first session cannot keep")
	}
}

func TestLoad(t *testing.T) {
	text, err := builtin.ReadFile("builtin/tasks-reactive.yml")
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	readFile := func(file string) ([]byte, error) {
		asked = append(asked, file)
		if strings.HasPrefix(file, "none") {
			return nil, fs.ErrNotExist
		}
		return text, nil
	}
	for _, name := range []string{"own.yml", "own.yaml", "scenarios/own", `scenarios\own`} {
		if _, err := Load(name, readFile); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s, err := Load("tasks-nonreactive", readFile); err != nil || s.Name != "tasks-nonreactive" {
		t.Errorf("got %v, %v, want the built-in scenario", s, err)
	}
	if _, err := Load("none.yml", readFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want the cause to be kept", err)
	}
	if want := []string{"own.yml", "own.yaml", "scenarios/own", `scenarios\own`, "none.yml"}; !slices.Equal(asked, want) {
		t.Errorf("read %q, want %q", asked, want)
	}
}
