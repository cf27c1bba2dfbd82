package record

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
)

// k6Values are the figures of one metric of k6. --summary-export writes them bare, handleSummary under values.
type k6Values map[string]json.RawMessage

func (v k6Values) number(names ...string) (float64, bool) {
	for _, name := range names {
		var n float64
		if raw, found := v[name]; found && json.Unmarshal(raw, &n) == nil {
			return n, true
		}
	}
	return 0, false
}

// importK6 reads a summary of k6. An iteration is a session; one that was dropped was never begun.
func importK6(name string, b []byte, o Importing) (*Record, error) {
	var summary struct {
		Metrics map[string]k6Values `json:"metrics"`
		State   struct {
			Duration float64 `json:"testRunDurationMs"`
		} `json:"state"`
	}
	if err := json.Unmarshal(b, &summary); err != nil {
		return nil, err
	}
	for name, v := range summary.Metrics {
		var inner k6Values
		if raw, found := v["values"]; found && json.Unmarshal(raw, &inner) == nil {
			summary.Metrics[name] = inner
		}
	}
	count, found := summary.Metrics["iterations"].number("count")
	if !found || count < 1 || count > 1e9 {
		return nil, errors.New("it has no iterations: not a summary of k6")
	}
	if o.Scenario == "" {
		o.Scenario = strings.TrimSuffix(filepath.Base(name), ".json")
	}
	run := Run{Arm: Head, Outcome: OK, Metrics: make(map[string]float64), Started: o.Created.UTC()}
	dropped, _ := summary.Metrics["dropped_iterations"].number("count")
	run.Sessions = Sessions{Planned: int(count + dropped), Started: int(count), OK: int(count), Dropped: int(dropped)}
	seconds := summary.State.Duration / 1e3
	if rate, ok := summary.Metrics["iterations"].number("rate"); ok && seconds == 0 && rate > 0 {
		seconds = count / rate
	}
	if seconds > 0 {
		run.Metrics["time"] = round(seconds)
	}
	trends(summary.Metrics, run.Metrics)
	rec := newImport("k6", o, Load{}, "")
	rec.Scenarios[0].Runs = []Run{run}
	return rec, nil
}

// trends adds k6's trends, which are in ms. It gives no 99th percentile unless it is asked to.
func trends(from map[string]k6Values, to map[string]float64) {
	for trend, name := range map[string]string{"iteration_duration": "session", "http_req_duration": "latency.http", "ws_connecting": "latency.connect"} {
		for suffix, names := range map[string][]string{".p50": {"med", "p(50)"}, ".p95": {"p(95)"}, ".p99": {"p(99)"}} {
			if ms, found := from[trend].number(names...); found {
				to[name+suffix] = round(ms / 1e3)
			}
		}
	}
	if ms, found := from["iteration_duration"].number("max"); found {
		to["session.max"] = round(ms / 1e3)
	}
	if rate, found := from["http_reqs"].number("rate"); found {
		to["throughput"] = round(rate)
	}
}
