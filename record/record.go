// Package record is the result file: all that one invocation measured on one machine.
package record

import (
	"fmt"
	"time"

	"github.com/ddpgate/ddpgate/scenario"
)

// Format names the kind and version of the file.
const Format = "ddpgate/record/1"

// A Record is all that one invocation measured on one machine, one or both arms.
type Record struct {
	Format      string         `json:"format"`
	ID          string         `json:"id,omitempty"` // sha256 of the content without the id; set when it is written
	Created     time.Time      `json:"created"`
	Tool        Tool           `json:"tool"`
	Command     []string       `json:"command"`
	Commit      string         `json:"commit,omitempty"`     // of the repository it was measured in
	Repository  string         `json:"repository,omitempty"` // owner/name on GitHub, where a workflow measured it
	Environment Environment    `json:"environment"`
	Apps        map[string]App `json:"apps"` // by arm
	Seed        uint64         `json:"seed,omitempty"`
	Planned     Planned        `json:"planned,omitzero"`
	Interrupted bool           `json:"interrupted,omitempty"`
	Scenarios   []Scenario     `json:"scenarios"`

	// Altered says that the file which the record was read from was changed after it was written: it names another id.
	Altered bool `json:"-"`
}

// Planned is between which numbers of runs an arm the evidence decided when to stop. The zero value says nothing.
type Planned struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// Tool is the ddpgate that wrote the record.
type Tool struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
}

// Environment is the machine that was measured on. Fields that could not be read are empty.
type Environment struct {
	Machine string `json:"machine,omitempty"` // hash of the machine's id
	CPU     string `json:"cpu,omitempty"`
	Cores   int    `json:"cores,omitempty"`
	Memory  int64  `json:"memory,omitempty"` // bytes
	OS      string `json:"os,omitempty"`
	Arch    string `json:"arch,omitempty"`
	Kernel  string `json:"kernel,omitempty"`

	Quota     float64 `json:"quota,omitempty"`     // cores' worth of CPU time that could be used; 0 where there was no limit
	Clock     string  `json:"clock,omitempty"`     // the kernel's clock source
	Governor  string  `json:"governor,omitempty"`  // of the processors' frequency
	Platform  string  `json:"platform,omitempty"`  // hypervisor, or cloud and instance type
	Image     string  `json:"image,omitempty"`     // of the CI runner
	Container string  `json:"container,omitempty"` // which kind of container it was, empty for none
	Node      string  `json:"node,omitempty"`      // version of the Node in PATH
	MongoDB   string  `json:"mongodb,omitempty"`   // version of the mongod in PATH

	// CPUs are those that the app and the driver were kept on, empty where they were not kept apart.
	CPUs CPUs `json:"cpus,omitzero"`

	// Timer is how late timers fired while nothing else ran, in s: the median of Timers. 0 if it was not measured.
	Timer float64 `json:"timer,omitempty"`
	// Timers is how late they fired each time that was looked at, before the first run, between runs and after the last: 90th
	// percentiles in s.
	Timers []float64 `json:"timers,omitempty"`
	// Shift says how the timers' lateness changed while the record was made, empty if it did not.
	Shift string `json:"shift,omitempty"`
	// CalibrationLoad is the version of the calibration load; only those of one version may be compared.
	CalibrationLoad string `json:"calibration_load,omitempty"`
	// Calibration is what the calibration load took each time it was run beside the record, in s of CPU.
	Calibration []float64 `json:"calibration,omitempty"`
}

// CPUs are the numbers of the CPUs that the app, with its services, and the driver had each for itself.
type CPUs struct {
	App    []int `json:"app"`
	Driver []int `json:"driver"`
}

// IsZero says whether they were not kept apart.
func (c CPUs) IsZero() bool { return len(c.App) == 0 && len(c.Driver) == 0 }

// String says who had which, "app on [0], driver on [1]"; it is empty where they were not kept apart.
func (c CPUs) String() string {
	if c.IsZero() {
		return ""
	}
	return fmt.Sprintf("app on %v, driver on %v", c.App, c.Driver)
}

// App is one arm's app.
type App struct {
	Version string   `json:"version,omitempty"`
	Meteor  string   `json:"meteor,omitempty"` // release that it was built with
	Command []string `json:"command,omitempty"`
	URL     string   `json:"url,omitempty"`
}

// The arms. A record of one app has arm Head.
const (
	Base = "base"
	Head = "head"
)

