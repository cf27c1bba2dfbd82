package meter

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A board is a machine's files, which a test changes.
type board struct {
	t    *testing.T
	root string
}

func (b board) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// ticks sets what the processors did, in hundredths of a second.
func (b board) ticks(user, idle, steal int) {
	b.write("proc/stat", fmt.Sprintf("cpu  %d 0 0 %d 0 0 0 %d 0 0\nbtime 1\nprocesses 9\nprocs_running 3\nprocs_blocked 0\n", user, idle, steal))
}

func (b board) pressure(resource string, us int) {
	b.write("proc/pressure/"+resource, fmt.Sprintf("some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", us))
}

func (b board) vitals() *vitals {
	return newVitals(Options{Proc: filepath.Join(b.root, "proc"), Sys: filepath.Join(b.root, "sys")})
}

// Over two seconds of two processors: half of one second was stolen, tasks waited a quarter of the time, and a core was too hot twice.
func TestHostOver(t *testing.T) {
	b := board{t, t.TempDir()}
	b.ticks(1000, 1000, 100)
	b.pressure("cpu", 1_000_000)
	b.pressure("memory", 0)
	for i, khz := range []string{"2000000", "3000000"} {
		b.write(fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", i), khz+"\n")
		b.write(fmt.Sprintf("sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count", i), "5\n")
	}
	v := b.vitals()
	first := sample{after(0), reading{host: v.read()}}
	b.ticks(1100, 1050, 150)
	b.pressure("cpu", 1_500_000)
	middle := sample{after(1), reading{host: v.read()}}
	b.ticks(1200, 1150, 150)
	b.write("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "7\n")
	got := hostOver([]sample{first, middle, {after(2), reading{host: v.read()}}})
	want := Host{
		Shares: map[string]float64{"steal": 0.125, "busy": 0.5, "pressure": 0.25, "pressure.memory": 0, "throttles": 2},
		Series: map[string][]float64{
			"steal": {0.25, 0}, "busy": {0.5, 0.5}, "pressure": {0.5, 0}, "pressure.memory": {0, 0}, "throttles": {0, 2},
			"run_queue": {3, 3}, "frequency": {2.5e9, 2.5e9},
		},
	}
	if diff := cmp.Diff(want, got, close6); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a machine does not tell is not there, rather than zero.
func TestVitalsOfAMachineThatTellsNothing(t *testing.T) {
	b := board{t, t.TempDir()}
	b.write("proc/1/stat", "")
	if got := b.vitals().read(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	silent := sample{after(0), reading{}}
	if got := hostOver([]sample{silent, {after(1), reading{}}}); len(got.Shares)+len(got.Series) != 0 {
		t.Errorf("got %+v", got)
	}
}

// This machine tells at least what its processors did.
func TestVitalsOfThisMachine(t *testing.T) {
	m := meter(t, Target{Role: "app", PID: os.Getpid()})
	a := m.Mark()
	newWorker(t).do("burn 100")
	b := m.Mark()
	h := stop(t, m).Between(a, b).Host
	for _, name := range []string{"steal", "busy"} {
		if v, found := h.Shares[name]; !found || v < 0 || v > 1 {
			t.Errorf("%s is %v (%v)", name, v, found)
		}
	}
	if h.Shares["busy"] == 0 {
		t.Error("nothing was busy while a process burned")
	}
}
