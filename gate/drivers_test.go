package gate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ddpgate/ddpgate/record"
)

func TestMatchDrivers(t *testing.T) {
	here, four := record.Drivers{}, record.Drivers{Workers: 4}
	fifty, sixty := record.Drivers{Workers: 50, Regions: []string{"eu-central-1"}}, record.Drivers{Workers: 60, Regions: []string{"eu-central-1"}}
	both := record.Drivers{Workers: 50, Regions: []string{"eu-central-1", "us-east-1"}}
	for _, tt := range []struct {
		base, head record.Drivers
		was, want  Match
		differs    string
	}{
		{here, here, Identical, Identical, ""},
		{four, four, Identical, Identical, ""},
		{fifty, record.Drivers{Workers: 50, Regions: []string{"eu-central-1"}, Duplicates: 2}, Identical, Identical, ""},
		{here, four, Identical, Compatible, "drivers: one process on this machine in base, 4 workers on this machine in head"},
		{fifty, sixty, Identical, Compatible, "50 workers in eu-central-1 in base"},
		{fifty, sixty, Mismatched, Mismatched, "60 workers"},
		{here, fifty, Identical, Mismatched, "50 workers in eu-central-1 in head"},
		{here, fifty, Compatible, Mismatched, "50 workers"},
		{fifty, both, Identical, Mismatched, "in 2 regions"},
		{here, fifty, Unknown, Unknown, "50 workers"},
	} {
		e := Environment{Match: tt.was}
		e.matchDrivers(tt.base, tt.head)
		all := strings.Join(e.Differs, "; ")
		if e.Match != tt.want || (all == "") != (tt.differs == "") || !strings.Contains(all, tt.differs) {
			t.Errorf("%v and %v, %s before: %s, %q, want %s, %q", tt.base, tt.head, tt.was, e.Match, all, tt.want, tt.differs)
		}
	}
}

// shared has a record's runs be driven by so many workers in a region.
func shared(r *record.Record, workers int, region string) *record.Record {
	for i := range r.Scenarios {
		for n := range r.Scenarios[i].Runs {
			run := &r.Scenarios[i].Runs[n]
			for k := range workers {
				run.Shards = append(run.Shards, record.Shard{Shard: k, Region: region})
			}
		}
	}
	return r
}

// A build is not to blame for what its driver's place does: from another place it is not held against the baseline as if nothing were.
func TestOtherDrivers(t *testing.T) {
	fresh := func() *record.Record {
		r := &record.Record{Format: record.Format, Environment: record.Environment{Machine: "m", CPU: "c", Cores: 2},
			Apps: map[string]record.App{record.Head: {}}, Scenarios: []record.Scenario{{Name: "a", Identity: "1"}}}
		for i := range 6 {
			r.Scenarios[0].Runs = append(r.Scenarios[0].Runs, record.Run{Arm: record.Head, Index: i, Pair: i, Outcome: record.OK,
				Sessions: record.Sessions{Planned: 100, Started: 100, OK: 100}, Metrics: map[string]float64{"time": 20 + 0.01*float64(i%3), "ok": 1}})
		}
		return r
	}
	v, err := Judge(fresh(), shared(fresh(), 3, "eu-central-1"), Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if v.Environment.Match != Mismatched || v.Design != OtherMachines || v.Outcome != Inconclusive {
		t.Errorf("got %v, %v, %v for %s", v.Environment, v.Design, v.Outcome, v.Reason)
	}
	want := map[string]record.Drivers{record.Head: {Workers: 3, Regions: []string{"eu-central-1"}}}
	if diff := cmp.Diff(want, v.Environment.Drivers); diff != "" {
		t.Errorf("drivers (-want +got):\n%s", diff)
	}
	v, err = Judge(shared(fresh(), 4, ""), shared(fresh(), 4, ""), Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if v.Environment.Match != Identical || v.Outcome != Pass {
		t.Errorf("alike: got %v, %v for %s", v.Environment, v.Outcome, v.Reason)
	}
}
