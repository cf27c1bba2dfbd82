package gate

import (
	"fmt"
	"math"
	"strings"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/stat"
)

// verdict settles every comparison, corrected for how many gated metrics could fail, and sums them up.
func (j *judgement) verdict() *Verdict {
	var family []*comparison
	for _, c := range j.comparisons {
		if c.finding.Gated && c.testable {
			family = append(family, c)
		}
	}
	worse, failLevels := j.holm(family, func(c *comparison) float64 { return c.above })
	better, _ := j.holm(family, func(c *comparison) float64 { return c.below })
	place := 0
	for _, c := range j.comparisons {
		if c.finding.Gated && c.testable {
			j.settle(c, failLevels[place], worse[place], better[place])
			place++
		} else {
			level := j.failLevel(c, (1-j.policy.confidence())/float64(max(1, len(family))))
			j.settle(c, level, c.testable && c.above <= level, c.testable && c.below <= level)
		}
		j.v.Metrics = append(j.v.Metrics, c.finding)
	}
	j.sum()
	return j.v
}

// holm corrects one side of the tests. The levels are those of the single tests.
func (j *judgement) holm(family []*comparison, p func(*comparison) float64) (rejected []bool, levels []float64) {
	ps := make([]float64, len(family))
	for i, c := range family {
		ps[i] = p(c)
	}
	return stat.Holm(ps, 1-j.policy.confidence(), func(i int, share float64) float64 { return j.failLevel(family[i], share) })
}

// settle decides about one metric. level is that of its test for a regression, worse and better say whether it found a
// change in either direction.
func (j *judgement) settle(c *comparison, level float64, worse, better bool) {
	f := &c.finding
	e, pass, twice := c.estimate, j.passLevel(c, passLevel), j.passLevel(c, twiceLevel)
	upper := e.Upper(1 - pass)
	below := under(upper, c.delta) && (c.def.Counts || under(e.Upper(1-twice), 2*c.delta))
	if f.Method != "" && !c.settled {
		c.limits(e.Lower(1-level), upper, 1-level, 1-pass)
	}
	if c.settled || f.Reason != "" {
		return
	}
	if c.def.Better == metric.Neither {
		f.Reason = "it is better in neither direction"
		return
	}
	switch {
	case worse && reaches(e.middle, c.delta+c.slack):
		f.Outcome = Regression
	case c.hold != "":
		f.Outcome, f.Reason = Inconclusive, c.hold
	case below && better && reaches(-e.middle, c.delta):
		f.Outcome = Improvement
	case below:
		f.Outcome = Pass
	default:
		f.Reason = c.undecided(worse, upper)
		f.RunsNeeded = c.needed(level, pass, twice)
	}
}

// rounding is how much of a limit the arithmetic may lose. Figures that do not vary can lie on a threshold exactly, and then the last
// bit must not decide.
const rounding = 1e-9

// start returns where a limit begins: what lies there or beyond has reached it.
func start(limit float64) float64 { return limit * (1 - rounding) }

// reaches and under say on which side of a limit, which is not negative, a value lies. What is no number lies on neither.
func reaches(v, limit float64) bool { return v >= start(limit) }
func under(v, limit float64) bool   { return v < start(limit) }

// limits fills in the interval and what these runs could have shown.
func (c *comparison) limits(lower, upper, lowerLevel, upperLevel float64) {
	f, e := &c.finding, c.estimate
	f.LowerLevel, f.UpperLevel = lowerLevel, upperLevel
	for _, limit := range []*float64{&lower, &upper} {
		if math.IsInf(*limit, 0) {
			*limit = math.NaN()
		}
	}
	switch {
	case c.def.Counts:
		f.Lower, f.Upper, f.LowerLevel, f.UpperLevel = 0-upper, 0-lower, upperLevel, lowerLevel
	case c.scale < 0:
		f.Lower, f.Upper, f.LowerLevel, f.UpperLevel = c.scale.change(upper), c.scale.change(lower), upperLevel, lowerLevel
	default:
		f.Lower, f.Upper = c.scale.change(lower), c.scale.change(upper)
	}
	if !c.def.Counts && e.df > 0 {
		visible := e.se * (stat.Quantile(lowerLevel, e.df) + stat.Quantile(power, e.df))
		f.SmallestVisible = c.scale.worsening(max(c.delta, visible))
	}
}

