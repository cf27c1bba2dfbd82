package scenario

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ddpgate/ddpgate/internal/strictyaml"
)

// A fault is something wrong with the part of a scenario at a path such as session[3].call.method.
type fault struct{ path, message string }

// Validate reports every fault of a scenario at once, each with the path of its part. What Parse and With return is sound.
func (s *Scenario) Validate() error {
	var errs []error
	for _, f := range s.faults() {
		if f.path != "" {
			f.message = f.path + ": " + f.message
		}
		errs = append(errs, errors.New(f.message))
	}
	return errors.Join(errs...)
}

// A checker collects faults.
type checker struct{ found []fault }

func (c *checker) fault(path, format string, args ...any) {
	c.found = append(c.found, fault{path, fmt.Sprintf(format, args...)})
}

func (c *checker) err(path string, err error) {
	if err != nil {
		c.fault(path, "%v", err)
	}
}

func (s *Scenario) faults() []fault {
	var c checker
	c.name(s.Name)
	c.arrivals(s.Arrivals)
	c.pause("think", s.Think)
	if s.Timeout <= 0 || s.Timeout > maxLength {
		c.fault("timeout", "timeout must be above 0 and at most %gh", maxLength.Hours())
	}
	c.err("transport", oneOf("transport", s.Transport, SockJS, WebSocket))
	c.err("compression", oneOf("compression", s.Compression, Browser, NoTakeover, Off))
	c.vars(s.Vars)
	if len(s.Session) == 0 {
		c.fault("session", "a session needs at least one step")
	}
	sc := scope{checker: &c, vars: s.Vars, names: make(map[string]string), lists: make(map[string]bool)}
	for name := range s.Vars {
		sc.names[name] = "a variable"
	}
	sc.names["session"] = "the session's own name"
	sc.names["load"] = "the load's own name"
	sc.steps("session", s.Session, 0)
	if len(c.found) == 0 {
		c.course(s)
	}
	return c.found
}

// course checks what only shows when a session is thought through step by step.
func (c *checker) course(s *Scenario) {
	for i := range min(2, s.Arrivals.Sessions()) { // of those after the first, the second waits longest
		p, f := s.plan(i)
		if f != nil {
			c.fault(f.path, "%s", f.message)
			return
		}
		if p.least > s.Timeout {
			c.fault("timeout", "a session pauses for %s at least, longer than its timeout of %s", p.least, s.Timeout)
			return
		}
	}
}

func (c *checker) name(name string) {
	switch {
	case name == "":
		c.fault("name", "a scenario needs a name")
	case len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return !nameRune(r) }) || !nameRune(rune(name[0])):
		c.fault("name", "name %q must be at most 64 letters, digits and - _ .", name)
	case strings.Trim(name, ".-_") != name:
		c.fault("name", "name %q must begin and end with a letter or a digit", name)
	}
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)
}

func (c *checker) arrivals(a Arrivals) {
	before := len(c.found)
	if !(a.Rate > 0) || math.IsInf(a.Rate, 0) {
		c.fault("arrivals.rate", "arrivals need a rate above 0, such as rate: 4/s")
	}
	if a.For <= 0 || a.For > maxLength {
		c.fault("arrivals.for", "arrivals need a time for which they go on, above 0 and at most %gh, such as for: 60s", maxLength.Hours())
	}
	if len(c.found) > before {
		return
	}
	if n := a.Rate * a.For.Seconds(); n > maxSessions {
		c.fault("arrivals", "%.4g/s for %s makes %.0f sessions, more than %d", a.Rate, a.For, n, maxSessions)
	}
}

func (c *checker) pause(path string, r Range) {
	if r.Min < 0 || r.Max < r.Min || r.Max > maxPause {
		c.fault(path, "a pause must be between 0 and %gh", maxPause.Hours())
	}
}

func (c *checker) vars(vars map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		path := "vars." + name
		switch {
		case !isName(name):
			c.fault(path, "%q must be letters, digits and _, and begin with no digit", name)
		case name == "session" || name == "load" || name == "i":
			c.fault(path, "variable %s is set by ddpgate itself: take another name", name)
		}
		switch v := vars[name].(type) {
		case string:
			if strings.Contains(v, "${") {
				c.fault(path, "variable %s may not refer to others", name)
			}
		case bool:
		case int64, float64:
			c.err(path, finite(v))
		default:
			c.fault(path, "variable %s must be text, a number, true or false", name)
		}
	}
}

// finite reports a number that JSON cannot hold.
func finite(v any) error {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%g is no number that JSON can hold", v)
		}
	case int64:
		if v > strictyaml.Largest || v < -strictyaml.Largest {
			return fmt.Errorf("%d is no number that JSON can hold exactly", v)
		}
	}
	return nil
}

// Count returns how often a repeat does its steps, from 1 to 10,000, for a session with these variables.
func (r *Repeat) Count(vars map[string]any) (int, error) {
	t, err := ParseTemplate(r.Times)
	if err != nil {
		return 0, err
	}
	for _, name := range t.Refs() {
		if _, known := vars[name]; !known {
			return 0, fmt.Errorf("how often to repeat may depend on the scenario's own vars only, not on %s", name)
		}
	}
	text := string(t.Append(nil, func(dst []byte, name string) []byte { return AppendValue(dst, vars[name]) }))
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxRepeats {
		return 0, fmt.Errorf("repeats %q times: it must be a whole number from 1 to %d", text, maxRepeats)
	}
	return n, nil
}
