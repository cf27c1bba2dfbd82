package record

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/metric"
)

var numberForm = regexp.MustCompile(`^([+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*([^0-9\s]*)$`)

// parseFigure reads a value as people write it, 2m42s, 116.06%, 442MB, and returns it in the metric's base unit. A plain number is in the base unit
// already.
func parseFigure(text string, unit metric.Unit) (float64, error) {
	text = strings.ReplaceAll(strings.TrimSpace(text), "\u00a0", " ")
	if m := numberForm.FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseFloat(m[1], 64)
		factor, known := unitsOf(unit)[strings.ToLower(m[2])]
		if err == nil && known && !math.IsInf(n*factor, 0) {
			return n * factor, nil
		}
	}
	if unit == metric.Seconds {
		if d, err := time.ParseDuration(strings.ReplaceAll(text, " ", "")); err == nil {
			return d.Seconds(), nil
		}
	}
	return 0, fmt.Errorf("%q is no value in %s", text, unit)
}

// unitsOf returns how people write a unit, in lower case, with what it is in base units. M is a million: so count the tools whose figures are imported.
func unitsOf(unit metric.Unit) map[string]float64 {
	switch unit {
	case metric.Seconds:
		return map[string]float64{"": 1, "s": 1, "sec": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "m": 60, "min": 60, "h": 3600}
	case metric.Bytes:
		return map[string]float64{"": 1, "b": 1, "bytes": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
	case metric.Ratio:
		return map[string]float64{"": 1, "%": 0.01}
	case metric.PerSecond:
		return map[string]float64{"": 1, "/s": 1, "ops/s": 1}
	}
	return nil
}

// round drops what decimal fractions in binary add: 116.06 % is 1.1606.
func round(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 15, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// derive adds CPU seconds, which compare where durations differ, to metrics that have time and the CPU's share.
func derive(metrics map[string]float64) {
	for _, role := range []string{"", "db."} {
		share, found := metrics[role+"cpu"]
		time, timed := metrics["time"]
		if _, has := metrics[role+"cpu_seconds"]; !has && found && timed {
			metrics[role+"cpu_seconds"] = round(share * time)
		}
	}
}
