package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ddpgate/ddpgate/record"
)

// More regions than fit side by side have tables of their own. A run that is not in order says nothing.
func TestManyRegions(t *testing.T) {
	ok := record.Run{Outcome: record.OK, Regions: map[string]map[string]float64{}}
	for _, region := range []string{"e", "d", "c", "b", "a"} {
		ok.Regions[region] = map[string]float64{"session.p50": 0.001, "session.p99": 1, "session.wait.p50": 1, "time": 1, "latency.x.p95": 0.002}
	}
	odd := record.Run{Outcome: record.Invalid, Regions: map[string]map[string]float64{"a": {"session.p50": 9}}}
	var got []string
	for _, r := range regionals(arm{record.Head, []record.Run{ok, odd}}) {
		got = append(got, strings.Join(r.headers, " "))
		for _, row := range r.rows {
			got = append(got, strings.Join(row, " "))
		}
	}
	want := []string{
		"latency a b c runs", "session.p50 1.00 ms 1.00 ms 1.00 ms 1", "latency.x.p95 2.00 ms 2.00 ms 2.00 ms 1",
		"latency d e runs", "session.p50 1.00 ms 1.00 ms 1", "latency.x.p95 2.00 ms 2.00 ms 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDriversSaid(t *testing.T) {
	by := func(workers int) *record.Record {
		run := record.Run{Arm: record.Head}
		for i := range workers {
			run.Shards = append(run.Shards, record.Shard{Shard: i})
		}
		return &record.Record{Scenarios: []record.Scenario{{Runs: []record.Run{run}}}}
	}
	for _, tt := range []struct {
		base, head int
		want       string
	}{
		{0, 0, ""},
		{4, 4, "4 workers on this machine"},
		{0, 4, "base by one process on this machine; head by 4 workers on this machine"},
	} {
		if got := drivers(Comparison{Base: by(tt.base), Head: by(tt.head)}.sides()); got != tt.want {
			t.Errorf("%d and %d workers: got %q, want %q", tt.base, tt.head, got, tt.want)
		}
	}
}
