package stat

import (
	"math"
	"slices"

	gonum "gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Pair is one run of each side, made one after the other.
type Pair struct {
	Base, Head float64
	HeadFirst  bool
}

// Steady describes what SteadyPairs did to estimate a shift.
type Steady struct {
	Shift
	PulledIn int     // values that lay far from the others of their side
	Pooled   bool    // whether values were compared beyond their pair
	Spread   Spread  // of one value, without drift and order
	Per      float64 // SE squared for a variance of one value of 1
}

const (
	// far is how many standard deviations, by the median distance, a value may lie from the middle before it is pulled in.
	far = 3
	// searched is what finding the middle and the drift costs, in degrees of freedom. It was simulated, so that an unchanged
	// build with twelve gated metrics of two modes each fails in 1 % of records and not in 1.2 %; a sixth of it is right where many
	// records' spreads are taken together.
	searched = 0.75
	// alike is the level of the test whether the values of a pair are more alike than those of different pairs.
	alike = 0.95
)

// SteadyPairs estimates the mean shift from base to head of at least five pairs, in four steps that keep what pairing gains on a
// drifting machine and lose little to odd runs:
//
//   - The drift over the pairs is taken out, by the median of all slopes between two pairs (Theil 1950, Sen 1968).
//   - Values more than three standard deviations from the middle of their side are pulled in to three (winsorized, Dixon and
//     Tukey 1968); each costs half a degree of freedom.
//   - What the second place in a pair costs is estimated with the shift, by least squares over the pairs.
//   - The spread of the pairs' sums joins that of their differences, unless an F test at 5 % on either side says that they
//     differ, as they do where the machine moves from pair to pair: recovery of inter-block information (Yates 1940).
//
// gate/oc shows its error rates. It returns DF 0 for fewer than five pairs.
func SteadyPairs(pairs []Pair) Steady {
	n := float64(len(pairs))
	if len(pairs) < 5 {
		return Steady{Shift: Shift{Estimate: math.NaN()}}
	}
	base, head := undrifted(pairs)
	center := HodgesLehmannEstimate(base, head)
	pulled := pullIn(base, head, center)
	lost := float64(pulled) / 2 // pairs

	diffs, sums, order := make([]float64, len(pairs)), make([]float64, len(pairs)), make([]float64, len(pairs))
	for i, p := range pairs {
		diffs[i], sums[i], order[i] = head[i]-base[i], head[i]+base[i], 1
		if p.HeadFirst {
			order[i] = -1
		}
	}
	estimate, rest, share, used := intercept(order, diffs)
	_, between := gonum.MeanVariance(sums, nil)
	between *= n - 1
	dfDiffs, dfSums := max(n-used-lost, 1), max(n-2-lost, 1)
	squares, df, costs := rest, dfDiffs, searched
	if used == 2 && alikeSpread(between/dfSums/(rest/dfDiffs), dfSums, dfDiffs) {
		squares, df, costs = rest+between, dfDiffs+dfSums, 2*searched
	}
	s := Steady{PulledIn: pulled, Pooled: df > dfDiffs, Spread: Spread{Variance: squares / (df - costs/6) / 2, DF: df}}
	s.Per = 2 * share * (n - 1) / max(n-1-lost, 1)
	df = max(df-costs, 1)
	s.Shift = Shift{Estimate: center + estimate, SE: math.Sqrt(squares / df / 2 * s.Per), DF: df}
	return s
}

// alikeSpread says whether a ratio of variances is what equal ones may show.
func alikeSpread(f, d1, d2 float64) bool {
	p := distuv.F{D1: d1, D2: d2}.CDF(f)
	return p <= alike && p >= 1-alike
}

// undrifted returns both sides without the drift over the runs, in which pair i holds the runs 2i and 2i+1.
func undrifted(pairs []Pair) (base, head []float64) {
	slopes := make([]float64, 0, len(pairs)*(len(pairs)-1)/2)
	for i, p := range pairs {
		for j, q := range pairs[i+1:] {
			slopes = append(slopes, (q.Base+q.Head-p.Base-p.Head)/float64(4*(j+1)))
		}
	}
	slope := Median(slopes)
	for i, p := range pairs {
		first, second := slope*float64(2*i), slope*float64(2*i+1)
		if p.HeadFirst {
			first, second = second, first
		}
		base, head = append(base, p.Base-first), append(head, p.Head-second)
	}
	return base, head
}

// pullIn takes the shift out of head, centers both sides, and pulls in what lies far out. It returns how many values that was.
func pullIn(base, head []float64, shift float64) int {
	for i := range head {
		head[i] -= shift
	}
	all := slices.Concat(base, head)
	m, limit := Median(all), far*MAD(all)
	pulled := 0
	for _, side := range [][]float64{base, head} {
		for i, v := range side {
			side[i] = v - m
			if limit > 0 && math.Abs(v-m) > limit {
				side[i] = math.Copysign(limit, v-m)
				pulled++
			}
		}
	}
	return pulled
}

// intercept fits y = a + b*x by least squares, or y = a where x does not vary. It returns a, the sum of the squared rests, the
// variance of a in units of that of y, and how many coefficients were fitted.
func intercept(x, y []float64) (a, rest, share, used float64) {
	n := float64(len(y))
	mx, my := gonum.Mean(x, nil), gonum.Mean(y, nil)
	var xx, xy, yy float64
	for i := range y {
		xx += (x[i] - mx) * (x[i] - mx)
		xy += (x[i] - mx) * (y[i] - my)
		yy += (y[i] - my) * (y[i] - my)
	}
	if xx == 0 {
		return my, yy, 1 / n, 1
	}
	b := xy / xx
	return my - b*mx, max(0, yy-b*xy), 1/n + mx*mx/xx, 2
}
