package runner

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/ddpgate/ddpgate/meter"
	"github.com/ddpgate/ddpgate/record"
)

// What may limit a run beside the app that ended, the driver, and a machine with no room left.
const (
	limitedByDatabase = "database"
	limitedByLoop     = "event loop"
)

const (
	maxSteal = 0.02 // of the CPU time there was; above it a run is invalid

	// A machine limits a run where tasks waited for longer than this share of the time, and for a processor only if others were at work
	// on it: what waits for the app itself is the app's own slowness.
	maxCPUPressure    = 0.20
	maxMemoryPressure = 0.10
	maxIOPressure     = 0.25
	maxOthers         = 0.10 // of the CPU time there was

	fullCore = 0.90 // of one core, from which on a database may be what others wait for
	fullLoop = 0.95 // of the time, in which an event loop had no rest
)

// limit says what limited the run. What ended it, or made the driver late, was found before, and comes first.
func (s *seen) limit(run *record.Run, load meter.Usage) {
	steal := load.Host.Shares["steal"]
	if steal > maxSteal && (run.Outcome == record.OK || run.Outcome == record.Failed && !run.Died || run.Outcome == record.Invalid) {
		run.Outcome = record.Invalid
		run.Reasons = append(run.Reasons, fmt.Sprintf("the hypervisor took %.3g %% of the CPU time, more than %.0f %%", steal*100, maxSteal*100))
	}
	for _, name := range slices.Sorted(maps.Keys(load.Roles)) {
		if role := load.Roles[name]; role.Restarted {
			s.restarted = cmp.Or(s.restarted, name+": "+role.Broken)
		}
	}
	if s.restarted != "" && run.Outcome != record.Interrupted {
		run.Outcome = record.Invalid
		run.Reasons = append(run.Reasons, s.restarted)
	}
	if run.LimitedBy != limitedByNone {
		return
	}
	for _, check := range []func(meter.Usage) (by, why string){s.byHost, s.byDatabase, s.byLoop} {
		if by, why := check(load); by != "" {
			run.LimitedBy, run.LimitedWhy = by, why
			return
		}
	}
}

func (s *seen) byHost(load meter.Usage) (by, why string) {
	h := load.Host.Shares
	others := s.others(load)
	switch {
	case h["steal"] > maxSteal:
		return limitedByHost, fmt.Sprintf("the hypervisor took %.1f %% of the CPU time", h["steal"]*100)
	case h["pressure"] > maxCPUPressure && others > maxOthers:
		return limitedByHost, fmt.Sprintf("tasks waited for a processor %.0f %% of the time, and other processes used %.0f %% of the CPU time",
			h["pressure"]*100, others*100)
	case h["pressure.memory"] > maxMemoryPressure:
		return limitedByHost, fmt.Sprintf("tasks waited for memory %.0f %% of the time", h["pressure.memory"]*100)
	case h["pressure.io"] > maxIOPressure:
		return limitedByHost, fmt.Sprintf("tasks waited for a disk %.0f %% of the time", h["pressure.io"]*100)
	}
	return "", ""
}

// others returns the share of the machine's CPU time that neither the app, its services nor this process used.
func (s *seen) others(load meter.Usage) float64 {
	busy, known := load.Host.Shares["busy"]
	if !known || load.Seconds <= 0 {
		return 0
	}
	ours := s.driver()
	for _, role := range load.Roles {
		ours += role.CPUSeconds
	}
	return busy - ours/(load.Seconds*float64(runtime.NumCPU()))
}

// byDatabase looks for a service that was busier than the app, and busy enough to be waited for.
func (s *seen) byDatabase(load meter.Usage) (by, why string) {
	if load.Seconds <= 0 {
		return "", ""
	}
	app := load.Roles[roleApp].CPUSeconds / load.Seconds
	for _, name := range slices.Sorted(maps.Keys(load.Roles)) {
		if name == roleApp || name == roleTool {
			continue
		}
		if cores := load.Roles[name].CPUSeconds / load.Seconds; cores >= fullCore && cores > app {
			return limitedByDatabase, fmt.Sprintf("%s used %.2f cores, the app %.2f", name, cores, app)
		}
	}
	return "", ""
}

func (s *seen) byLoop(meter.Usage) (by, why string) {
	if s.loop < fullLoop {
		return "", ""
	}
	return limitedByLoop, fmt.Sprintf("Node's event loop was busy %.0f %% of the time", s.loop*100)
}

// killedForMemory says whether a process was killed for want of memory.
func (s *seen) killedForMemory() bool {
	for _, role := range s.usage.Roles {
		if role.More["oom_kills"] > 0 {
			return true
		}
	}
	return false
}
