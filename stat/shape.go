package stat

import (
	"math"

	gonum "gonum.org/v1/gonum/stat"
)

// Slope returns the slope of values over their order, by least squares, and the two-sided chance of one this steep if there were none. It
// returns a chance of 1 for fewer than five values.
func Slope(y []float64) (slope, p float64) {
	n := float64(len(y))
	if len(y) < 5 {
		return 0, 1
	}
	x := make([]float64, len(y))
	for i := range x {
		x[i] = float64(i)
	}
	a, b := gonum.LinearRegression(x, y, nil, false)
	rest := 0.0
	for i := range y {
		r := y[i] - a - b*x[i]
		rest += r * r
	}
	se := math.Sqrt(rest / (n - 2) / (n * (n*n - 1) / 12))
	return b, twoSided(Shift{Estimate: b, SE: se, DF: n - 2})
}

func twoSided(s Shift) float64 { return min(1, 2*min(s.Above(0), s.Below(0))) }

// UnequalSpread returns the two-sided chance of spreads this different if they were equal, from the distances to each side's
// median, which odd values mislead little (Brown and Forsythe 1974). It returns 1 for fewer than five values on a side.
func UnequalSpread(a, b []float64) float64 {
	if len(a) < 5 || len(b) < 5 {
		return 1
	}
	return twoSided(Welch(distances(a), distances(b)))
}

func distances(x []float64) []float64 {
	m, away := Median(x), make([]float64, len(x))
	for i, v := range x {
		away[i] = math.Abs(v - m)
	}
	return away
}

// TwoModes says whether values fall into two groups: the best split into two, each of at least two values, leaves less of the
// squared spread within the groups than in 99 of 100 normal samples of the size. A normal distribution split in the middle keeps
// 1 - 2/pi; what small samples keep less was simulated for 8 to 60 values. It returns false for fewer than eight.
func TwoModes(x []float64) bool {
	n := len(x)
	if n < 8 {
		return false
	}
	return within(ascending(x)) < 1-2/math.Pi-0.86/math.Sqrt(float64(n))
}

// within returns the share of the squared spread that the best split into two groups leaves within them, 1 where there is none.
func within(sorted []float64) float64 {
	n, mean := float64(len(sorted)), gonum.Mean(sorted, nil)
	total, left, best := 0.0, 0.0, 0.0
	for _, v := range sorted {
		total += (v - mean) * (v - mean)
	}
	for i, v := range sorted {
		left += v - mean
		if k := float64(i + 1); k >= 2 && n-k >= 2 {
			best = max(best, left*left*n/(k*(n-k)))
		}
	}
	if total == 0 {
		return 1
	}
	return 1 - best/total
}
