package gate

import (
	"fmt"
	"sort"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/stat"
)

// compareCounts judges the share of sessions that ended well by an exact test on their counts. The sessions of one run may all
// fail of one cause, so that where there are several runs, the test must hold without the worst of them too.
func (j *judgement) compareCounts(c *comparison, m matched) {
	f := &c.finding
	base, head := m.base.sessions, m.head.sessions
	f.Method = methodFisher
	f.NBase, f.NHead = len(m.base.runs), len(m.head.runs)
	c.delta = f.Threshold
	if base.Of > 0 {
		f.Base = base.Share()
	}
	if head.Of > 0 {
		f.Head = head.Share()
	}
	switch {
	case m.head.died > 0 && m.base.sound():
		c.settled, f.Outcome = true, Regression
		f.Reason = fmt.Sprintf("the app died in %d of %d runs of head, in none of base", m.head.died, len(m.head.runs))
		return
	case !m.base.present:
		f.Reason = "only head has this scenario"
		return
	case !m.head.present:
		f.Reason = "only base has this scenario"
		return
	case base.Of == 0 || head.Of == 0:
		f.Reason = "no sessions were counted"
		return
	}
	f.Change = head.Share() - base.Share()
	c.estimate = ofCounts(m.base, m.head)
	alpha := 1 - j.policy.confidence()
	c.above, c.below = c.estimate.Above(0), c.estimate.Below(0)
	c.testable = min(stat.LeastFisher(base, head), stat.LeastFisher(head, base)) <= alpha
	if f.NBase < 2 || f.NHead < 2 {
		c.hold = lone(f.NBase, f.NHead)
	}
	f.SmallestVisible = smallestCount(base, head, alpha)
}

// counts is the evidence of sessions that ended well or not, in shares that failed.
type counts struct {
	base, head   stat.Count
	above, below float64
	noWorse      bool // head is healthy and no worse than base
}

func ofCounts(base, head side) estimate {
	e := counts{base: base.sessions, head: head.sessions}
	e.above = max(stat.Fisher(e.base, e.head), stat.Fisher(e.base, withoutWorst(head)))
	e.below = max(stat.Fisher(e.head, e.base), stat.Fisher(e.head, withoutWorst(base)))
	e.noWorse = e.head.Share() >= e.base.Share() && e.head.Share() >= healthy
	return estimate{evidence: e, middle: e.base.Share() - e.head.Share(), method: methodFisher}
}

// withoutWorst leaves out the run in which the largest share failed, where there is more than one.
func withoutWorst(s side) stat.Count {
	if len(s.runs) < 2 {
		return s.sessions
	}
	worst := count(s.runs[0])
	for _, r := range s.runs[1:] {
		if c := count(r); c.Of-c.OK > worst.Of-worst.OK {
			worst = c
		}
	}
	return s.sessions.Minus(worst)
}

func (c counts) Above(float64) float64 { return c.above }
func (c counts) Below(float64) float64 { return c.below }

func (c counts) Lower(level float64) float64 {
	_, upper := stat.Newcombe(c.base, c.head, passLevel, level)
	return 0 - upper
}

// Upper is 0 where head is healthy and no worse than base: few sessions must not make equal arms suspect.
func (c counts) Upper(level float64) float64 {
	if c.noWorse {
		return 0
	}
	lower, _ := stat.Newcombe(c.base, c.head, level, passLevel)
	return 0 - lower
}

// smallestCount returns the smallest drop in head's share that the test could show against base at that level.
func smallestCount(base, head stat.Count, alpha float64) float64 {
	from := int(base.Share() * float64(head.Of))
	k := sort.Search(from+1, func(k int) bool { return stat.Fisher(base, stat.Count{OK: from - k, Of: head.Of}) <= alpha })
	return float64(k) / float64(head.Of)
}

// shown lists a metric of a record that has nothing to be held against.
func (j *judgement) shown(scenario string, def metric.Def, head side) Finding {
	f := newFinding(scenario, def, j.policy.gates(def))
	f.Threshold, _ = j.policy.threshold(scenario, def.Name, j.head.Created)
	f.Reason = "there is nothing to hold it against"
	if def.Counts {
		f.Head, f.NHead = head.sessions.Share(), len(head.runs)
		return f
	}
	logarithms, warning, _ := head.values(def.Name, record.Head)
	f.warn(warning)
	f.Head, f.NHead = geometric(logarithms), len(logarithms)
	return f
}
