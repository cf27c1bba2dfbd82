package runner

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/record"
)

// Of a load that several drove, neither the lead before it nor the collecting after it counts.
func TestNarrow(t *testing.T) {
	begun := time.Unix(1_800_000_000, 0)
	at := func(s float64) time.Time { return begun.Add(time.Duration(s * float64(time.Second))) }
	one := []drive.Source{{}}
	for _, tt := range []struct {
		name         string
		part         *drive.Part
		begun, ended float64 // s
	}{
		{"nothing was driven", nil, 0, 30},
		{"driven here", &drive.Part{Start: at(2), Time: 20}, 0, 30},
		{"driven elsewhere", &drive.Part{Start: at(5), Time: 20, Sources: one}, 5, 25},
		{"as long as we waited", &drive.Part{Start: at(5), Time: 40, Sources: one}, 5, 30},
		{"nothing came back", &drive.Part{Start: at(5), Sources: one}, 5, 30},
		{"stopped before the start", &drive.Part{Start: at(35), Sources: one}, 0, 30},
	} {
		s := seen{part: tt.part, begun: begun, ended: at(30)}
		s.narrow()
		if got, want := [2]time.Time{s.begun, s.ended}, [2]time.Time{at(tt.begun), at(tt.ended)}; got != want {
			t.Errorf("%s: the load was from %v to %v, want %v s to %v s", tt.name, got[0].Sub(begun), got[1].Sub(begun), tt.begun, tt.ended)
		}
	}
}

func TestCollected(t *testing.T) {
	p := part(0)
	p.Start = time.Unix(1_800_000_000, 0)
	p.Sources = []drive.Source{{Share: drive.Share{Of: 2}, Region: "eu-central-1"}, {Share: drive.Share{Index: 1, Of: 2}, Region: "eu-central-1"}}
	run, err := Collected(load20, p, "nobody metered it")
	if err != nil {
		t.Fatal(err)
	}
	if run.Outcome != record.OK || run.Metrics["time"] != 20 || len(run.Shards) != 2 || !run.Started.Equal(p.Start) {
		t.Errorf("%s for %q, %v, %+v", run.Outcome, run.Reasons, run.Metrics, run.Shards)
	}
	for _, name := range []string{"cpu_seconds", "cpu", "ram", "ram_peak", "ram_settled"} {
		if _, found := run.Metrics[name]; found || run.Missing[name] != "nobody metered it" {
			t.Errorf("%s is %v; missing: %q", name, run.Metrics[name], run.Missing[name])
		}
	}
	p = part(0)
	p.Faults = []string{"worker 2 of 2: it gave no answer in time"}
	if run, err = Collected(load20, p, "nobody metered it"); err != nil || run.Outcome != record.Invalid {
		t.Errorf("with a worker missing: %s, %v", run.Outcome, err)
	}
	lost := Lost(time.Unix(1_800_000_000, 0), errors.New("the parts are lost"))
	if lost.Outcome != record.Invalid || strings.Join(lost.Reasons, "\n") != "the parts are lost" || cmp.Diff(lost.Sessions, record.Sessions{}) != "" {
		t.Errorf("got %+v", lost)
	}
}
