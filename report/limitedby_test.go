package report

import (
	"testing"

	"github.com/ddpgate/ddpgate/record"
)

func TestLimitedBy(t *testing.T) {
	limited := func(arm string, by ...string) (runs []record.Run) {
		for i, b := range by {
			runs = append(runs, record.Run{Arm: arm, Index: i, LimitedBy: b})
			if b == "host" {
				runs[i].LimitedWhy = "tasks waited for a disk 30 % of the time"
			}
		}
		return runs
	}
	for _, tt := range []struct {
		base, head []record.Run
		want       string
	}{
		{limited("base", "none"), limited("head", "none", "none"), "nothing"},
		{nil, limited("head", "none", "host", "database", "host"), "host in 2 of 4 runs (tasks waited for a disk 30 % of the time), database in 1 of 4 runs"},
		{limited("base", "none"), limited("head", "app"), "base by nothing; head by app in 1 of 1 run"},
		{limited("base", ""), limited("head", ""), ""},
	} {
		rec := &record.Record{Scenarios: []record.Scenario{{Name: "a", Runs: append(tt.base, tt.head...)}}}
		if got := limitedBy(Comparison{Head: rec}); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