// undecided says why a change is neither a regression nor below the threshold.
func (c *comparison) undecided(worse bool, upper float64) string {
	switch {
	case math.IsInf(upper, 1):
		return "so few runs set no limit to the change"
	case worse:
		return "it got worse, and the runs cannot tell whether by the threshold or by less"
	case under(upper, c.delta):
		return "the runs are too few or too uneven to exclude a change twice as large as the threshold"
	case reaches(c.estimate.middle, c.delta):
		return "it may have got worse by the threshold or more, but so few and uneven runs can differ as much by chance"
	}
	return "the runs are too few or too uneven to exclude a change as large as the threshold"
}

// most is the largest number of runs that is worth naming: as many or more.
const most = 1000

// needed returns how many runs a side would probably settle it, if what they show stays the same; 0 if that is not
// known, or the machine is what is not known.
func (c *comparison) needed(fail, pass, twice float64) int {
	e := c.estimate
	have := min(c.finding.NBase, c.finding.NHead)
	if !(e.df > 0) || !(e.se > 0) || math.IsInf(e.se, 0) || strings.HasPrefix(e.method, methodPredict) {
		return 0
	}
	for n := have + 1; n <= most; n = max(n+1, n*21/20) {
		se, df := e.se*math.Sqrt(float64(have)/float64(n)), e.df*float64(n-1)/float64(have-1)
		fails := reaches(e.middle, c.delta) && e.middle >= se*stat.Quantile(1-fail, df)
		passes := under(e.middle+se*stat.Quantile(1-pass, df), c.delta) && under(e.middle+se*stat.Quantile(1-twice, df), 2*c.delta)
		if fails || passes {
			return n
		}
	}
	return most
}

// sum takes the build's outcome from its parts.
func (j *judgement) sum() {
	v := j.v
	gated := 0
	outcome := Pass
	for _, f := range v.Metrics {
		if f.Gated {
			gated++
			outcome = worse(outcome, f.Outcome)
		}
	}
	if gated == 0 {
		outcome = Inconclusive
	}
	if len(j.unmeasured) > 0 {
		outcome = worse(outcome, Unmeasured)
	}
	if outcome.Passed() && j.cut != "" {
		outcome = Inconclusive
	}
	v.Outcome = outcome
	v.Reason = j.reason(gated)
}

// reason is the sentence under the verdict.
func (j *judgement) reason(gated int) string {
	var sentences []string
	for _, f := range j.v.Deciding() {
		if f.Outcome == j.v.Outcome && !f.Outcome.Passed() {
			sentences = append(sentences, f.sentence())
		}
	}
	switch {
	case j.v.Outcome == Unmeasured:
		return summary(j.unmeasured)
	case len(sentences) > 0:
		return summary(sentences)
	case gated == 0:
		return "no gated metric was measured"
	case j.v.Outcome == Inconclusive:
		return j.cut + " was interrupted before it was whole"
	}
	return fmt.Sprintf("no gated metric of %d got worse by its threshold", gated)
}

// sentence says what happened to one metric.
func (f Finding) sentence() string {
	name := f.Metric + " of " + f.Scenario
	if f.Outcome != Regression || f.Reason != "" {
		return name + ": " + f.Reason
	}
	verb := "rose"
	if f.Change < 0 {
		verb = "fell"
	}
	return fmt.Sprintf("%s %s by %.1f %% (threshold %.3g %%)", name, verb, math.Abs(f.Change)*100, f.Threshold*100)
}

// summary is the first of several sentences, and how many more there are.
func summary(sentences []string) string {
	if len(sentences) == 1 {
		return sentences[0]
	}
	return fmt.Sprintf("%s, and %d more", sentences[0], len(sentences)-1)
}
