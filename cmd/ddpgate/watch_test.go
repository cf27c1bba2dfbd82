package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/github"
)

// steps are nights whose processor time grows by 8 % at the 10th, and by 30 % at the 20th, or later than that, and the 32nd.
func steps(n, later int) []gate.Night {
	var all []gate.Night
	for i := range n {
		worse := 1 + 0.003*float64(i%3)
		for at, by := range map[int]float64{10: 1.08, 20 + later: 1.3, 32: 1.3} {
			if i >= at {
				worse *= by
			}
		}
		rec := pairs(worse)
		rec.ID, rec.Created = fmt.Sprintf("sha256:%064d", i), rec.Created.AddDate(0, 0, i)
		all = append(all, gate.Observe(rec, ""))
	}
	return all
}

// TestASetbackIsKnownAgain though others are no longer seen, or it is placed on another night; one that came up is not taken for it.
func TestASetbackIsKnownAgain(t *testing.T) {
	edit := func(nights []gate.Night, p gate.Policy, issue github.Issue) github.Edit {
		t.Helper()
		h, err := gate.JudgeHistory(nights, p, historySeed)
		if err != nil {
			t.Fatal(err)
		}
		return watch{history: h, key: "nightly"}.edit(issue)
	}
	lenient := gate.Policy{Thresholds: map[string]gate.Percent{"cpu_seconds": 0.12}}
	for name, tc := range map[string]struct {
		nights []gate.Night
		policy gate.Policy
		fresh  int // setbacks that were not told before
		gone   bool
	}{
		"nothing new":                    {steps(29, 0), gate.Policy{}, 0, false},
		"the first is below the limit":   {steps(29, 0), lenient, 0, true},
		"it is placed a night later":     {steps(29, 1), gate.Policy{}, 0, false},
		"it is placed a night before":    {steps(29, -1), gate.Policy{}, 0, false},
		"it is placed three nights on":   {steps(29, 3), gate.Policy{}, 0, false},
		"both of that":                   {steps(29, 2), lenient, 0, true},
		"another step":                   {steps(38, 0), gate.Policy{}, 1, false},
		"another, and one below":         {steps(38, 0), lenient, 1, true},
		"the step is on a distant night": {steps(30, 5), gate.Policy{}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			first := edit(steps(28, 0), gate.Policy{}, github.Issue{})
			if !first.New || strings.Count(first.State, stateSep) != 2 {
				t.Fatalf("got %+v, want two setbacks", first)
			}
			closed := edit(tc.nights, tc.policy, github.Issue{Number: 1, State: first.State})
			if closed.New != (tc.fresh > 0) {
				t.Errorf("closed by hand: a new one %v, want %v", closed.New, tc.fresh > 0)
			}
			open := edit(tc.nights, tc.policy, github.Issue{Number: 1, Open: true, State: first.State})
			if got := strings.Contains(open.Comment, "Worse since"); got != (tc.fresh > 0) || strings.Count(open.Comment, "- **cpu") != tc.fresh {
				t.Errorf("told, want %d new:\n%s", tc.fresh, open.Comment)
			}
			if got := strings.Contains(open.Comment, "No longer seen"); got != tc.gone {
				t.Errorf("gone %v, want %v:\n%s", got, tc.gone, open.Comment)
			}
			if again := edit(tc.nights, tc.policy, github.Issue{Number: 1, Open: true, State: open.State}); again.Comment != "" || again.State != open.State {
				t.Errorf("told twice: %+v", again)
			}
		})
	}
}
