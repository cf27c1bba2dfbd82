package gate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Percent is a ratio that people write as 5% or 0.05.
type Percent float64

// ParsePercent reads 5%, 5 % or 0.05.
func ParsePercent(s string) (Percent, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is no percentage such as 5%% or 0.05", s)
	}
	if percent {
		v /= 100
	}
	return Percent(v), nil
}

// String returns the percentage as people write it.
func (p Percent) String() string { return strconv.FormatFloat(float64(p)*100, 'g', 6, 64) + "%" }

// MarshalText writes 5%.
func (p Percent) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what ParsePercent does.
func (p *Percent) UnmarshalText(text []byte) error {
	v, err := ParsePercent(string(text))
	if err == nil {
		*p = v
	}
	return err
}

// UnmarshalYAML reads a YAML scalar, quoted or not.
func (p *Percent) UnmarshalYAML(scalar []byte) error {
	return p.UnmarshalText([]byte(strings.Trim(strings.TrimSpace(string(scalar)), `"'`)))
}

// UnmarshalJSON reads a number or a string.
func (p *Percent) UnmarshalJSON(data []byte) error { return p.UnmarshalYAML(data) }
