package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/ddpgate/ddpgate/metric"
)

// unknown stands where there is no figure.
const unknown = "-"

// A scale writes figures of one metric in one of people's units.
type scale struct {
	factor float64 // of the base unit
	unit   string
}

type step struct {
	from float64 // the smallest figure that is written so
	scale
}

var (
	ofSeconds = []step{{1, scale{1, "s"}}, {1e-3, scale{1e-3, "ms"}}, {0, scale{1e-6, "µs"}}}
	ofBytes   = []step{{1e9, scale{1e9, "GB"}}, {1e6, scale{1e6, "MB"}}, {1e3, scale{1e3, "kB"}}, {0, scale{1, "B"}}}
)

// scaleOf returns the scale for figures of a metric, by the largest of them, so that figures beside each other have one unit.
func scaleOf(name string, figures ...float64) scale {
	def, _ := metric.Lookup(name)
	switch def.Unit {
	case metric.Seconds:
		return largest(ofSeconds, figures)
	case metric.Bytes:
		return largest(ofBytes, figures)
	case metric.Ratio:
		if def.Better == metric.Lower {
			return scale{1, "cores"}
		}
		return scale{0.01, "%"}
	case metric.PerSecond:
		return scale{1, "/s"}
	}
	return scale{1, ""}
}

// largest returns the scale of the largest figure.
func largest(steps []step, figures []float64) scale {
	top := 0.0
	for _, v := range figures {
		if !missing(v) {
			top = max(top, math.Abs(v))
		}
	}
	for _, s := range steps {
		if top >= s.from*0.9995 && top > 0 { // what rounds to the next unit is written in it
			return s.scale
		}
	}
	return steps[0].scale
}

// write writes a figure in base units with three digits and its unit.
func (s scale) write(v float64) string {
	if missing(v) {
		return unknown
	}
	number := digits(v / s.factor)
	if s.unit == "" {
		return number
	}
	return number + " " + s.unit
}

// short writes a round figure without zeros at its end.
func (s scale) short(v float64) string {
	return strconv.FormatFloat(v/s.factor, 'g', 3, 64) + " " + s.unit
}

// missing says whether a figure is not known.
func missing(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// Figure writes a metric's value, in base units, with three digits in the unit that people use: 402 MB, 86.2 s.
func Figure(metric string, value float64) string { return scaleOf(metric, value).write(value) }

// digits writes a number with three significant digits, and all digits of a larger one.
func digits(v float64) string {
	if v == 0 {
		return "0"
	}
	whole := 1 + int(math.Floor(math.Log10(math.Abs(v))+1e-12))
	s := strconv.FormatFloat(v, 'f', max(0, 3-whole), 64)
	if r, err := strconv.ParseFloat(s, 64); err == nil && r != 0 && 1+int(math.Floor(math.Log10(math.Abs(r))+1e-12)) > whole {
		return strconv.FormatFloat(v, 'f', max(0, 2-whole), 64) // 9.996 is 10.0, not 10.00
	}
	return s
}

// percent writes a ratio with its sign: +12.3 %.
func percent(v float64) string { return signed(v, "%") }

// share writes a ratio without a sign that is not needed: 5 %.
func share(v float64) string {
	if missing(v) {
		return unknown
	}
	return strconv.FormatFloat(math.Round(v*1e4)/100, 'f', -1, 64) + " %"
}

func signed(v float64, unit string) string {
	if math.IsNaN(v) {
		return unknown
	}
	return bare(v) + " " + unit
}

// bare writes a ratio as a signed percentage without the sign for it.
func bare(v float64) string {
	switch {
	case math.IsNaN(v):
		return unknown
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "-∞"
	}
	decimals := 1
	if math.Abs(v) >= 0.9995 {
		decimals = 0
	}
	s := strconv.FormatFloat(v*100, 'f', decimals, 64)
	if f, err := strconv.ParseFloat(s, 64); err == nil && f == 0 {
		return "0.0"
	}
	if v > 0 {
		return "+" + s
	}
	return s
}

// between writes an interval of ratios as percentages: -1.2 … +3.4.
func between(lower, upper float64) string {
	if missing(lower) && missing(upper) {
		return unknown
	}
	return bare(lower) + " … " + bare(upper)
}

// plural writes a count with its noun: 1 run, 5 runs.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
