package gate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/stat"
)

// A Night is what a history keeps of one record: one number a metric. It is small, so that thousands can be held.
type Night struct {
	ID       string    `json:"id"`
	Measured time.Time `json:"measured"`
	Commit   string    `json:"commit,omitempty"`
	Version  string    `json:"version,omitempty"`  // of the app
	Pinned   string    `json:"pinned,omitempty"`   // version of the base arm, which the head arm was held against
	Accepted string    `json:"accepted,omitempty"` // why the record became the baseline though it was worse

	machine     string  // its id
	kind        string  // of machine
	calibration float64 // median, s of CPU; 0 for none
	scenarios   map[string]observed
}

// observed is what a night saw of one scenario.
type observed struct {
	identity string
	figures  map[string]figure
	sessions stat.Count
}

// A figure is one metric of one night: medians over the runs of each arm, and the extremes of head, all in base units.
type figure struct {
	head, low, high float64
	base            float64 // 0 where the record has no base arm
}

// Observe takes from a record what a history needs. accepted says why it became the baseline though it was worse, if it did. Runs that may not be judged
// are left out, as they are in Judge.
func Observe(rec *record.Record, accepted string) Night {
	e := rec.Environment
	n := Night{
		ID: rec.ID, Measured: rec.Created, Commit: rec.Commit, Version: rec.Apps[record.Head].Version, Pinned: rec.Apps[record.Base].Version, Accepted: accepted,
		machine: e.Machine, calibration: finiteOrZero(stat.Median(e.Calibration)), scenarios: make(map[string]observed),
	}
	if !nameless(e) {
		n.kind = fmt.Sprintf("%s, %d cores, %s, %s", e.CPU, e.Cores, e.OS, e.Arch)
	}
	for i := range rec.Scenarios {
		s := &rec.Scenarios[i]
		head, base := newSide(s, record.Head, func(*record.Run) {}), newSide(s, record.Base, func(*record.Run) {})
		if o := observe(head, base); len(o.figures) > 0 {
			o.identity = s.Identity
			n.scenarios[s.Name] = o
		}
	}
	return n
}

func observe(head, base side) observed {
	o := observed{figures: make(map[string]figure), sessions: head.sessions}
	names := make(map[string]bool)
	for _, r := range head.runs {
		for name := range r.Metrics {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		def, ok := metric.Lookup(name)
		logs, _, _ := head.values(name, record.Head)
		if !ok || def.Counts || len(logs) == 0 {
			continue
		}
		f := figure{head: math.Exp(stat.Median(logs)), low: math.Exp(slices.Min(logs)), high: math.Exp(slices.Max(logs))}
		if logs, _, _ := base.values(name, record.Base); len(logs) > 0 {
			f.base = math.Exp(stat.Median(logs))
		}
		o.figures[name] = f
	}
	if share := head.sessions.Share(); head.sessions.Of > 0 && share > 0 {
		o.figures["ok"] = figure{head: share, low: share, high: share}
	}
	return o
}

func finiteOrZero(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
