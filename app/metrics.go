package app

import (
	"errors"
	"fmt"
)

// Metrics is where an app that runs elsewhere tells its CPU time and memory in Prometheus' text format. In YAML it is the URL, or a
// mapping.
type Metrics struct {
	URL string `yaml:"url"`
	// CPU is the counter of CPU seconds, RAM the gauge of resident bytes; empty are those of Prometheus' own libraries.
	CPU string `yaml:"cpu,omitempty"`
	RAM string `yaml:"ram,omitempty"`
}

// UnmarshalYAML reads either form.
func (m *Metrics) UnmarshalYAML(decode func(any) error) error {
	*m = Metrics{}
	if decode(&m.URL) == nil {
		return nil
	}
	type plain Metrics // without this method
	return decode((*plain)(m))
}

// MarshalYAML writes the form that it has.
func (m Metrics) MarshalYAML() (any, error) {
	if m.CPU == "" && m.RAM == "" {
		return m.URL, nil
	}
	type plain Metrics
	return plain(m), nil
}

// IsZero tells that there is none.
func (m Metrics) IsZero() bool { return m == Metrics{} }

// checkElsewhere returns what is wrong with where an app that is not started here is metered.
func (c Config) checkElsewhere() (faults []error) {
	if c.Container != "" && len(c.Command) > 0 {
		faults = append(faults, errors.New("container: an app that is started by a command is metered by its processes"))
	}
	if c.Metrics.IsZero() {
		return faults
	}
	if _, err := httpProbe(c.Metrics.URL); err != nil {
		faults = append(faults, fmt.Errorf("metrics %q: %w", c.Metrics.URL, err))
	}
	if len(c.Command) > 0 || c.Container != "" {
		faults = append(faults, errors.New("metrics: only of an app that runs elsewhere, with neither command nor container"))
	}
	return faults
}
