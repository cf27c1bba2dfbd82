// Package config reads ddpgate.yml: the app under test, the scenarios, how often to run them, and how to judge.
package config

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/internal/affinity"
	"github.com/ddpgate/ddpgate/internal/strictyaml"
	"github.com/ddpgate/ddpgate/scenario"
)

// File is the configuration's usual name.
const File = "ddpgate.yml"

// A Config is all that the file says, checked, with defaults for what it does not say. Paths in it are relative to the
// directory that ddpgate runs in, wherever the file stands.
type Config struct {
	App       *app.Config // nil for the embedded tasks app; its URL may be empty where it has a command
	Base      *app.Config // the second arm: App with what the base block changes; nil if there is none
	Scenarios []*scenario.Scenario
	Runs      Runs
	Gate      gate.Policy
	Baseline  baseline.Config
}

// Runs says how often each scenario is run in each arm.
type Runs struct {
	Min      int           `yaml:"min"`      // at least 1
	Max      int           `yaml:"max"`      // at least Min; how many between the two the evidence decides
	Warmup   int           `yaml:"warmup"`   // runs before the first that counts
	Cooldown time.Duration `yaml:"cooldown"` // pause after each run
	Budget   time.Duration `yaml:"budget"`   // of the whole record; 0 for none

	CPUs affinity.Split `yaml:"cpus"` // which the app and the driver are kept on
}

const (
	maxRuns  = 1000
	maxPause = time.Hour
)

// DefaultRuns is what is run where nothing is said.
func DefaultRuns() Runs { return Runs{Min: 5, Max: 15, Warmup: 1, Cooldown: 2 * time.Second} }

// Default is the configuration of an empty file.
func Default() *Config { return &Config{Runs: DefaultRuns()} }

// Load reads the file at a path, and the scenario files that it names. The error holds every fault, and wraps
// fs.ErrNotExist if there is no such file.
func Load(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return Parse(path, text, os.ReadFile)
}

// Parse reads a configuration; file names it in errors, readFile reads the scenario files that it names. The error holds
// every fault, each with its file, line and column.
func Parse(file string, text []byte, readFile func(file string) ([]byte, error)) (*Config, error) {
	doc, err := strictyaml.Parse(file, text)
	if err != nil {
		return nil, err
	}
	r := reader{readFile: readFile}
	c := r.config(doc.Root)
	if err := errors.Join(append([]error{doc.Err()}, r.elsewhere...)...); err != nil {
		return nil, err
	}
	return c, nil
}

// Validate returns every fault, joined.
func (r Runs) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if r.Min < 1 || r.Min > maxRuns {
		fault("min is %d, must be from 1 to %d", r.Min, maxRuns)
	}
	if r.Max < r.Min || r.Max > maxRuns {
		fault("max is %d, must be from min, %d, to %d", r.Max, r.Min, maxRuns)
	}
	if r.Warmup < 0 || r.Warmup > maxRuns {
		fault("warmup is %d, must be from 0 to %d", r.Warmup, maxRuns)
	}
	if r.Cooldown < 0 || r.Cooldown > maxPause {
		fault("cooldown is %v, must be from 0 to %gh", r.Cooldown, maxPause.Hours())
	}
	if r.Budget < 0 {
		fault("budget is %v, must not be negative", r.Budget)
	}
	if !r.CPUs.IsZero() {
		for _, err := range strictyaml.Each(r.CPUs.Validate()) {
			fault("cpus.%w", err)
		}
	}
	return errors.Join(faults...)
}
