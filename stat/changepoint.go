package stat

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// A Break is a place where a series changes its level: values[At:] are on another one than those before.
type Break struct {
	At int
	P  float64 // chance of a break as clear in a series without one; NaN where the method has no such figure
}

const (
	leastRun     = 2     // values on each side of a break
	permutations = 399   // of a test, at most
	plain        = 99    // permutations without a better split that are enough
	breakLevel   = 0.015 // the largest chance of a break where there is none
	stretch      = 256   // values that are looked at together; longer series are taken in stretches that overlap by half
	rounding     = 1e-9  // of a statistic, at most
	settle       = 16    // breaks this near to a stretch's end are left to the next
)

// Breaks finds changes of level by divisive estimation from energy statistics with exponent 1 (E-divisive means: Matteson and James 2014):
// the best split of a stretch by energy distance is taken if less than 1.5 % of shuffles have as good a one, and its parts are split in
// turn. The same seed gives the same answer. The cost grows with the length of the series, not with its square.
func Breaks(values []float64, seed uint64) []Break {
	return inStretches(values, func(from int, part []float64) []Break {
		rng := rand.New(rand.NewPCG(seed, uint64(from)))
		return divide(part, rng)
	})
}

// inStretches looks for breaks in stretches of a long series and puts together what it finds. A stretch always begins at the same place, so that a break which was found once is
// found again when the series has grown.
func inStretches(values []float64, find func(from int, part []float64) []Break) []Break {
	if len(values) <= stretch {
		return find(0, values)
	}
	var found []Break
	for from := 0; from == 0 || from+stretch/2 < len(values); from += stretch / 2 {
		to := min(from+stretch, len(values))
		for _, b := range find(from, values[from:to]) {
			inside := (b.At >= settle || from == 0) && (to-from-b.At >= settle || to == len(values))
			b.At += from
			if inside && !isFound(found, b.At) {
				found = append(found, b)
			}
		}
	}
	slices.SortFunc(found, func(a, b Break) int { return cmp.Compare(a.At, b.At) })
	return found
}

// isFound says whether two stretches found one break.
func isFound(found []Break, at int) bool {
	return slices.ContainsFunc(found, func(b Break) bool { return max(b.At-at, at-b.At) <= 2*leastRun })
}

func divide(values []float64, rng *rand.Rand) []Break {
	if len(values) < 2*leastRun+1 {
		return nil
	}
	e := newEnergy(values)
	at, best := e.first()
	if at == 0 || !(best > 0) {
		return nil
	}
	p := e.chance(best, rng)
	if p > breakLevel {
		return nil
	}
	found := append(divide(values[:at], rng), Break{at, p})
	for _, b := range divide(values[at:], rng) {
		found = append(found, Break{b.At + at, b.P})
	}
	return found
}

// chance returns the chance of a split as good in the same values in any order, from shuffles: 99 where none has one, up to 399 where few have, and no more than it takes to know
// that it is too large (Besag and Clifford 1991).
func (e *energy) chance(best float64, rng *rand.Rand) float64 {
	shuffled := slices.Clone(e.order)
	asGood := best * (1 - rounding) // an order that splits into the same two parts adds up otherwise
	better := 0
	for n := 1; ; n++ {
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if _, q := e.split(shuffled, asGood); q >= asGood {
			better++
		}
		tooMany := float64(better+1) > breakLevel*(permutations+1)
		if n == permutations || tooMany || n == plain && better == 0 {
			return float64(better+1) / float64(n+1)
		}
	}
}
