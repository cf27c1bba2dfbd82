package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// levels returns a series of normal noise around levels, each for so many values.
func levels(seed uint64, noise float64, each int, at ...float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	var values []float64
	for _, level := range at {
		for range each {
			values = append(values, level+noise*rng.NormFloat64())
		}
	}
	return values
}

func places(breaks []Break) []int {
	found := []int{}
	for _, b := range breaks {
		found = append(found, b.At)
	}
	return found
}

// rules are the ways to find breaks.
var rules = map[string]func([]float64) []Break{
	"energy":  func(v []float64) []Break { return Breaks(v, 1) },
	"medians": MedianBreaks,
	"window":  func(v []float64) []Break { return WindowBreaks(v, 8, 0.001) },
	"steps":   func(v []float64) []Break { return Steps(v, 1) },
}

func TestClearSteps(t *testing.T) {
	for name, rule := range rules {
		for _, tt := range []struct {
			at   []float64
			want []int
		}{
			{[]float64{5}, []int{}},
			{[]float64{5, 7}, []int{20}},
			{[]float64{5, 7, 5, 3}, []int{20, 40, 60}},
		} {
			if name == "medians" && len(tt.at) > 2 {
				continue // medians of several levels misplace the first split, which is one reason why they only confirm
			}
			if got := places(rule(levels(3, 0.1, 20, tt.at...))); !slices.Equal(got, tt.want) {
				t.Errorf("%s, levels %v: got breaks at %v, want %v", name, tt.at, got, tt.want)
			}
		}
	}
}

func TestTooLittleForABreak(t *testing.T) {
	for name, rule := range rules {
		for n := range 5 {
			if got := rule(make([]float64, n)); len(got) != 0 {
				t.Errorf("%s: got %v in %d values", name, got, n)
			}
		}
		if got := rule(make([]float64, 50)); len(got) != 0 {
			t.Errorf("%s: got %v in 50 equal values", name, got)
		}
	}
}

func TestConstantThenAnother(t *testing.T) {
	v := append(slices.Repeat([]float64{2}, 20), slices.Repeat([]float64{3}, 10)...)
	if got := places(Steps(v, 1)); !slices.Equal(got, []int{20}) {
		t.Errorf("got %v", got)
	}
}

// TestEnergy holds the fast sums to the definition.
func TestEnergy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(-100, 100), 5, 30).Draw(t, "values")
		at, got := newEnergy(v).first()
		best := 0.0
		for i := 2; i <= len(v)-2; i++ {
			best = max(best, energyOf(v[:i], v[i:]))
		}
		if math.Abs(got-best) > 1e-6*max(1, best) {
			t.Fatalf("got %v at %d, want %v", got, at, best)
		}
	})
}

// energyOf is the statistic as Matteson and James define it, with means over all pairs.
func energyOf(a, b []float64) float64 {
	apart := func(x, y []float64) float64 {
		sum := 0.0
		for _, p := range x {
			for _, q := range y {
				sum += math.Abs(p - q)
			}
		}
		return sum / float64(len(x)*len(y))
	}
	n, m := float64(len(a)), float64(len(b))
	return n * m / (n + m) * (2*apart(a, b) - apart(a, a) - apart(b, b))
}

func TestStepsFollowScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := levels(rapid.Uint64Range(0, 50).Draw(t, "seed"), 1, 20, 0, 2, 1)
		factor, shift := rapid.SampledFrom([]float64{0.25, 2, 1024}).Draw(t, "factor"), rapid.SampledFrom([]float64{0, -4, 64}).Draw(t, "shift")
		moved := make([]float64, len(v))
		for i := range v {
			moved[i] = shift + factor*v[i]
		}
		before := slices.Clone(v)
		if a, b := places(Steps(v, 1)), places(Steps(moved, 1)); !slices.Equal(a, b) {
			t.Fatalf("breaks at %v, and at %v in other units", a, b)
		}
		if !slices.Equal(v, before) {
			t.Fatal("the argument was changed")
		}
		if a, b := Steps(v, 9), Steps(v, 9); !slices.Equal(a, b) {
			t.Fatalf("one seed, two answers: %v and %v", a, b)
		}
	})
}

// TestLongSeries looks for steps where stretches begin and end, and for the same steps once the series has grown.
func TestLongSeries(t *testing.T) {
	v := levels(5, 0.2, 128, 0, 1, 2, 1, 0, 1, 0)
	want := []int{128, 256, 384, 512, 640, 768}
	if got := places(Steps(v, 1)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := places(Steps(v[:700], 1)); !slices.Equal(got, want[:5]) {
		t.Errorf("shorter: got %v, want %v", got, want[:5])
	}
}

func TestNoise(t *testing.T) {
	v := levels(6, 2, 100, 0, 50, 20, 70)
	v[10], v[200] = 900, -900
	if got := Noise(v); got < 1.7 || got > 2.3 {
		t.Errorf("got %v, want about 2, whatever steps and spikes there are", got)
	}
	if got := Noise([]float64{1, 2}); got != 0 {
		t.Errorf("two values: got %v", got)
	}
}

func TestSpikes(t *testing.T) {
	v := levels(8, 1, 30, 0)
	v[0], v[12], v[29] = 20, -20, 20
	v[20], v[21] = 20, 20 // two are no spike
	if got := Spikes(v); !slices.Equal(got, []int{0, 12, 29}) {
		t.Errorf("got %v", got)
	}
	if got := places(Steps(levelsWithSpike(), 1)); len(got) != 0 {
		t.Errorf("a spike is a step at %v", got)
	}
}

func levelsWithSpike() []float64 {
	v := levels(9, 1, 40, 0)
	v[39] = 30
	return v
}

// TestFalseAlarms counts alarms in series without a step: five in a hundred at most.
func TestFalseAlarms(t *testing.T) {
	const trials = 300
	alarms := 0
	for seed := range uint64(trials) {
		if len(Steps(levels(seed+100, 1, 60, 0), seed)) > 0 {
			alarms++
		}
	}
	if alarms > trials*5/100 {
		t.Errorf("%d alarms in %d series", alarms, trials)
	}
}
