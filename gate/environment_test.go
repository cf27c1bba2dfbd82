package gate

import (
	"strings"
	"testing"

	"github.com/ddpgate/ddpgate/record"
)

func TestMatchFieldByField(t *testing.T) {
	base := record.Environment{Machine: "m", CPU: "c", Cores: 2, Memory: 1, OS: "linux", Arch: "amd64", Kernel: "6", Quota: 1.5,
		Governor: "performance", Platform: "kvm", Image: "ubuntu24", Clock: "tsc", Node: "20.1.0", MongoDB: "7.0"}
	for name, tt := range map[string]struct {
		change func(*record.Environment)
		want   Match
	}{
		"":          {func(*record.Environment) {}, Identical},
		"quota":     {func(e *record.Environment) { e.Quota = 0 }, Mismatched},
		"governor":  {func(e *record.Environment) { e.Governor = "powersave" }, Mismatched},
		"platform":  {func(e *record.Environment) { e.Platform = "xen" }, Compatible},
		"image":     {func(e *record.Environment) { e.Image = "ubuntu22" }, Compatible},
		"container": {func(e *record.Environment) { e.Container = "docker" }, Compatible},
		"clock":     {func(e *record.Environment) { e.Clock = "hpet" }, Compatible},
		"node":      {func(e *record.Environment) { e.Node = "22.1.0" }, Compatible},
		"mongodb":   {func(e *record.Environment) { e.MongoDB = "6.0" }, Compatible},
		"kernel":    {func(e *record.Environment) { e.Kernel = "5" }, Compatible},
		"cpus":      {func(e *record.Environment) { e.CPUs = record.CPUs{App: []int{0}, Driver: []int{1}} }, Mismatched},
		"cores":     {func(e *record.Environment) { e.Cores = 4 }, Mismatched},
	} {
		head := base
		tt.change(&head)
		got := match(base, head)
		if got.Match != tt.want {
			t.Errorf("%s: got %v, want %v", name, got.Match, tt.want)
		}
		if all := strings.Join(got.Differs, "; "); !strings.HasPrefix(all, name) || (all == "") != (name == "") || len(got.Differs) > 1 {
			t.Errorf("%s: differs in %q", name, all)
		}
	}
	silent := base
	silent.Governor, silent.Platform, silent.Node = "", "", ""
	if got := match(base, silent); got.Match != Identical {
		t.Errorf("what one record does not say is taken for a difference: %q", got.Differs)
	}
}

func TestUnsteady(t *testing.T) {
	loads := func(version string, seconds ...float64) record.Environment {
		return record.Environment{CalibrationLoad: version, Calibration: seconds}
	}
	timer := func(late float64) record.Environment { return record.Environment{Timer: late} }
	for _, tt := range []struct {
		name       string
		base, head record.Environment
		want       string
	}{
		{"nothing known", record.Environment{}, record.Environment{}, ""},
		{"one speed", loads("1", 1, 1.02), loads("1", 1.05, 1.04), ""},
		{"another speed", loads("1", 1, 1.02), loads("1", 1.3, 1.32), "calibration load"},
		{"speeds that vary within a record", loads("1", 1, 1.4), loads("1", 1.3, 1.32), ""},
		{"another load", loads("1", 1, 1), loads("2", 2, 2), ""},
		{"quiet and quiet", timer(0.0001), timer(0.0009), ""},
		{"quiet and noisy", timer(0.0001), timer(0.004), "timers"},
		{"noisy and noisy", timer(0.004), timer(0.007), ""},
	} {
		if got := unsteady(tt.base, tt.head, agreement); !strings.Contains(got.why, tt.want) || (got.why == "") != (tt.want == "") || (got.explains > 0) != (tt.want != "") {
			t.Errorf("%s: got %+v, want %q", tt.name, got, tt.want)
		}
	}
}
