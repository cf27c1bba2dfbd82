package runner

import (
	"runtime"
	"strings"
	"testing"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/meter"
	"github.com/ddpgate/ddpgate/record"
)

// loaded is ten seconds in which the app used a core, its database less, and the machine nothing out of the ordinary.
func loaded() meter.Usage {
	return meter.Usage{
		Seconds: 10,
		Roles:   map[string]meter.Role{"app": {CPUSeconds: 10}, "db": {CPUSeconds: 5}, "tool": {CPUSeconds: 30}},
		Host: meter.Host{Shares: map[string]float64{
			"steal": 0.01, "busy": 50 / (10 * float64(runtime.NumCPU())), "pressure": 0.5, "pressure.memory": 0.01, "pressure.io": 0.01,
		}},
	}
}

// The first of the things that limit a run is what is told, in a fixed order.
func TestWhatLimitsARun(t *testing.T) {
	database := func(_ *record.Run, u meter.Usage, _ *seen) { u.Roles["db"] = meter.Role{CPUSeconds: 12} }
	loop := func(_ *record.Run, _ meter.Usage, s *seen) { s.loop = 0.97 }
	share := func(name string, value float64) func(*record.Run, meter.Usage, *seen) {
		return func(_ *record.Run, u meter.Usage, _ *seen) { u.Host.Shares[name] = value }
	}
	others := func(_ *record.Run, u meter.Usage, _ *seen) {
		u.Host.Shares["busy"] = 57/(10*float64(runtime.NumCPU())) + 0.2 // 57 are ours, with a busy database
	}
	found := func(by string) func(*record.Run, meter.Usage, *seen) {
		return func(r *record.Run, _ meter.Usage, _ *seen) { r.LimitedBy = by }
	}
	for _, tt := range []struct {
		name    string
		changes []func(*record.Run, meter.Usage, *seen)
		by, why string
		outcome record.Outcome
	}{
		{"nothing", nil, "none", "", record.OK},
		{"the loop", []func(*record.Run, meter.Usage, *seen){loop}, "event loop", "97 %", record.OK},
		{"the database before the loop", []func(*record.Run, meter.Usage, *seen){loop, database}, "database", "db used 1.20 cores, the app 1.00", record.OK},
		{"a full machine of others before the database", []func(*record.Run, meter.Usage, *seen){loop, database, others}, "host", "20 %", record.OK},
		{"memory", []func(*record.Run, meter.Usage, *seen){share("pressure.memory", 0.2), database}, "host", "memory", record.OK},
		{"disks", []func(*record.Run, meter.Usage, *seen){share("pressure.io", 0.3), database}, "host", "disk", record.OK},
		{"steal makes it invalid", []func(*record.Run, meter.Usage, *seen){share("steal", 0.03)}, "host", "3.0 %", record.Invalid},
		{"the driver before the machine", []func(*record.Run, meter.Usage, *seen){others, found("driver")}, "driver", "", record.OK},
		{"the app's end before all", []func(*record.Run, meter.Usage, *seen){others, database, found("app")}, "app", "", record.OK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := record.Run{Outcome: record.OK, LimitedBy: limitedByNone}
			s, load := new(seen), loaded()
			for _, change := range tt.changes {
				change(&run, load, s)
			}
			s.part = &drive.Part{Self: drive.Self{CPU: 5}}
			s.limit(&run, load)
			if run.LimitedBy != tt.by || !strings.Contains(run.LimitedWhy, tt.why) || (run.LimitedWhy == "") != (tt.why == "") {
				t.Errorf("limited by %s: %q; want %s: %q", run.LimitedBy, run.LimitedWhy, tt.by, tt.why)
			}
			if run.Outcome != tt.outcome || (run.Outcome == record.Invalid) != (len(run.Reasons) > 0) {
				t.Errorf("got %s for %q, want %s", run.Outcome, run.Reasons, tt.outcome)
			}
		})
	}
}

// Of a run in which the app died, no machine makes one that says nothing of the app.
func TestStealDoesNotHideACrash(t *testing.T) {
	run := record.Run{Outcome: record.Failed, Died: true, LimitedBy: limitedByApp}
	load := loaded()
	load.Host.Shares["steal"] = 0.5
	new(seen).limit(&run, load)
	if run.Outcome != record.Failed {
		t.Errorf("got %s for %q", run.Outcome, run.Reasons)
	}
}

func TestKilledForMemory(t *testing.T) {
	s := quiet(part(0))
	s.exit, s.stopped = &app.Exit{Role: "app", Code: -1, Signal: "SIGKILL"}, errDied
	s.usage.Roles = map[string]meter.Role{"app": {More: map[string]float64{"oom_kills": 1}}}
	if all := strings.Join(fold(t, s).Reasons, "\n"); !strings.Contains(all, "SIGKILL") || !strings.Contains(all, "want of memory") {
		t.Errorf("got %q", all)
	}
}
