package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ddpgate/ddpgate/internal/nearest"
)

// Overrides replace parts of a scenario. What is nil is left as it is.
type Overrides struct {
	Rate        *float64 // sessions a second
	For         *time.Duration
	Think       *Range // the scenario's; calls with think time of their own keep it
	Timeout     *time.Duration
	Transport   *Transport
	Compression *Compression
	Vars        map[string]string // text for variables that the scenario has, read as a value of the same type
}

// With returns a copy of the scenario with the overrides. The error holds every fault: unknown variables, texts that are no
// value of a variable's type, and what Validate finds.
func (s *Scenario) With(o Overrides) (*Scenario, error) {
	changed := *s
	replace(&changed.Arrivals.Rate, o.Rate)
	replace(&changed.Arrivals.For, o.For)
	replace(&changed.Think, o.Think)
	replace(&changed.Timeout, o.Timeout)
	replace(&changed.Transport, o.Transport)
	replace(&changed.Compression, o.Compression)
	changed.Vars = maps.Clone(s.Vars)
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(o.Vars)) {
		old, known := s.Vars[name]
		if !known {
			errs = append(errs, nearest.Unknown("variable", name, slices.Collect(maps.Keys(s.Vars))))
			continue
		}
		v, err := likewise(old, o.Vars[name])
		if err != nil {
			errs = append(errs, fmt.Errorf("variable %s: %w", name, err))
			continue
		}
		changed.Vars[name] = v
	}
	if err := changed.Validate(); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("scenario %s: %w", s.Name, errors.Join(errs...))
	}
	return &changed, nil
}

func replace[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// likewise reads a text as a value of the same type as old.
func likewise(old any, text string) (any, error) {
	switch old.(type) {
	case int64:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, nil
		}
		return nil, fmt.Errorf("%q is not a whole number", text)
	case float64:
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n, nil
		}
		return nil, fmt.Errorf("%q is not a number", text)
	case bool:
		if b, err := strconv.ParseBool(text); err == nil {
			return b, nil
		}
		return nil, fmt.Errorf("%q is neither true nor false", text)
	}
	return text, nil
}
