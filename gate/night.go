package gate

import (
	"fmt"
	"maps"
	"math"
	"regexp"
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
	Commit   string    `json:"commit,omitempty"`   // of the build, see Observe
	Version  string    `json:"version,omitempty"`  // of the app
	Pinned   string    `json:"pinned,omitempty"`   // version of the base arm, which the head arm was held against
	Accepted string    `json:"accepted,omitempty"` // why the record became the baseline though it was worse

	Repository string `json:"repository,omitempty"` // owner/name on GitHub that Commit is of; empty where that is not known
	Machine    string `json:"machine,omitempty"`    // its kind: processor, cores, system
	Verdict    string `json:"verdict,omitempty"`    // on the record when it was saved; whoever reads the store knows it

	machine     string  // its id
	paired      bool    // head was measured beside a base arm, whatever became of that
	calibration float64 // median, s of CPU; 0 for none
	scenarios   map[string]observed
	unfit       map[string]string // scenarios of which no run may be judged, and why
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
	base            float64   // 0 where the record has no base arm
	runs            []float64 // of head, one by one
	pairs           []float64 // ratios of head to base, one by one
}

// Observe takes from a record what a history needs. accepted says why it became the baseline though it was worse, if it did. Runs that may not be judged
// are left out, as they are in Judge. The build's commit is the app's version where that is one, else that of the repository which it was measured in: the
// two are not the same where a build of another repository is measured.
func Observe(rec *record.Record, accepted string) Night {
	e := rec.Environment
	n := Night{
		ID: rec.ID, Measured: rec.Created, Commit: built(rec), Version: rec.Apps[record.Head].Version, Pinned: rec.Apps[record.Base].Version, Accepted: accepted,
		machine: e.Machine, calibration: finiteOrZero(stat.Median(e.Calibration)), scenarios: make(map[string]observed), unfit: make(map[string]string),
	}
	_, n.paired = rec.Apps[record.Base]
	if n.Commit == rec.Commit {
		n.Repository = rec.Repository
	}
	if !nameless(e) {
		n.Machine = fmt.Sprintf("%s, %d cores, %s, %s", e.CPU, e.Cores, e.OS, e.Arch)
	}
	for i := range rec.Scenarios {
		s := &rec.Scenarios[i]
		why := "it has no run"
		head := newSide(s, record.Head, func(r *record.Run) { why = "no run may be judged: " + discarded(s.Name, r).Reasons[0] })
		base := newSide(s, record.Base, func(*record.Run) {})
		if o := observe(head, base); len(o.figures) > 0 {
			o.identity = s.Identity
			n.scenarios[s.Name] = o
		} else {
			n.unfit[s.Name] = why
		}
	}
	return n
}

// commitForm is a commit, as git rev-parse writes it.
var commitForm = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

func built(rec *record.Record) string {
	if version := rec.Apps[record.Head].Version; commitForm.MatchString(version) {
		return version
	}
	return rec.Commit
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
		f := figure{head: math.Exp(stat.Median(logs)), low: math.Exp(slices.Min(logs)), high: math.Exp(slices.Max(logs)), runs: exponentials(logs)}
		if logs, _, _ := base.values(name, record.Base); len(logs) > 0 {
			f.base = math.Exp(stat.Median(logs))
			f.pairs = ratios(head, base, name)
		}
		o.figures[name] = f
	}
	if head.sessions.Of > 0 {
		share := max(head.sessions.Share(), 0.5/float64(head.sessions.Of)) // a trend is one of logarithms, and none is no missing night
		f := figure{head: share, low: share, high: share}
		for _, r := range head.runs {
			if c := count(r); c.Of > 0 {
				f.runs = append(f.runs, c.Share())
			}
		}
		o.figures["ok"] = f
	}
	return o
}

func exponentials(logarithms []float64) []float64 {
	all := make([]float64, len(logarithms))
	for i, v := range logarithms {
		all[i] = math.Exp(v)
	}
	return all
}

// ratios returns a metric's ratio of head to base, a pair of runs each.
func ratios(head, base side, name string) []float64 {
	var all []float64
	for _, p := range pairsOf(base, head) {
		b, missing := value(p.base, name)
		h, lacking := value(p.head, name)
		if missing == "" && lacking == "" {
			all = append(all, math.Exp(h-b))
		}
	}
	return all
}

func finiteOrZero(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
