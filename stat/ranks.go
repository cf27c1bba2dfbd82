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

// Ranks compares samples by ranks. It keeps the distributions that it has counted out, one for each pair of sizes. It is for one
// goroutine at a time; the zero value is ready.
type Ranks struct {
	untied  map[[2]int][]float64
	scratch []float64
}

// HodgesLehmann returns the shift from base to head. Ties between the sides count against whatever is to be shown.
func (r *Ranks) HodgesLehmann(base, head []float64) RankShift {
	if len(base) == 0 || len(head) == 0 {
		return RankShift{Estimate: math.NaN()}
	}
	base, head = ascending(base), ascending(head)
	var diffs []float64
	diffs, r.scratch = differences(base, head, r.scratch)
	return RankShift{Estimate: middle(diffs), diffs: diffs, null: r.null(base, head)}
}

// HodgesLehmannEstimate returns the estimate alone, NaN where a side is empty.
func HodgesLehmannEstimate(base, head []float64) float64 {
	if len(base) == 0 || len(head) == 0 {
		return math.NaN()
	}
	diffs, _ := differences(ascending(base), ascending(head), nil)
	return middle(diffs)
}

// Above returns the chance of differences as high if the true shift were theta.
func (r RankShift) Above(theta float64) float64 {
	if len(r.diffs) == 0 {
		return 1
	}
	atMost := sort.Search(len(r.diffs), func(i int) bool { return r.diffs[i] > theta })
	return r.null[len(r.diffs)-atMost]
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

// exactRanks is the most values for which the rank sum's distribution is counted out; above it, it is taken as normal.
const exactRanks = 50

// null returns, for k from 0 to all pairs, the chance that head wins at least k pairs, a tie counted as half, over all ways to
// deal the values of two ascending samples to the sides.
func (r *Ranks) null(base, head []float64) []float64 {
	n, m := len(head), len(base)
	all := make([]float64, n+m)
	merge(all, base, head)
	ranks, cubes := midRanks(all)
	switch {
	case len(all) > exactRanks:
		return normalRankSums(n, m, cubes)
	case cubes > 0:
		return tail(deal(ranks, n), 2, n, m)
	}
	known, ok := r.untied[[2]int{n, m}]
	if !ok {
		if r.untied == nil {
			r.untied = make(map[[2]int][]float64)
		}
		known = tail(untied(n, m), 1, n, m)
		r.untied[[2]int{n, m}] = known
	}
	return known
}

// midRanks returns the doubled ranks of ascending values, equal ones sharing theirs, and the sum of t^3 - t over the ties.
func midRanks(all []float64) (doubled []int, cubes float64) {
	doubled = make([]int, 0, len(all))
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j] == all[i] {
			j++
		}
		t := float64(j - i)
		cubes += t*t*t - t
		for range j - i {
			doubled = append(doubled, i+j+1)
		}
		i = j
	}
	return doubled, cubes
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
