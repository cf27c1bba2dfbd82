package runner

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/internal/affinity"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/scenario"
)

// What limited a run.
const (
	limitedByApp    = "app"
	limitedByDriver = "driver"
	limitedByHost   = "host"
	limitedByNone   = "none"
)

// What makes a run invalid, fixed beforehand.
const (
	maxDriver   = 0.80 // of the driver's CPU allowance
	minArrivals = 0.99 // of the sessions that were due
	maxLag      = 0.05 // s, of arrivals, 99th percentile
	fullMachine = 0.90 // of the cores: above it the driver was late because there was no room
)

// A load is what the list of invalid runs looks at.
type load struct {
	cores   int     // of the machine that this process may use
	apart   bool    // the app cannot take the driver's cores
	busy    float64 // share of its CPU allowance that the driver used
	seconds float64 // length of the load
	driver  float64 // CPU seconds of the driver on this machine
	others  float64 // CPU seconds of the app and its services over the arrivals
	arrival float64 // s, length of the arrivals
	lag     float64 // s, 99th percentile

	planned, dropped, exhausted int // sessions
}

// validate holds the run against the list of what makes a run invalid.
func (s *seen) validate(sc scenario.Scenario, run *record.Run) {
	l := load{
		cores: runtime.NumCPU(), apart: len(s.cpus) > 0 || s.elsewhere(), busy: s.part.Self.Busy,
		seconds: s.ended.Sub(s.begun).Seconds(), driver: s.driver(), lag: run.Metrics["driver.lag.p99"],
		planned: s.part.Planned, dropped: s.part.Dropped, exhausted: s.part.Exhausted,
	}
	end := s.begun.Add(sc.Arrivals.For)
	if end.After(s.ended) {
		end = s.ended
	}
	l.arrival = end.Sub(s.begun).Seconds()
	for _, role := range s.usage.Between(s.begun, end).Roles {
		l.others += role.CPUSeconds
	}
	driver, host, slow := l.faults()
	driver = append(driver, s.part.Faults...)
	switch {
	case len(driver) > 0:
		run.Outcome, run.LimitedBy = record.Invalid, limitedByDriver
	case len(host) > 0:
		run.Outcome, run.LimitedBy = record.Invalid, limitedByHost
	case len(slow) > 0:
		run.LimitedBy = limitedByHost
	}
	run.Reasons = slices.Concat(run.Reasons, driver, host, slow)
}

// allowance returns how many cores this process may use at a time where it is kept on some, none for any.
func allowance(cpus affinity.CPUs) int {
	all := min(runtime.GOMAXPROCS(0), runtime.NumCPU())
	if n := len(cpus); n > 0 {
		return min(n, all)
	}
	return all
}

// elsewhere says whether the load was driven from other machines than this one.
func (s *seen) elsewhere() bool {
	return s.part != nil && slices.ContainsFunc(s.part.Sources, func(d drive.Source) bool { return d.Region != "" })
}

// driver returns the CPU seconds that drivers on this machine used.
func (s *seen) driver() float64 {
	if s.part == nil || s.elsewhere() {
		return 0
	}
	return s.part.Self.CPU
}

// faults returns why the run may not be judged, for what lies with the driver and with the machine, and why it may not pass:
// where the app kept the whole machine busy the driver was late because the app is slow, which is a finding and no
// fault of the measurement.
func (l load) faults() (driver, host, slow []string) {
	if l.busy > maxDriver {
		driver = append(driver, fmt.Sprintf("the driver used %.0f %% of its CPU allowance, more than %.0f %%", l.busy*100, maxDriver*100))
	}
	if l.exhausted > 0 {
		driver = append(driver, fmt.Sprintf("the driver ran out of ports or descriptors for %d sessions", l.exhausted))
	}
	var late []string
	if started := l.planned - l.dropped; float64(started) < minArrivals*float64(l.planned) {
		late = append(late, fmt.Sprintf("only %d of %d sessions were started", started, l.planned))
	}
	if l.lag > maxLag {
		lag := time.Duration(l.lag * float64(time.Second)).Round(time.Millisecond)
		late = append(late, fmt.Sprintf("sessions were started late, by %v in the 99th percentile", lag))
	}
	if l.full() {
		return driver, nil, late
	}
	return driver, late, nil
}

// full says whether the app may have left the driver no room while sessions arrived.
func (l load) full() bool {
	if l.apart || l.arrival <= 0 || l.seconds <= 0 {
		return false
	}
	return l.others/l.arrival+l.driver/l.seconds >= fullMachine*float64(l.cores)
}
