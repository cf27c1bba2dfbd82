package gate

import (
	"fmt"
	"math"
	"strings"

	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/stat"
)

// healthy is the share of sessions that must end well for an arm to be in order, and for a run's figures to mean anything.
const healthy = 0.99

// A side is one arm of one scenario: the runs that may be judged, in the order in which they were made.
type side struct {
	present   bool          // the record has the scenario
	runs      []*record.Run // outcome ok or failed
	attempted int           // runs that were made, judged or not
	invalid   int           // runs that may not be judged
	died      int           // of the judged runs, those in which the app ended by itself
	sessions  stat.Count    // of the judged runs
	doubtful  bool          // a judged run carries a reason why it may be no pass
}

// newSide sorts an arm's runs. What is not judged goes to discard.
func newSide(s *record.Scenario, arm string, discard func(*record.Run)) side {
	if s == nil {
		return side{}
	}
	sd := side{present: true, runs: make([]*record.Run, 0, len(s.Runs))}
	for i := range s.Runs {
		r := &s.Runs[i]
		if r.Arm != arm {
			continue
		}
		sd.attempted++
		if r.Outcome != record.OK && r.Outcome != record.Failed {
			sd.invalid++
			discard(r)
			continue
		}
		sd.runs = append(sd.runs, r)
		sd.sessions = sd.sessions.Plus(count(r))
		sd.doubtful = sd.doubtful || len(r.Reasons) > 0 && (r.Outcome == record.OK || r.LimitedBy == "host")
		if r.Died {
			sd.died++
		}
	}
	return sd
}

func count(r *record.Run) stat.Count { return stat.Count{OK: r.Sessions.OK, Of: r.Sessions.Planned} }

// sound says whether the side is a healthy arm: something ran, nothing died, and its sessions ended well.
func (s side) sound() bool {
	return len(s.runs) > 0 && s.died == 0 && !(s.sessions.Share() < healthy)
}

// whole says whether a run's figures may be compared: a failed run is never a fast run.
func whole(r *record.Run) bool {
	if r.Outcome == record.OK {
		return true
	}
	c := count(r)
	return r.Outcome == record.Failed && !r.Died && c.Of > 0 && c.Share() >= healthy
}

// value returns the logarithm of a run's metric, or why it has none that a ratio can be formed with.
func value(r *record.Run, name string) (logarithm float64, problem string) {
	v, ok := r.Metrics[name]
	switch {
	case !whole(r) && r.Died:
		return 0, "the app died"
	case !whole(r):
		return 0, fmt.Sprintf("%d of %d sessions failed", r.Sessions.Planned-r.Sessions.OK, r.Sessions.Planned)
	case !ok && r.Missing[name] != "":
		return 0, r.Missing[name]
	case !ok:
		return 0, "it was not measured"
	case math.IsNaN(v) || math.IsInf(v, 0):
		return 0, "it is no number"
	case v <= 0:
		return 0, fmt.Sprintf("it is %g, and only values above 0 have a ratio", v)
	}
	return math.Log(v), ""
}

// values returns the logarithms of the runs that have the metric, and what is wrong with the others: fatal where a value is
// there that must not be, else a warning.
func (s side) values(name, arm string) (logarithms []float64, warning, fatal string) {
	logarithms = make([]float64, 0, len(s.runs))
	lacking, why := 0, ""
	for _, r := range s.runs {
		v, problem := value(r, name)
		if problem == "" {
			logarithms = append(logarithms, v)
			continue
		}
		lacking, why = lacking+1, problem
		if _, there := r.Metrics[name]; there && whole(r) {
			fatal = fmt.Sprintf("run %d of %s: %s", r.Index+1, arm, problem)
		}
	}
	if lacking > 0 {
		warning = fmt.Sprintf("%d of %d runs of %s do not count: %s", lacking, len(s.runs), arm, why)
	}
	return logarithms, warning, fatal
}

// has says whether any judged run has the metric.
func (s side) has(name string) bool {
	for _, r := range s.runs {
		if _, ok := r.Metrics[name]; ok {
			return true
		}
	}
	return false
}

// discarded describes a run that is not judged.
func discarded(scenario string, r *record.Run) Discarded {
	d := Discarded{Scenario: scenario, Arm: r.Arm, Index: r.Index, Reasons: r.Reasons}
	if len(d.Reasons) == 0 {
		d.Reasons = []string{strings.TrimSpace(string(r.Outcome) + " run")}
	}
	return d
}
