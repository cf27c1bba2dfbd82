package stat

import (
	"math/bits"
	"slices"
)

func ascending(x []float64) []float64 {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	return sorted
}

// differences returns all head - base of two ascending samples, ascending: it merges one row for each head. It works in scratch,
// which it returns for the next time; the differences are not in it.
func differences(base, head, scratch []float64) (diffs, used []float64) {
	n, m := len(head), len(base)
	diffs, scratch = make([]float64, n*m), slices.Grow(scratch[:0], n*m)[:n*m]
	from, to := diffs, scratch
	if bits.Len(uint(n-1))%2 == 1 { // so many merges
		from, to = to, from
	}
	for i, h := range head {
		row := from[i*m : (i+1)*m]
		for j := range row {
			row[j] = h - base[m-1-j]
		}
	}
	for width := m; width < n*m; width *= 2 {
		for at := 0; at < n*m; at += 2 * width {
			mid, end := min(at+width, n*m), min(at+2*width, n*m)
			merge(to[at:end], from[at:mid], from[mid:end])
		}
		from, to = to, from
	}
	return diffs, scratch
}

// merge fills to with two ascending parts.
func merge(to, a, b []float64) {
	if len(a) == len(b) {
		mergeEqual(to, a, b)
		return
	}
	i, j, k := 0, 0, 0
	for i < len(a) && j < len(b) {
		x, y, fromB := a[i], b[j], 0
		if y < x {
			fromB = 1
		}
		to[k] = min(x, y)
		i, j, k = i+1-fromB, j+fromB, k+1
	}
	copy(to[k:], a[i:])
	copy(to[k+len(a)-i:], b[j:])
}

// mergeEqual fills to with two ascending parts of one length, from both ends at once: neither end can run out of either part, so
// that nothing but the values is compared.
func mergeEqual(to, a, b []float64) {
	n := len(a)
	i, j, p, q := 0, 0, n-1, n-1
	for k := range n {
		x, y, fromB := a[i], b[j], 0
		if y < x {
			fromB = 1
		}
		to[k] = min(x, y)
		i, j = i+1-fromB, j+fromB
		u, v, fromA := a[p], b[q], 0
		if v < u {
			fromA = 1
		}
		to[2*n-1-k] = max(u, v)
		p, q = p-fromA, q-1+fromA
	}
}
