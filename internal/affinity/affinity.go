// Package affinity keeps the app and the driver on CPUs of their own, where the system lets a program choose: on Linux.
package affinity

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// CPUs are numbers of logical CPUs, as the system counts them, from 0. In YAML it is one number or a list. Empty is no choice.
type CPUs []int

// most is the number of CPUs that a set of the kernel's interface has room for.
const most = 1024

// UnmarshalYAML reads either form.
func (c *CPUs) UnmarshalYAML(decode func(any) error) error {
	var one int
	if decode(&one) == nil {
		*c = CPUs{one}
		return nil
	}
	var list []int
	if err := decode(&list); err != nil {
		return errors.New("must be the number of a CPU, such as 0, or a list, such as [0, 1]")
	}
	*c = list
	return nil
}

// String lists the numbers: "0, 2".
func (c CPUs) String() string {
	texts := make([]string, len(c))
	for i, cpu := range c {
		texts[i] = strconv.Itoa(cpu)
	}
	return strings.Join(texts, ", ")
}

// Validate returns every fault of the numbers, whatever the machine.
func (c CPUs) Validate() error {
	var faults []error
	if len(c) == 0 {
		faults = append(faults, errors.New("names no CPU"))
	}
	for i, cpu := range c {
		switch {
		case cpu < 0 || cpu >= most:
			faults = append(faults, fmt.Errorf("CPU %d, must be from 0 to %d", cpu, most-1))
		case slices.Contains(c[:i], cpu):
			faults = append(faults, fmt.Errorf("CPU %d is named twice", cpu))
		}
	}
	return errors.Join(faults...)
}

// A Split says which CPUs the app and its services have, and which the driver. The zero value is no split.
type Split struct {
	App    CPUs `yaml:"app"`
	Driver CPUs `yaml:"driver"`
}

// IsZero says whether nothing was asked for.
func (s Split) IsZero() bool { return len(s.App) == 0 && len(s.Driver) == 0 }

// Validate returns every fault that does not depend on the machine, joined; each begins with app or driver. A split names CPUs for
// both, and none for both of them.
func (s Split) Validate() error {
	faults := append(named("app", s.App.Validate()), named("driver", s.Driver.Validate())...)
	for _, cpu := range s.Driver {
		if slices.Contains(s.App, cpu) {
			faults = append(faults, fmt.Errorf("driver has CPU %d, which is the app's: nothing is separate where they share one", cpu))
		}
	}
	return errors.Join(faults...)
}

// Check says what of a split this process cannot do here, with the CPUs that there are.
func (s Split) Check() error {
	if s.IsZero() {
		return nil
	}
	there, err := Available()
	if err != nil {
		return err
	}
	return errors.Join(append(named("app", missing(s.App, there)), named("driver", missing(s.Driver, there))...)...)
}

func missing(wanted, there CPUs) error {
	var none CPUs
	for _, cpu := range wanted {
		if !slices.Contains(there, cpu) {
			none = append(none, cpu)
		}
	}
	if none == nil {
		return nil
	}
	return fmt.Errorf("this process may not use CPU %v; it may use %v", none, there)
}

// named puts a name before each of several joined errors.
func named(name string, err error) []error {
	if err == nil {
		return nil
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for i, e := range all {
		all[i] = fmt.Errorf("%s: %w", name, e)
	}
	return all
}
