package stat

import (
	"math"
	"slices"
)

// Noise estimates the standard deviation of a series around its level, however often that changes: from the differences of neighbours without the largest fifth, as for normal
// values. It is 0 for fewer than three values.
func Noise(values []float64) float64 {
	if len(values) < 3 {
		return 0
	}
	steps := make([]float64, 0, len(values)-1)
	for i := 1; i < len(values); i++ {
		steps = append(steps, math.Abs(values[i]-values[i-1]))
	}
	slices.Sort(steps)
	steps = steps[:max(1, len(steps)*4/5)]
	sum := 0.0
	for _, s := range steps {
		sum += s
	}
	const usual = 0.5586 // mean of the lower four fifths of |Z|, Z standard normal
	return sum / float64(len(steps)) / usual / math.Sqrt2
}

const (
	spikeReach = 4 // neighbours on each side
	spikeSize  = 5 // in units of the noise
)

// Spikes returns the places of single values that are far from all that is around them. The last value may be one: only the next can tell.
func Spikes(values []float64) []int {
	noise := Noise(values)
	var found []int
	for i, v := range values {
		var around []float64
		around = append(around, values[max(0, i-spikeReach):i]...)
		around = append(around, values[i+1:min(len(values), i+1+spikeReach)]...)
		if len(around) < spikeReach {
			continue
		}
		far := spikeSize * noise
		alone := math.Abs(v-Median(around)) > far
		for _, j := range []int{i - 1, i + 1} {
			alone = alone && (j < 0 || j >= len(values) || math.Abs(v-values[j]) > far/2)
		}
		if alone {
			found = append(found, i)
		}
	}
	return found
}

// withoutSpikes puts the level of its neighbours in the place of each spike.
func withoutSpikes(values []float64) []float64 {
	calm := slices.Clone(values)
	for _, i := range Spikes(values) {
		calm[i] = Median(slices.Concat(values[max(0, i-spikeReach):i], values[i+1:min(len(values), i+1+spikeReach)]))
	}
	return calm
}
