package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Count is how many of a number of trials ended well.
type Count struct {
	OK, Of int
}

// Share returns the share that ended well, NaN of none.
func (c Count) Share() float64 { return float64(c.OK) / float64(c.Of) }

// Plus adds two counts.
func (c Count) Plus(o Count) Count { return Count{c.OK + o.OK, c.Of + o.Of} }

// Minus takes a part out.
func (c Count) Minus(o Count) Count { return Count{c.OK - o.OK, c.Of - o.Of} }

// Fisher returns the exact one-sided chance of at least that many failures in head if every trial of both sides had been
// equally likely to fail (Fisher 1935).
func Fisher(base, head Count) float64 {
	failed := base.Of - base.OK + head.Of - head.OK
	all := base.Of + head.Of
	p := 0.0
	for k := head.Of - head.OK; k <= min(failed, head.Of); k++ {
		p += math.Exp(choose(head.Of, k) + choose(base.Of, failed-k) - choose(all, failed))
	}
	return min(1, p)
}

// LeastFisher returns the smallest chance that Fisher could return for as many failures and trials in all. Where it is above
// the level, the test cannot reject, and costs the others nothing (Tarone 1990).
func LeastFisher(base, head Count) float64 {
	failed := min(base.Of-base.OK+head.Of-head.OK, head.Of)
	rest := base.Of - base.OK + head.Of - head.OK - failed
	return Fisher(Count{base.Of - rest, base.Of}, Count{head.Of - failed, head.Of})
}

// choose returns the logarithm of the binomial coefficient, minus infinity where it is 0.
func choose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	return logFactorial(n) - logFactorial(k) - logFactorial(n-k)
}

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// Newcombe returns the one-sided limits, each at its level, of the difference of two shares, head - base (Newcombe 1998, method
// 10, from Wilson's limits of each).
func Newcombe(base, head Count, lowerLevel, upperLevel float64) (lower, upper float64) {
	b, h := base.Share(), head.Share()
	bl, _ := wilson(base, upperLevel)
	_, bu := wilson(base, lowerLevel)
	hl, _ := wilson(head, lowerLevel)
	_, hu := wilson(head, upperLevel)
	return h - b - math.Hypot(h-hl, bu-b), h - b + math.Hypot(hu-h, b-bl)
}

// wilson returns the score limits of a share at a one-sided level (Wilson 1927).
func wilson(c Count, level float64) (lower, upper float64) {
	n, p, z := float64(c.Of), c.Share(), distuv.UnitNormal.Quantile(level)
	mid := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return mid - half, mid + half
}
