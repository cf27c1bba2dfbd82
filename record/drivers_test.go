package record

import "testing"

func TestDrivers(t *testing.T) {
	shards := func(regions ...string) []Shard {
		var all []Shard
		for i, region := range regions {
			all = append(all, Shard{Shard: i, Region: region, Duplicates: i})
		}
		return all
	}
	for _, tt := range []struct {
		runs  []Run
		want  string
		twice int
	}{
		{nil, "one process on this machine", 0},
		{[]Run{{Arm: Head}}, "one process on this machine", 0},
		{[]Run{{Arm: Base, Shards: shards("", "")}, {Arm: Head}}, "one process on this machine", 0},
		{[]Run{{Arm: Head, Shards: shards("")}}, "1 worker on this machine", 0},
		{[]Run{{Arm: Head}, {Arm: Head, Shards: shards("", "", "")}}, "3 workers on this machine", 3},
		{[]Run{{Arm: Head, Shards: shards("eu-central-1", "eu-central-1")}}, "2 workers in eu-central-1", 1},
		{[]Run{{Arm: Head, Shards: shards("us-east-1", "eu-central-1")}, {Arm: Head, Shards: shards("us-east-1", "eu-central-1")}},
			"2 workers in 2 regions (eu-central-1, us-east-1)", 2},
	} {
		r := &Record{Scenarios: []Scenario{{Runs: tt.runs}}}
		if got := r.Drivers(Head); got.String() != tt.want || got.Duplicates != tt.twice {
			t.Errorf("got %v with %d duplicates, want %s with %d", got, got.Duplicates, tt.want, tt.twice)
		}
	}
}
