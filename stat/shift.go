// Package stat holds the statistics that measurements are judged by, on plain numbers and on top of gonum. It knows no
// metric, run or record. All functions are pure, leave their arguments as they are, and may be called from several goroutines.
package stat

import (
	"math"

	gonum "gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Shift is an estimated difference of two means with its standard error, judged by Student's t. With DF 0 nothing is known
// of its error, and no limit is finite.
type Shift struct {
	Estimate float64
	SE       float64 // standard error; 0 where everything measured was constant
	DF       float64 // degrees of freedom of SE
}

// Above returns the chance of an estimate at least as high if the true shift were theta: small where the true shift is above it.
func (s Shift) Above(theta float64) float64 {
	switch {
	case !(s.DF > 0):
		return 1
	case s.SE == 0 && s.Estimate > theta:
		return 0
	case s.SE == 0:
		return 1
	}
	return distuv.StudentsT{Sigma: 1, Nu: s.DF}.Survival((s.Estimate - theta) / s.SE)
}

// Below returns the chance of an estimate at least as low if the true shift were theta.
func (s Shift) Below(theta float64) float64 {
	return Shift{Estimate: -s.Estimate, SE: s.SE, DF: s.DF}.Above(-theta)
}

// Lower returns the one-sided lower limit: the true shift is above it with that confidence, 0.5 <= level < 1.
func (s Shift) Lower(level float64) float64 {
	if !(s.DF > 0) {
		return math.Inf(-1)
	}
	return s.Estimate - s.margin(level)
}

// Upper returns the one-sided upper limit.
func (s Shift) Upper(level float64) float64 {
	if !(s.DF > 0) {
		return math.Inf(1)
	}
	return s.Estimate + s.margin(level)
}

func (s Shift) margin(level float64) float64 {
	if s.SE == 0 {
		return 0
	}
	return s.SE * Quantile(level, s.DF)
}

// Welch estimates mean(head) - mean(base) of two samples whose spread may differ (Welch 1947, degrees of freedom by
// Satterthwaite 1946). With fewer than two values on a side DF is 0.
func Welch(base, head []float64) Shift {
	mb, vb := gonum.MeanVariance(base, nil)
	mh, vh := gonum.MeanVariance(head, nil)
	s := Shift{Estimate: mh - mb}
	if len(base) < 2 || len(head) < 2 {
		return s
	}
	b, h := vb/float64(len(base)), vh/float64(len(head))
	s.SE = math.Sqrt(b + h)
	s.DF = float64(len(base) + len(head) - 2)
	if b+h > 0 {
		s.DF = (b + h) * (b + h) / (b*b/float64(len(base)-1) + h*h/float64(len(head)-1))
	}
	return s
}

// Paired estimates the mean of the differences of pairs (Student 1908). With fewer than two DF is 0.
func Paired(d []float64) Shift {
	m, v := gonum.MeanVariance(d, nil)
	if len(d) < 2 {
		return Shift{Estimate: m}
	}
	return Shift{Estimate: m, SE: math.Sqrt(v / float64(len(d))), DF: float64(len(d) - 1)}
}

// Median returns the middle value, the mean of the middle two of an even number, NaN of none.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	return middle(ascending(x))
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// MAD returns the median distance from the median, scaled to the standard deviation of normal values (Hampel 1974).
func MAD(x []float64) float64 {
	m := Median(x)
	away := make([]float64, len(x))
	for i, v := range x {
		away[i] = math.Abs(v - m)
	}
	return Median(away) / distuv.UnitNormal.Quantile(0.75)
}

// Predict estimates how far a new value lies above the mean of earlier ones of its kind, with the error of predicting one: that
// of the mean and that of a single draw. extra is a variance that the new value has on top. With fewer than two DF is 0.
func Predict(earlier []float64, value, extra float64) Shift {
	m, v := gonum.MeanVariance(earlier, nil)
	n := float64(len(earlier))
	if n < 2 {
		return Shift{Estimate: value - m}
	}
	return Shift{Estimate: value - m, SE: math.Sqrt(v*(1+1/n) + extra), DF: n - 1}
}
