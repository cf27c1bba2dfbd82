package stat

import (
	"cmp"
	"slices"
)

// Holm decides about several hypotheses so that the chance of rejecting any true one is at most alpha, however they hang
// together (Holm 1979). For each p it returns whether it is rejected and the level that it was held against. level turns a
// share of alpha into the level of test i; nil leaves it as it is.
func Holm(p []float64, alpha float64, level func(i int, share float64) float64) (rejected []bool, levels []float64) {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	rejected, levels = make([]bool, len(p)), make([]float64, len(p))
	stopped, against := false, 0.0
	for rank, i := range order {
		if !stopped {
			against = alpha / float64(len(p)-rank)
			if level != nil {
				against = level(i, against)
			}
		}
		levels[i] = against
		stopped = stopped || !(p[i] <= against)
		rejected[i] = !stopped
	}
	return rejected, levels
}
