package record

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// A platformResult is a result file of Meteor's bench platform. What it does not measure is absent.
type platformResult struct {
	Timestamp time.Time `json:"timestamp"`
	Meteor    struct {
		Version string `json:"version"`
		SHA     string `json:"sha"`
	} `json:"meteor"`
	Scenario string          `json:"scenario"`
	App      string          `json:"app"`
	Wall     float64         `json:"wall_clock_ms"`
	Metrics  platformMetrics `json:"metrics"`
	Metric   string          `json:"metric"` // of a file that is one metric alone
}

type platformMetrics struct {
	App *platformProcess `json:"app_resources"`
	DB  *platformProcess `json:"db_resources"`
	GC  *struct {
		Total float64 `json:"total_pause_ms"`
	} `json:"gc"`
	Fanout *struct {
		P50 float64 `json:"fanout_p50_ms"`
		P95 float64 `json:"fanout_p95_ms"`
		P99 float64 `json:"fanout_p99_ms"`
	} `json:"fanout"`
	Bundle *struct {
		Total float64 `json:"total_kb"`
	} `json:"bundle_size"`
	ColdStart *struct {
		Runs []float64 `json:"runs"` // ms
	} `json:"cold_start"`
}

type platformProcess struct {
	CPU struct {
		Avg float64 `json:"avg"` // percent
	} `json:"cpu"`
	Memory struct {
		Avg float64 `json:"avg_mb"`
		Max float64 `json:"max_mb"`
	} `json:"memory"`
}

func importBenchPlatform(_ string, b []byte, o Importing) (*Record, error) {
	var p platformResult
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, err
	}
	if p.Metric != "" { // gc alone, say: its figures stand at the top
		alone, err := json.Marshal(map[string]json.RawMessage{p.Metric: b})
		if err == nil {
			err = json.Unmarshal(alone, &p.Metrics)
		}
		if err != nil {
			return nil, err
		}
		p.Scenario = p.Metric
	}
	if o.Scenario == "" {
		o.Scenario = p.Scenario
	}
	if o.Version == "" {
		o.Version = strings.TrimPrefix(p.Meteor.Version, "release/METEOR@")
	}
	if !p.Timestamp.IsZero() {
		o.Created = p.Timestamp
	}
	runs := p.runs()
	if o.Scenario == "" || len(runs) == 0 {
		return nil, errors.New("it names no scenario, or has no figure that is known")
	}
	rec := newImport("bench-platform", o, Load{}, p.App)
	rec.Commit = p.Meteor.SHA
	for i := range runs {
		rec.Scenarios[0].Runs = append(rec.Scenarios[0].Runs, Run{Arm: Head, Index: i, Pair: i, Started: rec.Created, Outcome: OK, Metrics: runs[i]})
	}
	return rec, nil
}

// runs returns the metrics of each run; a file of cold starts has several.
func (p *platformResult) runs() []map[string]float64 {
	m := p.Metrics
	if m.ColdStart != nil {
		var runs []map[string]float64
		for _, ms := range m.ColdStart.Runs {
			runs = append(runs, map[string]float64{"startup": round(ms / 1e3)})
		}
		return runs
	}
	found := make(map[string]float64)
	if m.Bundle != nil { // the wall clock is the build's
		found["size"] = m.Bundle.Total * 1e3
		return []map[string]float64{found}
	}
	for role, process := range map[string]*platformProcess{"": m.App, "db.": m.DB} {
		if process != nil {
			found[role+"cpu"] = round(process.CPU.Avg / 100)
			found[role+"ram"] = round(process.Memory.Avg * 1e6)
			found[role+"ram_peak"] = round(process.Memory.Max * 1e6)
		}
	}
	if m.GC != nil {
		found["node.gc"] = round(m.GC.Total / 1e3)
	}
	if f := m.Fanout; f != nil {
		found["latency.foreign.p50"], found["latency.foreign.p95"], found["latency.foreign.p99"] = round(f.P50/1e3), round(f.P95/1e3), round(f.P99/1e3)
	}
	if len(found) == 0 {
		return nil
	}
	if p.Wall > 0 {
		found["time"] = round(p.Wall / 1e3)
		derive(found)
	}
	return []map[string]float64{found}
}
