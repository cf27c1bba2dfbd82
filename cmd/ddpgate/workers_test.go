package main

import (
	"strings"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/fleet"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/runner"
	"github.com/ddpgate/ddpgate/scenario"
)

func TestNearby(t *testing.T) {
	for _, tt := range []struct {
		url         string
		unreachable bool
		said        string // is in why
	}{
		{"http://127.0.0.1:3000", true, "this machine's own"},
		{"http://127.9.9.9", true, "this machine's own"},
		{"http://[::1]:3000", true, "this machine's own"},
		{"http://0.0.0.0:3000", true, "this machine's own"},
		{"http://localhost:3000", true, "this machine's own"},
		{"http://app.localhost", true, "this machine's own"},
		{"http://169.254.1.1", true, "own network"},
		{"http://10.0.0.7", false, "private"},
		{"http://192.168.1.2:80", false, "private"},
		{"http://[fd00::1]", false, "private"},
		{"https://staging.example.com", false, ""},
		{"https://localhost.example.com", false, ""},
		{"http://192.0.2.1", false, ""},
	} {
		got := nearby(tt.url)
		if got.unreachable != tt.unreachable || (got.why == "") != (tt.said == "") || !strings.Contains(got.why, tt.said) {
			t.Errorf("%s: got %+v, want unreachable %v for %q", tt.url, got, tt.unreachable, tt.said)
		}
	}
}

// A load is paid for in each run of each arm, warm-up included; once a pair where both arms are driven at once.
func TestBill(t *testing.T) {
	sc := scenario.Scenario{Name: "a", Arrivals: scenario.Arrivals{Rate: 10, For: 10 * time.Second}, Timeout: 30 * time.Second}
	other := sc
	other.Name = "b"
	away := app.Config{URL: "https://staging.example.com"}
	m := &measurement{
		fleet: &fleet.Fleet{Places: []fleet.Place{&fleet.Function{Name: "w"}}, Count: 4},
		plan: runner.Plan{
			Arms:      []runner.Arm{{Name: record.Base, App: away}, {Name: record.Head, App: away}},
			Scenarios: []scenario.Scenario{sc, other}, Runs: runner.Runs{Min: 5, Max: 15, Warmup: 1},
		},
		estimate: runner.Estimate{Fit: 12},
		judge:    judge{pairs: true},
	}
	one, err := m.fleet.Plan(sc, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		together    bool
		least, most int
	}{{false, 22, 50}, {true, 11, 25}} {
		m.plan.Together = tt.together
		least, most, err := m.bill()
		if err != nil {
			t.Fatal(err)
		}
		if least.loads != tt.least || most.loads != tt.most {
			t.Errorf("together %v: %v and %v, want %d and %d loads", tt.together, least, most, tt.least, tt.most)
		}
		if want := float64(tt.least) * one.Cost; !(one.Cost > 0) || least.cost < 0.999*want || least.cost > 1.001*want {
			t.Errorf("together %v: costs $%v, want $%v", tt.together, least.cost, want)
		}
	}
}
