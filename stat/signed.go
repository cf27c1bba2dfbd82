package stat

import (
	"math"
	"slices"
)

// SignedRank returns the exact chance of signed ranks this high if the differences were symmetric around 0 (Wilcoxon 1945),
// ties counted by mid-ranks and zeros ranked but won by neither (Pratt 1959). It returns 1 for none.
func SignedRank(d []float64) float64 {
	sorted := slices.Clone(d)
	slices.SortFunc(sorted, func(a, b float64) int { return cmpAbs(a, b) })
	ways, won := []float64{1}, 0
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && math.Abs(sorted[j]) == math.Abs(sorted[i]) {
			j++
		}
		for _, v := range sorted[i:j] {
			if v == 0 {
				continue
			}
			rank := i + j + 1 // doubled
			if v > 0 {
				won += rank
			}
			ways = flip(ways, rank)
		}
		i = j
	}
	sum, total := 0.0, 0.0
	for s, w := range ways {
		total += w
		if s >= won {
			sum += w
		}
	}
	return sum / total
}

// flip adds one rank that is won or not.
func flip(ways []float64, rank int) []float64 {
	next := make([]float64, len(ways)+rank)
	for s, w := range ways {
		next[s] += w / 2
		next[s+rank] += w / 2
	}
	return next
}

func cmpAbs(a, b float64) int {
	switch a, b := math.Abs(a), math.Abs(b); {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
