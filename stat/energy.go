package stat

import (
	"cmp"
	"math"
	"slices"
)

// An energy splits a series at any place in n log n steps: sums of distances grow value by value along a Fenwick tree over the ranks.
type energy struct {
	order  []int     // rank of each value
	sorted []float64 // by rank, less the median, so that little is lost in sums
	apart  []float64 // by rank: sum of the distances to all others
	total  float64   // of the distances of all pairs
	tree   []node    // Fenwick tree over the ranks, from 1
}

// A node counts and sums the values of some ranks.
type node struct {
	count, sum float64
}

func newEnergy(values []float64) *energy {
	n := len(values)
	e := &energy{order: make([]int, n), sorted: make([]float64, n), apart: make([]float64, n), tree: make([]node, n+1)}
	places := make([]int, n)
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	all := 0.0
	for rank, i := range places {
		e.order[i], e.sorted[rank] = rank, values[i]-values[places[n/2]]
		all += e.sorted[rank]
	}
	below := 0.0
	for rank, x := range e.sorted {
		e.apart[rank] = float64(rank)*x - below + (all - below) - float64(n-rank)*x
		e.total += e.apart[rank] / 2
		below += x
	}
	return e
}

// split returns the best place to split a series, given by ranks, and its statistic; or the first whose statistic is as good as enough.
func (e *energy) split(order []int, enough float64) (at int, best float64) {
	clear(e.tree)
	n := len(order)
	begin, end, all := 0.0, e.total, 0.0 // distances of all pairs before and after a place, and the sum of the values before it
	for i, rank := range order[:n-leastRun] {
		x, count, sum := e.sorted[rank], 0.0, 0.0
		for k := rank; k > 0; k &= k - 1 {
			count += e.tree[k].count
			sum += e.tree[k].sum
		}
		for k := rank + 1; k < len(e.tree); k += k & -k {
			e.tree[k].count++
			e.tree[k].sum += x
		}
		before := (2*count-float64(i))*x + all - 2*sum // its distances to those before it
		begin += before
		end -= e.apart[rank] - before
		all += x
		if i+1 < leastRun {
			continue
		}
		a, b := float64(i+1), float64(n-i-1)
		if q := 2 / (a + b) * (e.total - begin*(1+b/a) - end*(1+a/b)); q > best {
			if at, best = i+1, q; q >= enough {
				break
			}
		}
	}
	return at, best
}

// first returns the best place to split the series itself.
func (e *energy) first() (at int, best float64) { return e.split(e.order, math.Inf(1)) }
