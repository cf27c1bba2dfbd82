package runner

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/scenario"
)

func TestCheckTellsEveryFault(t *testing.T) {
	p := Plan{
		Arms:      []Arm{{Name: "base"}},
		Scenarios: []scenario.Scenario{{Name: "a"}, {Name: "a"}},
		Runs:      Runs{Min: 3, Max: 2, Warmup: -1, Cooldown: -1},
	}
	err := p.Check()
	if err == nil {
		t.Fatal("a wrong plan was taken")
	}
	for _, want := range []string{"arms", "a is listed twice", "runs.max", "runs.warmup", "runs.cooldown"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not mention %q", err, want)
		}
	}
	if err := (Plan{}).Check(); err == nil || !strings.Contains(err.Error(), "no scenario") {
		t.Errorf("an empty plan: %v", err)
	}
	good := Plan{Arms: bothArms(), Scenarios: []scenario.Scenario{{Name: "a"}}, Runs: Runs{Min: 1, Max: 1}}
	if err := good.Check(); err != nil {
		t.Errorf("a sound plan: %v", err)
	}
}

func TestOrderIsBalancedAndRepeatable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Plan{Arms: bothArms(), Seed: rapid.Uint64().Draw(t, "seed")}
		place, pair := rapid.IntRange(0, 5).Draw(t, "place"), 2*rapid.IntRange(0, 20).Draw(t, "pairs")
		first := p.order(place, pair)[0].Name
		if again := p.order(place, pair)[0].Name; again != first {
			t.Fatalf("one seed, two orders: %s first, then %s", first, again)
		}
		if next := p.order(place, pair+1)[0].Name; next == first {
			t.Fatalf("%s comes first in both pairs %d and %d", first, pair, pair+1)
		}
	})
	baseFirst := 0
	for seed := range uint64(1000) {
		if (Plan{Arms: bothArms(), Seed: seed}).order(0, 0)[0].Name == record.Base {
			baseFirst++
		}
	}
	if baseFirst < 400 || baseFirst > 600 {
		t.Errorf("base comes first for %d of 1000 seeds: that is no lot", baseFirst)
	}
}

func TestEstimate(t *testing.T) {
	two := []scenario.Scenario{load60("a"), load60("b")}
	each := 62500 * time.Millisecond
	for _, tt := range []struct {
		name        string
		arms        []Arm
		runs        Runs
		least, most time.Duration
		fit         int
	}{
		{"one arm", headOnly(), Runs{Min: 5, Max: 5}, 10 * each, 10 * each, 5},
		{"with more if need be", headOnly(), Runs{Min: 5, Max: 15}, 10 * each, 30 * each, 15},
		{"both arms, warm-up, cooldown", bothArms(), Runs{Min: 2, Max: 2, Warmup: 1, Cooldown: 2 * time.Second}, 10 * (each + 2*time.Second), 10 * (each + 2*time.Second), 2},
		{"a budget for three", headOnly(), Runs{Min: 5, Max: 15, Budget: 7 * each}, 6 * each, 6 * each, 3},
		{"a budget to spare", headOnly(), Runs{Min: 2, Max: 3, Budget: time.Hour}, 4 * each, 6 * each, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := Plan{Arms: tt.arms, Scenarios: two, Runs: tt.runs}.Estimate()
			if err != nil {
				t.Fatal(err)
			}
			if e.Least != tt.least || e.Most != tt.most || e.Fit != tt.fit {
				t.Errorf("got %+v, want least %v, most %v, fit %d", e, tt.least, tt.most, tt.fit)
			}
		})
	}
	_, err := Plan{Arms: headOnly(), Scenarios: two, Runs: Runs{Min: 1, Max: 1, Budget: 90 * time.Second}}.Estimate()
	if err == nil || !strings.Contains(err.Error(), "2m5s") {
		t.Errorf("a budget of less than a run of each: %v, want what it takes", err)
	}
}
