package report

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
)

// nightsOf makes a history in which time steps up for good, memory steps up and is accepted, and a latency only shakes.
func nightsOf(t *testing.T, n int, scenario string) *gate.History {
	t.Helper()
	var nights []gate.Night
	for i := range n {
		shake := 0.01 * math.Sin(float64(i*i))
		m := map[string]float64{"time": 100 * (1 + shake), "ram": 4e8 * (1 + shake), "latency.visible.p95": 0.02 * (1 - shake), "session.p50": 1 + shake}
		accepted := ""
		if i >= 20 {
			m["ram"] *= 1.15
		}
		if i == 22 {
			accepted = "new \x1b[31mdriver"
		}
		if i >= 40 {
			m["time"] *= 1.12
		}
		rec := &record.Record{
			Created: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC), Commit: fmt.Sprintf("%040x", 1<<40+i), Environment: record.Environment{CPU: "x"},
			Scenarios: []record.Scenario{{Name: scenario, Runs: []record.Run{{Arm: record.Head, Outcome: record.OK, Metrics: m}}}},
		}
		nights = append(nights, gate.Observe(rec, accepted))
	}
	h, err := gate.JudgeHistory(nights, gate.Policy{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func historyText(t *testing.T, h *gate.History, o HistoryOptions) string {
	t.Helper()
	var b strings.Builder
	if err := History(&b, "main", h, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHistoryText(t *testing.T) {
	h := nightsOf(t, 60, "tasks-reactive")
	text := historyText(t, h, HistoryOptions{})
	for _, want := range []string{
		"REGRESSION  time of tasks-reactive", "main  60 records, 2026-01-01 to 2026-03-01", "▁", "█", "OPEN", "accepted: new", "and 2 other metrics, not gated", "2026-02-10  +12.",
		"between 0000000000 and 0000000000",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "latency") || strings.Contains(text, "\x1b") {
		t.Errorf("a quiet metric that is not gated, or an escape of somebody else, is in\n%s", text)
	}
	if all := historyText(t, h, HistoryOptions{All: true}); !strings.Contains(all, "latency.visible.p95") {
		t.Errorf("not all is in\n%s", all)
	}
	if one := historyText(t, h, HistoryOptions{Metrics: []string{"ram"}}); strings.Contains(one, "time  ") || !strings.Contains(one, "ram") {
		t.Errorf("more than was asked for is in\n%s", one)
	}
}

func TestHistoryFits(t *testing.T) {
	for _, width := range []int{0, 60, 80, 120} {
		for _, n := range []int{0, 1, 7, 60, 200} {
			h := nightsOf(t, n, "a-scenario-with-a-very-long-name-that-goes-on-and-on")
			for line := range strings.Lines(historyText(t, h, HistoryOptions{All: true, Options: Options{Width: width, Color: true}})) {
				if got := lipgloss.Width(strings.TrimSuffix(line, "\n")); got > max(width, 80) && width != 60 || width == 60 && got > 60 {
					t.Errorf("%d nights: a line of %d columns in %d: %s", n, got, width, line)
				}
			}
		}
	}
}

func TestSparkline(t *testing.T) {
	points := func(values ...float64) gate.Trend {
		var tr gate.Trend
		for _, v := range values {
			tr.Points = append(tr.Points, gate.Point{Value: v})
		}
		return tr
	}
	for _, tt := range []struct {
		t    gate.Trend
		want string
	}{
		{points(), "-"},
		{points(1, 2), "▁█"},
		{points(100, 100, 100), "▅▅▅"},
		{points(100, 101, 100), "▄▅▄"}, // noise looks like noise
		{points(1, 1, 2, 2, 4, 4), "▁▅█"},
	} {
		if got := sparkline(tt.t, 3); got != tt.want {
			t.Errorf("%d points: got %s, want %s", len(tt.t.Points), got, tt.want)
		}
	}
}
