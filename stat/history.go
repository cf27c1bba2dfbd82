package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	gonum "gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Spread is an estimated variance with its degrees of freedom.
type Spread struct {
	Variance, DF float64
}

// historyFrom is the number of earlier spreads from which they say what is usual.
const historyFrom = 5

// Moderate moves a variance towards what it was before, by empirical Bayes: earlier variances are taken as draws from a scaled
// inverse chi-squared distribution, whose scale and degrees of freedom are fitted by moments of their logarithms (Smyth 2004,
// section 6.2). The prior never counts for more than half of the degrees of freedom that the history has. A spread that is larger than the
// history explains at 1 %, and one with fewer than five earlier ones, is returned as it is.
func Moderate(s Spread, past []Spread) Spread {
	prior, ok := fit(past)
	if !ok || !(s.DF > 0) || s.Variance > prior.Variance*(distuv.F{D1: s.DF, D2: prior.DF}).Quantile(0.99) {
		return s
	}
	df := s.DF + prior.DF
	return Spread{Variance: (s.DF*s.Variance + prior.DF*prior.Variance) / df, DF: df}
}

// fit returns the prior that earlier spreads suggest.
func fit(past []Spread) (Spread, bool) {
	var logs []float64
	total, noise := 0.0, 0.0
	for _, s := range past {
		if s.Variance > 0 && s.DF > 0 {
			logs = append(logs, math.Log(s.Variance)-mathext.Digamma(s.DF/2)+math.Log(s.DF/2))
			noise += trigamma(s.DF / 2)
			total += s.DF
		}
	}
	if len(logs) < historyFrom {
		return Spread{}, false
	}
	mean, variance := gonum.MeanVariance(logs, nil)
	df := total / 2
	if excess := variance - noise/float64(len(logs)); excess > 0 {
		df = min(df, 2*inverseTrigamma(excess))
	}
	return Spread{Variance: math.Exp(mean + mathext.Digamma(df/2) - math.Log(df/2)), DF: df}, true
}

func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// inverseTrigamma solves trigamma(x) = y for y > 0 by Newton's method (Smyth 2004, appendix).
func inverseTrigamma(y float64) float64 {
	x := 0.5 + 1/y
	for range 50 {
		t := trigamma(x)
		step := t * (1 - t/y) / (-2 * mathext.Zeta(3, x))
		x += step
		if math.Abs(step) < 1e-8*x {
			break
		}
	}
	return x
}

// Tolerance returns a bound that, with the given confidence, a share content of all values lie below, from values that are
// normal around 0: what is seen where nothing changed. It is infinite for none.
func Tolerance(values []float64, content, confidence float64) float64 {
	n := float64(len(values))
	if n == 0 {
		return math.Inf(1)
	}
	sum := 0.0
	for _, v := range values {
		sum += v * v
	}
	sigma := math.Sqrt(sum / distuv.ChiSquared{K: n}.Quantile(1-confidence))
	return sigma * distuv.UnitNormal.Quantile(content)
}

// Explains returns the one-sided chance that taking x off y narrows its variance as much as it does here if it did not
// (Pitman 1939, Morgan 1939: the correlation between the difference and the sum). It returns 1 for fewer than five values.
func Explains(y, x []float64) float64 {
	n := float64(len(y))
	if len(y) < historyFrom || len(x) != len(y) {
		return 1
	}
	sum := make([]float64, len(y))
	for i := range y {
		sum[i] = 2*y[i] - x[i]
	}
	r := gonum.Correlation(x, sum, nil)
	if math.IsNaN(r) {
		return 1
	}
	return Shift{Estimate: r, SE: math.Sqrt((1 - r*r) / (n - 2)), DF: n - 2}.Above(0)
}
