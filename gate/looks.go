package gate

import (
	"fmt"
	"slices"

	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/stat"
)

const (
	// looksInAll is how often the evidence is looked at between the least and the largest number of runs.
	looksInAll = 5
	// The levels are spent over the looks with these powers of the share of runs that were made: late for failures, which keeps
	// nearly the whole level for the last look, and almost evenly for passes, which are what ends most records early.
	rhoFail = 6
	rhoPass = 1.25
)

// At returns the numbers of runs a side at which the evidence is looked at, ascending: five of them or fewer, evenly from Min
// to Max, which is the last.
func (l Looks) At() []int {
	var at []int
	for i := range looksInAll {
		at = append(at, l.Min+(i*(l.Max-l.Min)+looksInAll/2)/(looksInAll-1))
	}
	at[looksInAll-1] = l.Max
	return slices.Compact(at)
}

// sequential says whether the number of runs was not fixed beforehand.
func (l Looks) sequential() bool { return l.Max > l.Min && l.Min > 0 }

// fractions returns the looks that lie behind and the present one, as shares of all runs. What comes after the last planned run
// is the last look.
func (l Looks) fractions(attempts int) []float64 {
	var shares []float64
	for _, n := range l.At() {
		if n < attempts && n < l.Max {
			shares = append(shares, float64(n)/float64(l.Max))
		}
	}
	return append(shares, min(1, float64(attempts)/float64(l.Max)))
}

// Settled says whether more runs could still change the verdict on head, which may hold a single scenario: at a look that was
// planned beforehand, no gated metric is undecided for want of runs, or all planned runs were made. It says why. A nil base stands
// for the base arm of head, or for nothing to hold head against; then the least number of runs is enough. share is the part of
// the level that these scenarios may spend: 1 over the number of scenarios that are planned, 1 for a whole record.
func Settled(base, head *record.Record, p Policy, share float64) (bool, string, error) {
	if !(share > 0 && share <= 1) {
		return false, "", fmt.Errorf("share of the level is %v, must be above 0 and at most 1", share)
	}
	made := attempts(head)
	switch {
	case made >= p.Looks.Max:
		return true, fmt.Sprintf("all %d runs were made", made), nil
	case !slices.Contains(p.Looks.At(), made):
		return false, "not a look", nil
	}
	p.Confidence = 1 - (1-p.confidence())*share
	judge := func() (*Verdict, error) { return Judge(base, head, p) }
	if base == nil {
		if !twoArmed(head) {
			return true, "there is nothing to hold it against", nil
		}
		judge = func() (*Verdict, error) { return JudgePairs(head, p) }
	}
	v, err := judge()
	if err != nil {
		return false, "", err
	}
	for _, f := range v.Metrics {
		if f.Gated && f.Outcome == Inconclusive && f.RunsNeeded > 0 {
			return false, fmt.Sprintf("%s of %s is undecided", f.Metric, f.Scenario), nil
		}
	}
	return true, fmt.Sprintf("%s after %d of %d runs", v.Outcome, made, p.Looks.Max), nil
}

// attempts returns the least number of runs that any scenario has in any arm that has some.
func attempts(rec *record.Record) int {
	least := -1
	for i := range rec.Scenarios {
		for _, arm := range []string{record.Base, record.Head} {
			if n := len(rec.Scenarios[i].Arm(arm)); n > 0 && (least < 0 || n < least) {
				least = n
			}
		}
	}
	return max(0, least)
}

// twoArmed says whether a record holds a base arm too.
func twoArmed(rec *record.Record) bool {
	return slices.ContainsFunc(rec.Scenarios, func(s record.Scenario) bool { return len(s.Arm(record.Base)) > 0 })
}

// look is what a single test's level depends on.
type look struct {
	attempts   int
	share, rho float64
}

// level turns a share of the whole level into that of a single test at this number of runs.
func (j *judgement) level(c *comparison, share, rho float64) float64 {
	if !j.policy.Looks.sequential() || c.attempts == 0 {
		return share
	}
	at := look{c.attempts, share, rho}
	level, known := j.levels[at]
	if !known {
		all := stat.Spend(j.policy.Looks.fractions(c.attempts), share, rho)
		level = all[len(all)-1]
		j.levels[at] = level
	}
	return level
}

func (j *judgement) failLevel(c *comparison, share float64) float64 {
	return j.level(c, share, rhoFail)
}
func (j *judgement) passLevel(c *comparison, confidence float64) float64 {
	return j.level(c, 1-confidence, rhoPass)
}
