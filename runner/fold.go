package runner

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/meter"
	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/scenario"
)

// roleApp is the role whose metrics have no prefix.
const roleApp = "app"

// fold makes one run of what was seen: the only place where figures become a record.
func (s *seen) fold(sc scenario.Scenario) (record.Run, error) {
	run := record.Run{Metrics: map[string]float64{}, Missing: map[string]string{}}
	if s.part != nil {
		if err := s.foldPart(&run); err != nil {
			return record.Run{}, err
		}
	}
	s.judge(sc, &run)
	if s.started {
		run.Metrics["startup"] = s.startup
	}
	load := s.usage.Between(s.begun, s.ended)
	s.foldNode(&run, load)
	s.limit(&run, load)
	s.foldUsage(&run, load)
	run.Metered = s.metered
	if len(run.Missing) == 0 {
		run.Missing = nil
	}
	return run, nil
}

// foldPart takes over what the driver saw.
func (s *seen) foldPart(run *record.Run) error {
	p := s.part
	run.Metrics, run.Missing = p.Metrics()
	run.Sessions = record.Sessions{Planned: p.Planned, Started: p.Started, OK: p.OK, Failed: p.Failed, Late: p.Late, Dropped: p.Dropped}
	run.Extensions, run.Regions = p.Extensions, p.Regions
	for _, d := range p.Sources {
		run.Shards = append(run.Shards, record.Shard{
			Shard: d.Share.Index, Worker: d.Worker, Region: d.Region, Machine: d.Machine, Sessions: d.Sessions,
			CPUSeconds: d.Self.CPU, Busy: d.Self.Busy, Lag: d.Lag, Ahead: [2]float64{d.Ahead.Low, d.Ahead.High}, Duplicates: d.Duplicates, Fault: d.Fault,
		})
	}
	for _, f := range p.Failures {
		run.Errors = append(run.Errors, record.Error{Cause: f.Cause, Count: f.Count, Example: f.Example})
	}
	run.Histograms = make(map[string]string, len(p.Histograms))
	for name, h := range p.Histograms {
		text, err := h.EncodeCoarse() // the quantiles are among the metrics, exact
		if err != nil {
			return fmt.Errorf("histogram %s: %w", name, err)
		}
		run.Histograms[name] = text
		if n := h.Censored(); n > 0 {
			if run.Censored == nil {
				run.Censored = make(map[string]int64)
			}
			run.Censored[name] = n
		}
	}
	return nil
}

// foldUsage adds what the processes used over the load. Where the load was cut short or failed, its figures are those of
// another load and are missing, like its length.
func (s *seen) foldUsage(run *record.Run, load meter.Usage) {
	s.foldSeries(run, load)
	foldHost(run, load)
	whole, known := run.Metrics["time"]
	switch {
	case !known || run.Outcome != record.OK && run.Outcome != record.Invalid:
		s.miss(run, load, "the load was not carried out whole")
		return
	case s.unmetered != nil:
		s.miss(run, load, s.unmetered.Error())
		return
	}
	run.Metrics["driver.cpu_seconds"] = s.part.Self.CPU
	run.Metrics["meter.cpu_seconds"] = load.Cost
	settled := s.usage.RAMAt(s.settled)
	for name, role := range load.Roles {
		p := prefix(name)
		if role.Broken != "" {
			for _, figure := range figures {
				run.Missing[p+figure] = role.Broken
			}
			continue
		}
		run.Metrics[p+"cpu_seconds"] = role.CPUSeconds
		run.Metrics[p+"ram"] = role.RAMMean
		run.Metrics[p+"ram_peak"] = role.RAMPeak
		if whole > 0 {
			run.Metrics[p+"cpu"] = role.CPUSeconds / whole
		}
		if ram, found := settled[name]; found {
			run.Metrics[p+"ram_settled"] = ram
		} else {
			run.Missing[p+"ram_settled"] = "no process was left after the load"
		}
		foldMore(run, p, role)
	}
	if len(load.Roles) == 0 && s.started {
		s.miss(run, load, "no process was seen")
	}
}