// Scenario is what was measured of one scenario. Runs of both arms stand in the order in which they were made.
type Scenario struct {
	Name     string             `json:"name"`
	Identity string             `json:"identity"` // sha256 of Resolved: what may be compared with what
	Load     Load               `json:"load"`
	Resolved *scenario.Scenario `json:"resolved,omitempty"` // with overrides
	Runs     []Run              `json:"runs"`
}

// Load is the scenario's arrivals, for people.
type Load struct {
	Rate float64 `json:"rate"` // sessions a second
	For  float64 `json:"for"`  // s
}

// Run is one repetition of one scenario against a freshly started app.
type Run struct {
	Arm        string               `json:"arm"`
	Index      int                  `json:"index"` // within its arm and scenario, from 0
	Pair       int                  `json:"pair"`  // runs of both arms with one number were made one after the other
	Started    time.Time            `json:"started"`
	Outcome    Outcome              `json:"outcome"`
	Reasons    []string             `json:"reasons,omitempty"`
	LimitedBy  string               `json:"limited_by,omitempty"`
	LimitedWhy string               `json:"limited_why,omitempty"`
	Metered    map[string]string    `json:"metered,omitempty"`    // role to how its processes were metered: by control group, or why not
	Died       bool                 `json:"died,omitempty"`       // the app ended, or never got ready, and nobody had asked it to end
	Extensions string               `json:"extensions,omitempty"` // what was negotiated for the socket, as the server said it
	Sessions   Sessions             `json:"sessions"`
	Metrics    map[string]float64   `json:"metrics"`           // base units; one number a metric
	Missing    map[string]string    `json:"missing,omitempty"` // metric to why it could not be had
	Histograms map[string]string    `json:"histograms,omitempty"`
	Censored   map[string]int64     `json:"censored,omitempty"` // by histogram: attempts that ended without a duration
	Series     map[string][]float64 `json:"series,omitempty"`   // "t" in s from the start of the load, the others beside it
	Errors     []Error              `json:"errors,omitempty"`
	Shards     []Shard              `json:"shards,omitempty"` // where several drivers shared the load
	// Regions are the metrics of each region's drivers, merged, where there were several regions.
	Regions map[string]map[string]float64 `json:"regions,omitempty"`

	Output []string `json:"output,omitempty"` // the app's last lines, where the run failed
}

// Outcome says whether a run may be judged. The zero value is no outcome and never reads as a good one.
type Outcome string

// The outcomes.
const (
	OK          Outcome = "ok"
	Failed      Outcome = "failed"      // the app died, or sessions failed
	Invalid     Outcome = "invalid"     // may not be judged; Reasons say why
	Interrupted Outcome = "interrupted" // stopped from outside before it was over
)

// Sessions counts a run's sessions. Planned = Started + Late + Dropped, where Started were on time, Late were
// begun over 50 ms after they were due, and Dropped were never begun. Started + Late = OK + Failed.
type Sessions struct {
	Planned int `json:"planned"`
	Started int `json:"started"`
	OK      int `json:"ok"`
	Failed  int `json:"failed"`
	Late    int `json:"late"`
	Dropped int `json:"dropped"`
}

// Shard is one driver's share of a load that several drove.
type Shard struct {
	Shard      int        `json:"shard"`            // from 0
	Worker     string     `json:"worker,omitempty"` // which process it was; empty where it never answered
	Region     string     `json:"region,omitempty"` // empty for the machine of the record
	Machine    string     `json:"machine,omitempty"`
	Sessions   int        `json:"sessions"`             // that it had to start
	CPUSeconds float64    `json:"cpu_seconds"`          // that it used
	Busy       float64    `json:"busy"`                 // share of its CPU allowance
	Lag        float64    `json:"lag"`                  // s by which it started sessions late, 99th percentile
	Ahead      [2]float64 `json:"ahead"`                // s between which its clock was ahead of the record's machine's
	Duplicates int        `json:"duplicates,omitempty"` // workers that were handed the same share, and whose answers were dropped
	Fault      string     `json:"fault,omitempty"`
}

// Error is one cause of failed sessions.
type Error struct {
	Cause   string `json:"cause"`
	Count   int    `json:"count"`
	Example string `json:"example,omitempty"`
}

// Scenario returns the record's scenario of that name, nil if it has none.
func (r *Record) Scenario(name string) *Scenario {
	for i := range r.Scenarios {
		if r.Scenarios[i].Name == name {
			return &r.Scenarios[i]
		}
	}
	return nil
}

// Arm returns the runs of one arm, in order.
func (s *Scenario) Arm(arm string) []Run {
	var runs []Run
	for _, r := range s.Runs {
		if r.Arm == arm {
			runs = append(runs, r)
		}
	}
	return runs
}
