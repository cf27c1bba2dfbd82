// Package metric holds what ddpgate measures: the metrics' names, units and directions, and the histograms that
// latencies are kept in.
package metric

import (
	"slices"
	"strings"
)

// A Direction says which way a metric is better. The zero value means neither: such a metric is never gated.
type Direction int

// The directions.
const (
	Neither Direction = iota
	Lower
	Higher
)

// A Unit is a base unit. Figures are kept in base units everywhere but in reports.
type Unit string

// The units.
const (
	Seconds   Unit = "s"
	Bytes     Unit = "bytes"
	Ratio     Unit = "ratio" // 1 is all, or one core
	PerSecond Unit = "ops/s"
)

// A Def defines one metric.
type Def struct {
	Name   string // as in records, without a role
	Unit   Unit
	Better Direction
	Gated  bool   // by default
	Counts bool   // judged on counts of sessions, not as a ratio of means
	What   string // one line for people
}

// fixed are the metrics with one name. Order is the order of reports.
var fixed = []Def{
	{Name: "time", Unit: Seconds, Better: Lower, Gated: true, What: "first session due until last session over"},
	{Name: "time_above_floor", Unit: Seconds, Better: Lower, What: "time, less the part that arrivals and think time alone take"},
	{Name: "session.wait.p50", Unit: Seconds, Better: Lower, Gated: true, What: "the part of a session spent waiting for the app, median"},
	{Name: "session.wait.p95", Unit: Seconds, Better: Lower, What: "the part of a session spent waiting for the app, 95th percentile"},
	{Name: "session.p50", Unit: Seconds, Better: Lower, What: "a session's length from when it was due, median"},
	{Name: "session.p95", Unit: Seconds, Better: Lower, What: "a session's length from when it was due, 95th percentile"},
	{Name: "session.p99", Unit: Seconds, Better: Lower, What: "a session's length from when it was due, 99th percentile"},
	{Name: "session.max", Unit: Seconds, Better: Lower, What: "the longest session, from when it was due"},
	{Name: "cpu_seconds", Unit: Seconds, Better: Lower, Gated: true, What: "CPU time that the process tree used in the run"},
	{Name: "cpu", Unit: Ratio, Better: Lower, What: "cpu_seconds over time; 1 is one core"},
	{Name: "ram", Unit: Bytes, Better: Lower, Gated: true, What: "resident memory, mean over the load"},
	{Name: "ram_peak", Unit: Bytes, Better: Lower, What: "resident memory, largest sample over the load"},
	{Name: "ram_settled", Unit: Bytes, Better: Lower, What: "resident memory after the last disconnect"},
	{Name: "ram_pss", Unit: Bytes, Better: Lower, What: "memory with shared pages divided by how many share them, mean over the load"},
	{Name: "ram_anon", Unit: Bytes, Better: Lower, What: "memory charged to the control group that belongs to no file, mean over the load"},
	{Name: "ram_file", Unit: Bytes, Better: Neither, What: "file cache charged to the control group, mean over the load"},
	{Name: "ram_shared", Unit: Bytes, Better: Lower, What: "shared memory charged to the control group, mean over the load"},
	{Name: "ram_charged", Unit: Bytes, Better: Neither, What: "the most that was ever charged to the control group, file cache included"},
	{Name: "throttled", Unit: Seconds, Better: Neither, What: "time that the control group had to wait for its CPU quota"},
	{Name: "throughput", Unit: PerSecond, Better: Higher, What: "completed actions per second"},
	{Name: "ok", Unit: Ratio, Better: Higher, Gated: true, Counts: true, What: "sessions that did everything and ended in the right state"},
	{Name: "startup", Unit: Seconds, Better: Lower, What: "process start until ready"},
	{Name: "size", Unit: Bytes, Better: Lower, What: "the app's directory"},
	{Name: "node.gc", Unit: Seconds, Better: Lower, What: "garbage collection pauses, total"},
	{Name: "node.loop.p99", Unit: Seconds, Better: Lower, What: "event-loop delay, 99th percentile"},
	{Name: "node.loop.p50", Unit: Seconds, Better: Lower, What: "event-loop delay, median"},
	{Name: "node.loop.used", Unit: Ratio, Better: Lower, What: "share of the time in which the event loop was busy"},
	{Name: "node.gc.max", Unit: Seconds, Better: Lower, What: "the longest garbage collection pause"},
	{Name: "node.gc.minor", Unit: Seconds, Better: Lower, What: "pauses of minor collections, total"},
	{Name: "node.gc.minor.max", Unit: Seconds, Better: Lower, What: "the longest pause of a minor collection"},
	{Name: "node.gc.major", Unit: Seconds, Better: Lower, What: "pauses of major collections, total"},
	{Name: "node.gc.major.max", Unit: Seconds, Better: Lower, What: "the longest pause of a major collection"},
	{Name: "node.gc.incremental", Unit: Seconds, Better: Lower, What: "pauses of incremental marking, total"},
	{Name: "node.gc.incremental.max", Unit: Seconds, Better: Lower, What: "the longest pause of incremental marking"},
	{Name: "node.gc.weak", Unit: Seconds, Better: Lower, What: "pauses for weak references, total"},
	{Name: "node.gc.weak.max", Unit: Seconds, Better: Lower, What: "the longest pause for weak references"},
	{Name: "node.heap", Unit: Bytes, Better: Lower, What: "JavaScript heap in use"},
	{Name: "host.steal", Unit: Ratio, Better: Neither, What: "processor time that the hypervisor gave to others"},
	{Name: "host.pressure", Unit: Ratio, Better: Neither, What: "share of time that tasks waited for a processor"},
	{Name: "driver.lag.p99", Unit: Seconds, Better: Neither, What: "how late sessions were started, 99th percentile"},
	{Name: "driver.sched.p99", Unit: Seconds, Better: Neither, What: "how long the driver's goroutines waited for a processor, 99th percentile"},
	{Name: "driver.gc", Unit: Seconds, Better: Neither, What: "garbage collection pauses of the driver, total"},
}

