package scenario

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/internal/nearest"
	"github.com/ddpgate/ddpgate/internal/strictyaml"
)

// ParseRate reads an arrival rate such as 4/s, 240/min or 90/h and returns it in sessions a second. It is above 0.
func ParseRate(text string) (float64, error) {
	number, unit, found := strings.Cut(text, "/")
	n, err := strconv.ParseFloat(number, 64)
	if !found || err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return 0, fmt.Errorf("%q is not a rate such as 4/s or 240/min", text)
	}
	seconds, known := rateUnits[unit]
	if !known {
		return 0, nearest.Unknown("unit of a rate", unit, []string{"s", "min", "h"})
	}
	if n /= seconds; n <= 0 {
		return 0, fmt.Errorf("rate %q must be above 0", text)
	}
	return n, nil
}

var rateUnits = map[string]float64{"s": 1, "min": 60, "h": 3600}

// ParseRange reads a duration such as 500ms, or a range of durations such as 0..200ms.
func ParseRange(text string) (Range, error) {
	low, high, found := strings.Cut(text, "..")
	if !found {
		high = low
	}
	least, err := strictyaml.ParseDuration(low)
	if err != nil {
		return Range{}, err
	}
	most, err := strictyaml.ParseDuration(high)
	if err != nil {
		return Range{}, err
	}
	if least > most {
		return Range{}, fmt.Errorf("range %q ends before it begins", text)
	}
	return Range{least, most}, nil
}

// String returns the range as ParseRange reads it.
func (r Range) String() string {
	if r.Min == r.Max {
		return r.Min.String()
	}
	return r.Min.String() + ".." + r.Max.String()
}

// The longest that things may take, and the most that there may be of them: beyond lie mistakes, not loads.
const (
	maxSessions = 100_000
	maxRepeats  = 10_000
	maxSteps    = 100_000 // of one session, loops unrolled
	maxPause    = time.Hour
	maxLength   = 24 * time.Hour // of arrivals, and of a session
	maxDepth    = 20             // of loops in loops
)
