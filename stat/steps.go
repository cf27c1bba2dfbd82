package stat

import (
	"cmp"
	"math"
	"slices"
)

// MedianBreaks finds changes of level by a step test: the place where the medians of both sides differ most, in units of what chance makes of them, is a break if that is more
// than four, and both sides are searched in turn.
func MedianBreaks(values []float64) []Break {
	return inStretches(values, func(_ int, part []float64) []Break { return stepAt(part, Noise(part)) })
}

const medianLevel = 4

func stepAt(values []float64, noise float64) []Break {
	n := len(values)
	if n < 2*leastRun+1 {
		return nil
	}
	before := runningMedians(values)
	reversed := slices.Clone(values)
	slices.Reverse(reversed)
	after := runningMedians(reversed)
	at, best := 0, float64(medianLevel)
	for i := leastRun; i <= n-leastRun; i++ {
		if z := clarity(before[i-1], after[n-i-1], i, n-i, noise); z > best {
			at, best = i, z
		}
	}
	if at == 0 {
		return nil
	}
	found := append(stepAt(values[:at], noise), Break{at, math.NaN()})
	for _, b := range stepAt(values[at:], noise) {
		found = append(found, Break{b.At + at, b.P})
	}
	return found
}

// clarity is the difference of two medians in units of its standard error, as for normal values.
func clarity(a, b float64, n, m int, noise float64) float64 {
	se := noise * math.Sqrt(math.Pi/2*(1/float64(n)+1/float64(m)))
	return math.Abs(a-b) / max(se, 1e-12*max(math.Abs(a), math.Abs(b), 1e-300))
}

// runningMedians returns the medians of all beginnings.
func runningMedians(values []float64) []float64 {
	var sorted, medians []float64
	for _, v := range values {
		i, _ := slices.BinarySearch(sorted, v)
		sorted = slices.Insert(sorted, i, v)
		medians = append(medians, middle(sorted))
	}
	return medians
}

// WindowBreaks finds changes of level as many tools do: where Welch's t between so many values before and after a place is largest in its surroundings, and significant at the
// level.
func WindowBreaks(values []float64, width int, level float64) []Break {
	ps := make([]float64, len(values))
	for i := range ps {
		ps[i] = 1
		if a, b := values[max(0, i-width):i], values[i:min(len(values), i+width)]; len(a) >= leastRun && len(b) >= leastRun {
			ps[i] = clearly(Welch(a, b))
		}
	}
	var found []Break
	for i, p := range ps {
		if p < level && p == slices.Min(ps[max(0, i-width/2):min(len(ps), i+width/2+1)]) && !isFound(found, i) {
			found = append(found, Break{i, p})
		}
	}
	return found
}

// clearly returns the two-sided chance of a shift, 1 where it is below two standard errors: no level is that high, and most shifts are.
func clearly(s Shift) float64 {
	if math.Abs(s.Estimate) < 2*s.SE {
		return 1
	}
	return twoSided(s)
}

// Steps finds changes of level that last: breaks of the series without its spikes, each confirmed by the medians of both sides. A spike is no step, and a step has two
// values at least. E-divisive means finds most of them; a windowed t finds the hump in the middle of a stretch, which no single split
// explains.
func Steps(values []float64, seed uint64) []Break {
	calm := withoutSpikes(values)
	breaks := Breaks(calm, seed)
	for _, b := range WindowBreaks(calm, windowWidth, windowLevel) {
		if !isFound(breaks, b.At) {
			breaks = append(breaks, b)
		}
	}
	slices.SortFunc(breaks, func(a, b Break) int { return cmp.Compare(a.At, b.At) })
	noise := Noise(calm)
	for {
		weakest, least := -1, 1.0
		for i := range breaks {
			before, after := sides(calm, breaks, i)
			z := clarity(Median(before), Median(after), len(before), len(after), noise)
			if needed := confirmation(min(len(before), len(after))); z/needed < least {
				weakest, least = i, z/needed
			}
		}
		if weakest < 0 {
			return placed(calm, breaks)
		}
		breaks = slices.Delete(breaks, weakest, weakest+1)
	}
}

const (
	windowWidth = 8      // of the windowed t
	windowLevel = 0.0003 // of the windowed t
	sideReach   = 30     // values of a side that count
)

// confirmation is how many standard errors the medians of both sides must be apart. The place was chosen where they are, which weighs more the fewer values there are on
// a side.
func confirmation(values int) float64 {
	if values < 6 {
		return 4
	}
	return 2.5
}

// placed moves each break to where two levels explain best what is between its neighbours: energy finds that there is a break, least squares where.
func placed(values []float64, breaks []Break) []Break {
	moved := slices.Clone(breaks)
	for i := range breaks {
		from, to := bounds(moved, i, len(values)) // none passes another
		all, begin, best := 0.0, 0.0, -1.0
		for _, v := range values[from:to] {
			all += v
		}
		for k := from + 1; k <= to-leastRun; k++ {
			begin += values[k-1]
			n, m := float64(k-from), float64(to-k)
			d := begin/n - (all-begin)/m
			if q := d * d * n * m / (n + m); q > best && k >= from+leastRun {
				best, moved[i].At = q, k
			}
		}
	}
	return moved
}

// bounds returns from where to where a break's neighbours leave room.
func bounds(breaks []Break, i, n int) (from, to int) {
	from, to = 0, n
	if i > 0 {
		from = breaks[i-1].At
	}
	if i+1 < len(breaks) {
		to = breaks[i+1].At
	}
	return from, to
}

// sides returns the values on both sides of a break, as far as the next breaks.
func sides(values []float64, breaks []Break, i int) (before, after []float64) {
	from, to := bounds(breaks, i, len(values))
	at := breaks[i].At
	return values[max(from, at-sideReach):at], values[at:min(to, at+sideReach)]
}
