package meter

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func after(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

// at is a sample of one role; with a negative memory it has no process.
func at(t, used, ram float64) sample {
	return sample{after(t), reading{used: []float64{0, used}, ram: []float64{0, max(0, ram)}, alive: []bool{false, ram >= 0}}}
}

func usageOf(samples ...sample) Usage {
	return newUsage([]string{none: "", 1: "app"}, samples, 500*time.Millisecond)
}

func TestBetween(t *testing.T) {
	// One core for a second, then half of one; memory grows, and falls when the load is over.
	steady := usageOf(at(0, 0, 100), at(0.5, 0.5, 200), at(1, 1, 300), at(1.5, 1.25, 300), at(2, 1.5, 100))
	tests := []struct {
		name string
		u    Usage
		a, b float64
		t    []float64
		want Role
	}{
		{
			name: "whole", u: steady, a: 0, b: 2, t: []float64{0.5, 1, 1.5, 2},
			want: Role{
				CPUSeconds: 1.5, RAMMean: (75 + 125 + 150 + 100) / 2.0, RAMPeak: 300,
				CPU: []float64{1, 1, 0.5, 0.5}, RAM: []float64{200, 300, 300, 100},
			},
		},
		{
			name: "beyond what was metered", u: steady, a: -5, b: 9, t: []float64{0.5, 1, 1.5, 2},
			want: Role{
				CPUSeconds: 1.5, RAMMean: 225, RAMPeak: 300,
				CPU: []float64{1, 1, 0.5, 0.5}, RAM: []float64{200, 300, 300, 100},
			},
		},
		{
			name: "between samples", u: steady, a: 0.25, b: 1.25, t: []float64{0.25, 0.75, 1},
			want: Role{
				CPUSeconds: 0.25 + 0.5 + 0.125, RAMMean: 0.25*175 + 0.5*250 + 0.25*300, RAMPeak: 300,
				CPU: []float64{1, 1, 0.5}, RAM: []float64{200, 300, 300},
			},
		},
		{
			name: "within an interval", u: steady, a: 0.1, b: 0.2, t: []float64{0.1},
			want: Role{CPUSeconds: 0.1, RAMMean: 130, RAMPeak: 140, CPU: []float64{1}, RAM: []float64{140}},
		},
		{
			name: "samples too near to each other make no rate", a: 0, b: 1.01, t: []float64{0.5, 1.01},
			u:    usageOf(at(0, 0, 1), at(0.001, 0.01, 1), at(0.5, 0.1, 1), at(0.501, 0.11, 1), at(1, 0.5, 9), at(1.01, 0.51, 1)),
			want: Role{CPUSeconds: 0.51, RAMMean: (0.501 + 0.499*5 + 0.01*5) / 1.01, RAMPeak: 9, CPU: []float64{0.2, 0.41 / 0.51}, RAM: []float64{1, 1}},
		},
		{
			name: "a role that comes late and ends early", a: 0, b: 2, t: []float64{0.5, 1, 1.5, 2},
			u: usageOf(at(0, 0, -1), at(0.5, 0, 100), at(1, 0.2, 200), at(1.5, 0.3, -1), at(2, 0.3, -1)),
			want: Role{
				CPUSeconds: 0.3, RAMMean: 150, RAMPeak: 200, Ended: true,
				CPU: []float64{0, 0.4, 0.2, 0}, RAM: []float64{100, 200, 0, 0},
			},
		},
		{
			name: "a role of one sample", a: 0, b: 1, t: []float64{0.5, 1},
			u:    usageOf(at(0, 0, -1), at(0.5, 0.1, 100), at(1, 0.1, -1)),
			want: Role{CPUSeconds: 0.1, RAMMean: 100, RAMPeak: 100, Ended: true, CPU: []float64{0.2, 0}, RAM: []float64{100, 0}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.u.Between(after(tt.a), after(tt.b))
			if diff := cmp.Diff(tt.want, got.Roles["app"], cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("role (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.t, got.T, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("times (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBetweenWithoutAnything(t *testing.T) {
	u := usageOf(at(0, 0, -1), at(1, 0, -1))
	for name, got := range map[string]Usage{
		"no process":   u.Between(after(0), after(1)),
		"no time":      u.Between(after(1), after(1)),
		"backwards":    u.Between(after(1), after(0)),
		"no samples":   Usage{}.Between(after(0), after(1)),
		"only outside": u.Between(after(2), after(3)),
	} {
		if len(got.Roles) != 0 {
			t.Errorf("%s: got %+v, want no roles", name, got.Roles)
		}
	}
}

// Parts add up to the whole, wherever it is cut.
func TestBetweenAddsUp(t *testing.T) {
	u := usageOf(at(0, 0, 1), at(0.5, 0.5, 2), at(1.1, 0.6, 7), at(1.5, 2, 3))
	for cut := 0.05; cut < 1.5; cut += 0.05 {
		a, b := u.Between(after(0), after(cut)).Roles["app"], u.Between(after(cut), after(1.5)).Roles["app"]
		if diff := cmp.Diff(2.0, a.CPUSeconds+b.CPUSeconds, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("cut at %v (-want +got): %s", cut, diff)
		}
	}
}

func TestRAMAt(t *testing.T) {
	u := usageOf(at(0, 0, 100), at(1, 0, 200), at(2, 0, -1))
	for _, tt := range []struct {
		t    float64
		want map[string]float64
	}{
		{-1, map[string]float64{"app": 100}},
		{0.4, map[string]float64{"app": 100}},
		{0.6, map[string]float64{"app": 200}},
		{1.9, map[string]float64{}},
	} {
		if diff := cmp.Diff(tt.want, u.RAMAt(after(tt.t))); diff != "" {
			t.Errorf("at %v (-want +got):\n%s", tt.t, diff)
		}
	}
	if got := (Usage{}).RAMAt(epoch); len(got) != 0 {
		t.Errorf("got %v of nothing", got)
	}
}
