package runner

import (
	"math"
	"strconv"
)

// A series is drawn, and nothing is computed from it. What a sample of half a second cannot resolve would be most of what a record takes.

// hundredths returns times, and shares of the machine, to two decimals: what the clock ticks of half a second come to.
func hundredths(points []float64) []float64 {
	return each(points, func(v float64) float64 { return math.Round(v*100) / 100 })
}

// thousandths returns cores to three decimals.
func thousandths(points []float64) []float64 {
	return each(points, func(v float64) float64 { return math.Round(v*1000) / 1000 })
}

// fourDigits returns figures of any size to four significant digits.
func fourDigits(points []float64) []float64 {
	return each(points, func(v float64) float64 {
		rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
		if err != nil {
			return v
		}
		return rounded
	})
}

// each returns new points: the old ones may belong to a meter.
func each(points []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(points))
	for i, v := range points {
		out[i] = f(v)
	}
	return out
}
