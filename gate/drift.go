package gate

import (
	"fmt"
	"math"
	"time"

	"github.com/ddpgate/ddpgate/record"
)

// A Drift holds the newest nights against those of some time ago, so that many small steps do not pass unseen.
type Drift struct {
	Days    int     `json:"days"`
	Change  float64 `json:"change"` // ratio
	Outcome Outcome `json:"verdict"`
	N       int     `json:"n"` // nights on the smaller side

	// From, To and Newest are the nights of the history that were held against each other: those from From up to To, and those from Newest on.
	From   int `json:"from"`
	To     int `json:"to"`
	Newest int `json:"newest"`
}

const (
	driftNights = 5 // on each side
	driftFewest = 3
	driftSlack  = 15 * 24 * time.Hour // how much older than wanted a night may be
)

// drifts judges the newest nights against those of 30 and of 90 days before the newest. What was accepted meanwhile is where it starts.
func (h *historian) drifts() {
	for _, days := range []int{30, 90} {
		d := Drift{Days: days, Newest: max(0, len(h.nights)-driftNights)}
		d.From, d.To = h.ago(days)
		head, base := h.stretch(d.Newest, len(h.nights)), h.stretch(d.From, d.To)
		if base == nil || head == nil {
			continue
		}
		p := h.policy
		p.History, p.AA, p.Looks = nil, nil, Looks{}
		v, err := Judge(base, head, p)
		if err != nil {
			h.Warnings = append(h.Warnings, fmt.Sprintf("drift over %d days: %v", days, err))
			continue
		}
		for i := range h.Trends {
			h.drift(&h.Trends[i], v, d)
		}
	}
}

func (h *historian) drift(t *Trend, v *Verdict, d Drift) {
	for _, f := range v.Metrics {
		if f.Scenario != t.Scenario || f.Metric != t.Metric || math.IsNaN(f.Change) {
			continue
		}
		d.Change, d.Outcome, d.N = f.Change, f.Outcome, min(f.NBase, f.NHead)
		t.Drifts = append(t.Drifts, d)
		if f.Outcome == Regression && t.Gated && t.Outcome != Regression {
			t.Outcome = Regression
			t.Reason = fmt.Sprintf("%s of %s drifted by %+.1f %% in %d days, without one step that large", t.Metric, t.Scenario, f.Change*100, d.Days)
		}
	}
}

// ago returns the nights of so many days before the newest. Nothing before the last acceptance counts.
func (h *historian) ago(days int) (from, to int) {
	end := h.nights[len(h.nights)-1].Measured.AddDate(0, 0, -days)
	for i, n := range h.nights {
		if n.Accepted != "" {
			from = i
		}
		if !n.Measured.After(end) {
			to = i + 1
		}
	}
	for from < to && (to-from > driftNights || end.Sub(h.nights[from].Measured) > driftSlack) {
		from++
	}
	return from, to
}

// stretch returns nights as one record with a run a night, as they would have been on the newest machine; nil for too few.
func (h *historian) stretch(from, to int) *record.Record {
	if to-from < driftFewest {
		return nil
	}
	rec := &record.Record{Created: h.nights[to-1].Measured}
	for _, name := range h.scenarios() {
		newest, _ := h.newest(name)
		s := record.Scenario{Name: name, Identity: newest.identity}
		for i := from; i < to; i++ {
			o, ok := h.nights[i].scenarios[name]
			if !ok || o.identity != newest.identity {
				continue
			}
			s.Runs = append(s.Runs, record.Run{
				Arm: record.Head, Index: i, Outcome: record.OK, Metrics: make(map[string]float64),
				Sessions: record.Sessions{Planned: o.sessions.Of, Started: o.sessions.Of, OK: o.sessions.OK, Failed: o.sessions.Of - o.sessions.OK},
			})
		}
		h.fill(&s, from)
		rec.Scenarios = append(rec.Scenarios, s)
	}
	return rec
}

// fill gives the runs the aligned values of their nights.
func (h *historian) fill(s *record.Scenario, from int) {
	at := make(map[int]int)
	for i := range s.Runs {
		at[s.Runs[i].Index] = i
	}
	for _, t := range h.Trends {
		if t.Scenario != s.Name || t.Metric == "ok" {
			continue
		}
		for _, p := range t.Points {
			if i, ok := at[p.Night]; ok && p.Night >= from && !p.Spike {
				s.Runs[i].Metrics[t.Metric] = math.Exp(p.aligned)
			}
		}
	}
}
