// Package drive puts one load on an app from this process: it starts the sessions of a scenario when they are due, has
// each one do its steps over DDP, and keeps what that took.
package drive

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ddpgate/ddpgate/metric"
)

// A Part is what one driver saw of one run. A run driven from several places has several parts, merged.
type Part struct {
	Start time.Time `json:"start"` // when session 0 was due
	Time  float64   `json:"time"`  // s, first session due until last session over
	Floor float64   `json:"floor"` // s, what Time would be if the app answered at once

	// Planned = Started + Late + Dropped, where Started were on time, Late over 50 ms behind, and Dropped never started.
	// Started + Late = OK + Failed.
	Planned   int `json:"planned"`
	Started   int `json:"started"`
	OK        int `json:"ok"`
	Failed    int `json:"failed"`
	Late      int `json:"late"`
	Dropped   int `json:"dropped"`
	Exhausted int `json:"exhausted"` // of the failed: this machine ran out of descriptors or ports
	Actions   int `json:"actions"`   // completed calls by the user

	// Histograms by name: session, session.wait, lag (how late a session started), connect, ready, visible, foreign,
	// and for each method NAME (until its result) and NAME.updated.
	Histograms map[string]*metric.Histogram `json:"histograms"`
	Failures   []Failure                    `json:"failures,omitempty"` // most frequent first
	Active     []Level                      `json:"active,omitempty"`   // how many sessions were at work, over time

	Results map[string]Size `json:"results,omitempty"` // of the results that came, by method
	Self    Self            `json:"self"`              // what the driver itself went through

	DataMessages int64  `json:"data_messages"` // added, changed and removed that came
	Bytes        int64  `json:"bytes"`         // of messages that came, uncompressed
	Odd          int64  `json:"odd"`           // frames that were no DDP message and were survived
	Extensions   string `json:"extensions"`    // what was negotiated for the socket, as the server said it

	// What follows is of a load that several drivers put on the app; the zero value is of one that this process did.

	Sources []Source `json:"sources,omitempty"` // the drivers, by share
	Faults  []string `json:"faults,omitempty"`  // why the load was not the one that was asked for: it may not be judged

	// Regions are the metrics of each region's drivers, merged, where there are several regions.
	Regions map[string]map[string]float64 `json:"regions,omitempty"`
}

// A Failure is one cause of failed sessions.
type Failure struct {
	Cause   string `json:"cause"` // names the step, without what differs from session to session
	Count   int    `json:"count"`
	Example string `json:"example,omitempty"` // one session's full error
}

// A Size is how large some results were, as raw JSON.
type Size struct {
	Count int64 `json:"count"`
	Bytes int64 `json:"bytes"`
	Max   int64 `json:"max"` // bytes
}

func (s *Size) add(other Size) {
	s.Count += other.Count
	s.Bytes += other.Bytes
	s.Max = max(s.Max, other.Max)
}

// Mean returns the mean size in bytes, 0 for no results.
func (s Size) Mean() float64 { return float64(s.Bytes) / float64(max(1, s.Count)) }

// Self is what this process went through during the load: what else than the app may have made a session wait.
type Self struct {
	CPU         float64 `json:"cpu"`          // s, of CPU time
	Busy        float64 `json:"busy"`         // CPU over the time that the load took and the cores that the driver might use
	Sched       float64 `json:"sched"`        // s that a goroutine waited for a processor, 99th percentile
	Pauses      float64 `json:"pauses"`       // s in all for which garbage collections stopped the process
	LongestStop float64 `json:"longest_stop"` // s, the longest of these pauses
	Descriptors int     `json:"descriptors"`  // open at most; 0 where the system does not tell
}