// foldMore adds what the system tells of some roles only.
func foldMore(run *record.Run, prefix string, role meter.Role) {
	for name, value := range role.More {
		if _, known := metric.Lookup(name); known {
			run.Metrics[prefix+name] = value
		}
	}
	for name, why := range role.Missing {
		_, known := metric.Lookup(name)
		if _, there := role.More[name]; known && !there {
			run.Missing[prefix+name] = why
		}
	}
}

// foldHost adds what the machine did.
func foldHost(run *record.Run, load meter.Usage) {
	for name, value := range load.Host.Shares {
		if _, known := metric.Lookup("host." + name); known {
			run.Metrics["host."+name] = value
		}
	}
	if run.Series == nil {
		return
	}
	for name, points := range load.Host.Series {
		run.Series["host."+name] = hundredths(points)
	}
}

// figures are the metrics that a role gets from its processes.
var figures = []string{"cpu_seconds", "cpu", "ram", "ram_peak", "ram_settled"}

// miss says of each role why it has no figures. An app that was not started here has no role.
func (s *seen) miss(run *record.Run, load meter.Usage, why string) {
	roles := slices.Collect(maps.Keys(load.Roles))
	if (s.started || s.unmetered != nil) && !slices.Contains(roles, roleApp) {
		roles = append(roles, roleApp)
	}
	for _, role := range roles {
		for _, name := range figures {
			run.Missing[prefix(role)+name] = why
		}
	}
}

func prefix(role string) string {
	if role == roleApp {
		return ""
	}
	return role + "."
}

// foldSeries puts processor, memory and sessions on one time axis.
func (s *seen) foldSeries(run *record.Run, load meter.Usage) {
	if len(load.T) == 0 || s.part == nil {
		return
	}
	run.Series = map[string][]float64{"t": hundredths(load.T)}
	for name, role := range load.Roles {
		run.Series[name+".cpu"], run.Series[name+".ram"] = thousandths(role.CPU), fourDigits(role.RAM)
	}
	for name, points := range s.nodeSeries {
		run.Series["node."+name] = fourDigits(points)
	}
	run.Series["sessions"] = levels(s.part.Active, load.T, s.part.Start.Sub(load.Start).Seconds())
}

// levels returns how many sessions were at work at each time t. The levels' own times start later by the shift.
func levels(active []drive.Level, t []float64, shift float64) []float64 {
	counts := make([]float64, len(t))
	now, next := 0, 0
	for i, at := range t {
		for next < len(active) && active[next].T+shift <= at {
			now = active[next].Sessions
			next++
		}
		counts[i] = float64(now)
	}
	return counts
}

// judge decides what became of the run and says why.
func (s *seen) judge(sc scenario.Scenario, run *record.Run) {
	because := func(format string, args ...any) { run.Reasons = append(run.Reasons, fmt.Sprintf(format, args...)) }
	run.LimitedBy = limitedByNone
	switch {
	case s.exit != nil:
		run.Outcome = record.Invalid // a database that went away says nothing of the app
		if s.exit.Role == roleApp {
			run.Outcome, run.Died, run.LimitedBy = record.Failed, true, limitedByApp
		}
		because("%s", s.exit)
		if s.killedForMemory() {
			because("a process was killed for want of memory")
		}
		s.account(run)
		return
	case s.stopped != nil:
		run.Outcome = record.Interrupted
		because("%s", cut(s.stopped))
		return
	}
	run.Outcome = record.OK
	if p := s.part; float64(p.OK) < drive.Healthy*float64(p.Planned) || p.Planned == 0 {
		run.Outcome = record.Failed
		because("%d of %d sessions did not end well", p.Planned-p.OK, p.Planned)
	}
	s.validate(sc, run)
}

// account closes the sums of a load that ended with its app: sessions that were under way have failed, those not yet due were
// dropped.
func (s *seen) account(run *record.Run) {
	n := &run.Sessions
	if open := n.Started + n.Late - n.OK - n.Failed; open > 0 {
		n.Failed += open
		run.Errors = append(run.Errors, record.Error{Cause: errDied.Error(), Count: open})
	}
	n.Dropped = n.Planned - n.Started - n.Late
}

// cut says why a run was cut short.
func cut(cause error) string {
	if errors.Is(cause, errBudget) {
		return cause.Error()
	}
	return "stopped from outside"
}
