package stat

import (
	"cmp"
	"slices"
)

// An energy splits a series at any place in n log n steps: sums of distances grow value by value along a Fenwick tree over the ranks.
type energy struct {
	order  []int     // rank of each value
	sorted []float64 // by rank
	within []float64 // by length of the beginning: distances of all its pairs
	begins []float64 // the same, kept while within is filled from the other end
	tree   []node    // Fenwick tree over the ranks, from 1
}

// A node counts and sums the values of some ranks.
type node struct {
	count int
	sum   float64
}

func newEnergy(values []float64) *energy {
	n := len(values)
	e := &energy{order: make([]int, n), sorted: make([]float64, n), within: make([]float64, n+1), begins: make([]float64, n+1), tree: make([]node, n+1)}
	places := make([]int, n)
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	for rank, i := range places {
		e.order[i], e.sorted[rank] = rank, values[i]
	}
	return e
}

// split returns the best place to split a series, given by ranks, and its statistic.
func (e *energy) split(order []int) (at int, best float64) {
	n := len(order)
	e.grow(order)
	total, ends := e.within[n], 0.0
	e.within, e.begins = e.begins, e.within
	slices.Reverse(order)
	e.grow(order)
	slices.Reverse(order)
	begins := e.begins
	for i := leastRun; i <= n-leastRun; i++ {
		a, b := float64(i), float64(n-i)
		ends = e.within[n-i]
		between := total - begins[i] - ends
		q := a * b / (a + b) * (2*between/(a*b) - 2*begins[i]/(a*a) - 2*ends/(b*b))
		if q > best {
			at, best = i, q
		}
	}
	return at, best
}

// grow fills within.
func (e *energy) grow(order []int) {
	clear(e.tree)
	sumAll, total := 0.0, 0.0
	for i, rank := range order {
		x := e.sorted[rank]
		below, sumBelow := e.below(rank)
		above := float64(i - below)
		total += float64(below)*x - sumBelow + (sumAll - sumBelow) - above*x
		sumAll += x
		e.within[i+1] = total
		for k := rank + 1; k < len(e.tree); k += k & -k {
			e.tree[k].count++
			e.tree[k].sum += x
		}
	}
}

// below returns how many values of a lower rank are in, and their sum.
func (e *energy) below(rank int) (count int, sum float64) {
	for k := rank; k > 0; k -= k & -k {
		count += e.tree[k].count
		sum += e.tree[k].sum
	}
	return count, sum
}