// A Source is one driver of several, and what it was to do.
type Source struct {
	Share    Share   `json:"share"`
	Worker   string  `json:"worker,omitempty"` // which process it was; empty where it never answered
	Region   string  `json:"region,omitempty"` // empty for this machine
	Machine  string  `json:"machine,omitempty"`
	Sessions int     `json:"sessions"` // that it had to start
	Self     Self    `json:"self"`
	Lag      float64 `json:"lag"`   // s by which it started sessions late, 99th percentile
	Ahead    Range   `json:"ahead"` // s by which its clock was ahead of the coordinator's
	// Duplicates are workers that were handed the same share, and whose answers were dropped.
	Duplicates int    `json:"duplicates,omitempty"`
	Fault      string `json:"fault,omitempty"` // why there is no part of it, or one that may not be judged
}

// A Range is what a figure lies in.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A Level is a number of sessions at a time.
type Level struct {
	T        float64 `json:"t"` // s from Start
	Sessions int     `json:"sessions"`
}

// histograms that are no latencies keep their names as metrics.
var quantiles = map[string][]string{
	"session":      {"p50", "p95", "p99"},
	"session.wait": {"p50", "p95"},
}

// Metrics returns the part's metrics, one number each in base units, and why each one is missing that could not be had.
func (p *Part) Metrics() (values map[string]float64, missing map[string]string) {
	values, missing = make(map[string]float64), make(map[string]string)
	values["ok"] = float64(p.OK) / float64(max(1, p.Planned))
	p.timed(values, missing)
	for _, name := range slices.Sorted(maps.Keys(p.Histograms)) {
		h := p.Histograms[name]
		prefix, qs := name, quantiles[name]
		switch {
		case name == "lag":
			prefix, qs = "driver.lag", []string{"p99"}
		case qs == nil:
			prefix, qs = "latency."+name, []string{"p50", "p95", "p99"}
		}
		for _, q := range qs {
			set(values, missing, h, prefix+"."+q, q)
		}
	}
	for method, size := range p.Results {
		values["result."+method+".bytes"] = size.Mean()
	}
	values["driver.sched.p99"], values["driver.gc"] = p.Self.Sched, p.Self.Pauses
	if h := p.Histograms["session"]; h != nil && h.Count() > 0 && h.Censored() == 0 {
		values["session.max"] = h.Max()
	}
	return values, missing
}

// Healthy is the share of sessions that must end well for a load's length to mean anything.
const Healthy = 0.99

// timed sets what rests on the length of the whole load. A load in which more than a few sessions failed has no length to
// compare: a failed run is never a fast run.
func (p *Part) timed(values map[string]float64, missing map[string]string) {
	names := []string{"time", "time_above_floor", "throughput"}
	if float64(p.OK) < Healthy*float64(p.Planned) || p.Planned == 0 {
		for _, n := range names {
			missing[n] = fmt.Sprintf("%d of %d sessions did not end well", p.Planned-p.OK, p.Planned)
		}
		return
	}
	values["time"] = p.Time
	values["time_above_floor"] = p.Time - p.Floor
	switch {
	case p.Actions == 0:
		missing["throughput"] = "the scenario has no actions"
	case p.Time > 0:
		values["throughput"] = float64(p.Actions) / p.Time
	}
}

var ranks = map[string]float64{"p50": 0.5, "p95": 0.95, "p99": 0.99}

func set(values map[string]float64, missing map[string]string, h *metric.Histogram, name, q string) {
	if v, ok := h.Quantile(ranks[q]); ok {
		values[name] = v
		return
	}
	missing[name] = "nothing was recorded"
	if n := h.Censored(); n > 0 {
		missing[name] = fmt.Sprintf("%d of %d attempts ended without an answer", n, n+h.Count())
	}
}

// Progress is how far a load has come.
type Progress struct {
	Elapsed time.Duration `json:"elapsed"`
	Left    time.Duration `json:"left"` // an estimate

	// Sessions.
	Planned int `json:"planned"`
	Started int `json:"started"`
	Over    int `json:"over"`
	Failed  int `json:"failed"`
}