// suffixes end the names of the latency family, latency.NAME.SUFFIX. Longer ones come first.
var suffixes = []struct{ suffix, what string }{
	{".updated.p50", "call until its writes are visible, median"},
	{".updated.p95", "call until its writes are visible, 95th percentile"},
	{".updated.p99", "call until its writes are visible, 99th percentile"},
	{".p50", "median"},
	{".p95", "95th percentile"},
	{".p99", "99th percentile"},
}

// perRole are the metrics that another role than the app (a database, the driver) may have, under its prefix.
var perRole = []string{"cpu_seconds", "cpu", "ram", "ram_peak", "ram_settled",
	"ram_pss", "ram_anon", "ram_file", "ram_shared", "ram_charged", "throttled"}

// Lookup returns the definition of a metric by its full name. A metric of a role, such as db.ram, has its
// plain metric's definition under its own name and is not gated by default. ok is false for a name that no metric has.
func Lookup(name string) (def Def, ok bool) {
	for _, d := range fixed {
		if d.Name == name {
			return d, true
		}
	}
	if rest, found := strings.CutPrefix(name, "latency."); found {
		return latency(name, rest)
	}
	if rest, found := strings.CutPrefix(name, "result."); found {
		return resultSize(name, rest)
	}
	role, plain, found := strings.Cut(name, ".")
	if !found || role == "" || !slices.Contains(perRole, plain) {
		return Def{}, false
	}
	def, ok = Lookup(plain)
	def.Name, def.Gated = name, false
	def.What = role + ": " + def.What
	return def, ok
}

// resultSize is of the family result.METHOD.bytes.
func resultSize(name, rest string) (Def, bool) {
	of, found := strings.CutSuffix(rest, ".bytes")
	if !found || of == "" {
		return Def{}, false
	}
	return Def{Name: name, Unit: Bytes, Better: Lower, What: "size of a result of " + of + ", mean"}, true
}

func latency(name, rest string) (Def, bool) {
	for _, s := range suffixes {
		if of, found := strings.CutSuffix(rest, s.suffix); found && of != "" {
			return Def{Name: name, Unit: Seconds, Better: Lower, What: "latency of " + of + ", " + s.what}, true
		}
	}
	return Def{}, false
}

// Gated returns the names of the metrics that are gated by default, in the order of reports.
func Gated() []string {
	var names []string
	for _, d := range fixed {
		if d.Gated {
			names = append(names, d.Name)
		}
	}
	return names
}

// Names returns the metrics with one name, in the order of reports; the families (latency.NAME.p95, result.METHOD.bytes, ROLE.ram) are not in it.
func Names() []string {
	names := make([]string, len(fixed))
	for i, d := range fixed {
		names[i] = d.Name
	}
	return names
}

// Compare orders metric names as reports do: the fixed metrics in their order, then the others by name.
func Compare(a, b string) int {
	if d := rank(a) - rank(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

func rank(name string) int {
	for i, d := range fixed {
		if d.Name == name {
			return i
		}
	}
	return len(fixed)
}
