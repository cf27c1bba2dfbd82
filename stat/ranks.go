package stat

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// A RankShift is the shift of two samples by Hodges and Lehmann (1963): the middle of all differences between one side and
// the other. Its limits come from the permutation distribution of the rank sum, conditional on the ties that there are.
type RankShift struct {
	Estimate float64
	diffs    []float64 // all head - base, ascending
	null     []float64 // null[k]: chance that at least k differences are positive if nothing shifted
}

// HodgesLehmann returns the shift from base to head. Ties between the sides count against whatever is to be shown.
func HodgesLehmann(base, head []float64) RankShift {
	diffs := differences(base, head)
	if len(diffs) == 0 {
		return RankShift{Estimate: math.NaN()}
	}
	return RankShift{Estimate: middle(diffs), diffs: diffs, null: rankSums(base, head)}
}

// HodgesLehmannEstimate returns the estimate alone, NaN where a side is empty.
func HodgesLehmannEstimate(base, head []float64) float64 {
	if len(base) == 0 || len(head) == 0 {
		return math.NaN()
	}
	return middle(differences(base, head))
}

// differences returns all head - base, ascending.
func differences(base, head []float64) []float64 {
	diffs := make([]float64, 0, len(base)*len(head))
	for _, h := range head {
		for _, b := range base {
			diffs = append(diffs, h-b)
		}
	}
	slices.Sort(diffs)
	return diffs
}

// Above returns the chance of differences as high if the true shift were theta.
func (r RankShift) Above(theta float64) float64 {
	if len(r.diffs) == 0 {
		return 1
	}
	above := len(r.diffs) - upperBound(r.diffs, theta)
	return r.null[above]
}

// Below returns the chance of differences as low if the true shift were theta.
func (r RankShift) Below(theta float64) float64 {
	if len(r.diffs) == 0 {
		return 1
	}
	below, _ := slices.BinarySearch(r.diffs, theta)
	return r.null[below]
}

// Lower returns the one-sided lower limit, minus infinity where so few runs reach no such level.
func (r RankShift) Lower(level float64) float64 {
	if k := r.critical(1 - level); k > 0 {
		return r.diffs[len(r.diffs)-k]
	}
	return math.Inf(-1)
}

// Upper returns the one-sided upper limit.
func (r RankShift) Upper(level float64) float64 {
	if k := r.critical(1 - level); k > 0 {
		return r.diffs[k-1]
	}
	return math.Inf(1)
}

// critical returns the smallest number of positive differences whose chance is at most alpha, 0 if there is none.
func (r RankShift) critical(alpha float64) int {
	k := sort.Search(len(r.null), func(k int) bool { return r.null[k] <= alpha })
	if k == len(r.null) {
		return 0
	}
	return k
}

func upperBound(sorted []float64, v float64) int {
	n, _ := slices.BinarySearchFunc(sorted, v, func(e, v float64) int {
		if e > v {
			return 1
		}
		return -1
	})
	return n
}

// exactRanks is the most values for which the rank sum's distribution is counted out; above it, it is taken as normal.
const exactRanks = 50

// rankSums returns, for k from 0 to all pairs, the chance that head wins at least k pairs, a tie counted as half, over all
// ways to deal the values to the sides.
func rankSums(base, head []float64) []float64 {
	all := slices.Concat(base, head)
	slices.Sort(all)
	n, m := len(head), len(base)
	tied := false
	ranks := make([]int, 0, len(all)) // doubled mid-ranks
	cubes := 0.0
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j] == all[i] {
			j++
		}
		t := float64(j - i)
		cubes += t*t*t - t
		tied = tied || j-i > 1
		for range j - i {
			ranks = append(ranks, i+j+1)
		}
		i = j
	}
	switch {
	case len(all) > exactRanks:
		return normalRankSums(n, m, cubes)
	case !tied:
		return tail(untied(n, m), 1, n, m)
	}
	return tail(deal(ranks, n), 2, n, m)
}

// untied counts, for each number of pairs that head wins, the ways to deal n values to head and m to base (Mann and Whitney
// 1947): the coefficients of the Gaussian binomial.
func untied(n, m int) []float64 {
	ways := make([]float64, n*m+1)
	ways[0] = 1
	for i := 1; i <= n; i++ {
		for k := n * m; k >= i+m; k-- { // times 1 - q^(m+i)
			ways[k] -= ways[k-i-m]
		}
		for k := i; k <= n*m; k++ { // over 1 - q^i
			ways[k] += ways[k-i]
		}
	}
	return ways
}

// deal counts, for each doubled number of pairs that head wins, the ways to choose head's n ranks (the shift algorithm of
// Streitberg and Röhmel 1986).
func deal(ranks []int, n int) []float64 {
	most := 0
	for _, r := range ranks[len(ranks)-n:] {
		most += r
	}
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, most+1)
	}
	ways[0][0] = 1
	for i, r := range ranks {
		for k := min(i+1, n); k > 0; k-- {
			from, to := ways[k-1], ways[k]
			for s := most; s >= r; s-- {
				to[s] += from[s-r]
			}
		}
	}
	least := n * (n + 1) // doubled, when head wins nothing
	return ways[n][min(least, most+1):]
}

// tail turns ways by wins, in steps of 1/per, into chances of at least k wins.
func tail(ways []float64, per, n, m int) []float64 {
	total := 0.0
	for _, w := range ways {
		total += w
	}
	null := make([]float64, n*m+1)
	sum, next := 0.0, len(ways)-1
	for k := n * m; k >= 0; k-- {
		for ; next >= per*k; next-- {
			sum += ways[next]
		}
		null[k] = min(1, sum/total)
	}
	return null
}

func normalRankSums(n, m int, cubes float64) []float64 {
	nm, all := float64(n)*float64(m), float64(n+m)
	sd := math.Sqrt(nm / 12 * (all + 1 - cubes/(all*(all-1))))
	null := make([]float64, n*m+1)
	for k := range null {
		null[k] = 1
		if sd > 0 {
			null[k] = distuv.UnitNormal.Survival((float64(k) - 0.5 - nm/2) / sd)
		}
	}
	return null
}

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
