package gate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ddpgate/ddpgate/record"
)

// TestSetbacks: a step that was accepted, one that is open after it, and one that was made good are told apart, each with the records that it may begin with.
func TestSetbacks(t *testing.T) {
	s := newSeason(1, 0.005)
	for i := range 40 {
		level := 100 * (1 + 0.2*float64(i/20)) // a step at 20
		change := func(*record.Record) {}
		if i == 22 {
			change = accept("new driver")
		}
		if i >= 30 {
			level *= 1.15
		}
		s.night(seconds(level), change)
	}
	got := s.judge(t).Setbacks()
	if len(got) != 2 {
		t.Fatalf("got %+v, want two", got)
	}
	first, second := got[0], got[1]
	var want []string
	for _, i := range []int{30, 29, 31, 28, 32, 27, 33} {
		want = append(want, s.made[i].ID)
	}
	if first.Open || first.Accepted != "new driver" || first.Records[0] != s.made[20].ID || first.From != "c19" || first.To != "c20" {
		t.Errorf("the first: %+v", first)
	}
	if !second.Open || second.Accepted != "" || !slices.Equal(second.Records, want) || math.Abs(second.Change-0.15) > 0.03 || !second.Since.Equal(dayAt(30)) || second.Nights != 10 {
		t.Errorf("the second: %+v", second)
	}
	for range 10 {
		s.night(seconds(100))
	}
	got = s.judge(t).Setbacks()
	if len(got) != 2 || got[1].Open || got[1].Records[0] != want[0] {
		t.Errorf("made good: %+v", got)
	}
}

// TestSetbacksSayWhatTheHistorySays: there is an open one exactly where the history regressed.
func TestSetbacksSayWhatTheHistorySays(t *testing.T) {
	for name, level := range map[string]func(i int) float64{
		"level":   func(int) float64 { return 100 },
		"faster":  func(i int) float64 { return 100 - 20*float64(i/60) },
		"a step":  func(i int) float64 { return 100 + 20*float64(i/60) },
		"a drift": func(i int) float64 { return 100 * math.Pow(1.0015, float64(i)) },
		"too few": func(int) float64 { return 100 },
		"made good": func(i int) float64 {
			if i > 40 && i < 60 {
				return 120
			}
			return 100
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSeason(3, 0.005)
			nights := 120
			if name == "too few" {
				nights = 3
			}
			for i := range nights {
				s.night(seconds(level(i)))
			}
			h := s.judge(t)
			if got := anyOpen(h.Setbacks()); got != (h.Outcome == Regression) {
				t.Errorf("open %v, and the history is %v: %+v", got, h.Outcome, h.Setbacks())
			}
		})
	}
	s := newSeason(3, 0.005)
	for i := range 120 {
		s.night(seconds(100 * math.Pow(1.0015, float64(i))))
	}
	if got := s.judge(t).Setbacks(); len(got) != 1 || len(got[0].Records) != 0 || got[0].Days == 0 || got[0].Change < 0.03 {
		t.Errorf("a drift: %+v", got)
	}
}

// TestTheCommitIsTheBuilds: a workflow may measure builds of another repository than its own.
func TestTheCommitIsTheBuilds(t *testing.T) {
	build := strings.Repeat("a1", 20)
	for version, want := range map[string]string{build: build, "3.0.4": "own", "": "own", build[:12]: "own", strings.ToUpper(build): "own"} {
		rec := &record.Record{Commit: "own", Apps: map[string]record.App{record.Head: {Version: version}}}
		if got := Observe(rec, "").Commit; got != want {
			t.Errorf("version %q: commit %q, want %q", version, got, want)
		}
	}
}
