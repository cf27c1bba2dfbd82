package gate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/stat"
)

// Judge holds head against a stored baseline: the head arm of one record against the head arm of another. An error means that
// the two cannot be compared or the policy makes no sense, and names every reason; whatever the figures say is a verdict.
func Judge(base, head *record.Record, p Policy) (*Verdict, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := refuse(base, head); err != nil {
		return nil, err
	}
	j := newJudgement(p, head)
	j.v.Environment = match(base.Environment, head.Environment)
	j.v.Environment.matchDrivers(base.Drivers(record.Head), head.Drivers(record.Head))
	j.v.Design = SameMachine
	switch j.v.Environment.Match {
	case Compatible, Mismatched:
		j.v.Design = OtherMachines
		j.past = j.kin(base, head)
	case Unknown:
		j.warn("nothing is known of the machine of one side: judged as one machine")
	}
	if j.v.Design == SameMachine {
		j.doubt = unsteady(base.Environment, head.Environment, j.agreement())
	}
	j.v.AA = sameVersion(base.Apps[record.Head], head.Apps[record.Head])
	j.interrupted("base", base)
	j.interrupted("head", head)
	for _, name := range scenarios(base, head) {
		j.scenario(name, base.Scenario(name), record.Head, head.Scenario(name), record.Head)
	}
	return j.verdict(), nil
}

// JudgePairs holds the head arm of a record against its base arm: two builds interleaved on one machine. Errors are as of Judge.
func JudgePairs(rec *record.Record, p Policy) (*Verdict, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	j := newJudgement(p, rec)
	j.v.Environment = Environment{Match: Identical, Differs: []string{}}
	j.v.Environment.drivenBy(record.Base, rec.Drivers(record.Base))
	j.v.Environment.drivenBy(record.Head, rec.Drivers(record.Head))
	j.v.Design = Pairs
	j.v.AA = sameVersion(rec.Apps[record.Base], rec.Apps[record.Head])
	j.interrupted("record", rec)
	for i := range rec.Scenarios {
		s := &rec.Scenarios[i]
		if err := refuseRuns(s.Name, s.Arm(record.Base), s.Arm(record.Head)); err != nil {
			return nil, err
		}
		j.scenario(s.Name, s, record.Base, s, record.Head)
	}
	return j.verdict(), nil
}

// JudgeAlone judges a record that has nothing to be held against. It passes where something was measured and at least 99 % of
// the sessions ended well, and is unmeasured otherwise, and where it was interrupted. Where a baseline was wanted, missing says why there is none, and
// what was measured is inconclusive.
func JudgeAlone(rec *record.Record, p Policy, missing string) (*Verdict, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	j := newJudgement(p, rec)
	j.v.Environment = Environment{Match: Unknown, Differs: []string{}}
	j.v.Environment.drivenBy(record.Head, rec.Drivers(record.Head))
	j.v.Design = Alone
	j.v.Outcome, j.v.Reason = Pass, "nothing to hold against: no baseline was asked for"
	if missing != "" {
		j.v.Outcome, j.v.Reason = Inconclusive, missing
	}
	j.interrupted("record", rec)
	for i := range rec.Scenarios {
		j.alone(&rec.Scenarios[i])
	}
	switch {
	case len(j.unmeasured) > 0:
		j.v.Outcome, j.v.Reason = Unmeasured, summary(j.unmeasured)
	case len(rec.Scenarios) == 0:
		j.v.Outcome, j.v.Reason = Unmeasured, "the record has no scenario"
	case j.cut != "":
		j.v.Outcome, j.v.Reason = Unmeasured, "the record was interrupted before it was whole"
	}
	return j.v, nil
}

// A judgement is a verdict in the making.
type judgement struct {
	policy      Policy
	head        *record.Record
	past        []*record.Record // baseline records of head's kind of machine, oldest first
	doubt       doubt            // whether the machine was the same for both sides
	v           *Verdict
	comparisons []*comparison
	unmeasured  []string // what could not be measured at all
	cut         string   // which record was interrupted
	levels      map[look]float64
	ranks       stat.Ranks
	changes     map[subject][]float64 // what A/A records saw, as badness
}

func newJudgement(p Policy, head *record.Record) *judgement {
	if p.Looks == (Looks{}) {
		p.Looks = Looks(head.Planned)
	}
	return &judgement{policy: p, head: head, levels: make(map[look]float64), v: &Verdict{Metrics: []Finding{}, Confidence: p.confidence()}}
}

func (j *judgement) warn(format string, args ...any) {
	j.v.Warnings = append(j.v.Warnings, fmt.Sprintf(format, args...))
}

func (j *judgement) interrupted(which string, rec *record.Record) {
	if rec.Interrupted {
		j.cut = which
		j.warn("%s was interrupted before it was whole", which)
	}
}

func (j *judgement) discard(scenario string) func(*record.Run) {
	return func(r *record.Run) { j.v.Discarded = append(j.v.Discarded, discarded(scenario, r)) }
}

// sameVersion says whether both arms are known to be one build.
func sameVersion(base, head record.App) bool {
	return base.Version != "" && base.Version == head.Version
}

// scenarios returns the names of both records' scenarios, in head's order and then base's.
func scenarios(base, head *record.Record) []string {
	var all []string
	for _, r := range []*record.Record{head, base} {
		for _, s := range r.Scenarios {
			if !slices.Contains(all, s.Name) {
				all = append(all, s.Name)
			}
		}
	}
	return all
}

// scenario compares every metric of one scenario. Either side may be nil.
func (j *judgement) scenario(name string, b *record.Scenario, baseArm string, h *record.Scenario, headArm string) {
	base, head := newSide(b, baseArm, j.discard(name)), newSide(h, headArm, j.discard(name))
	m := matched{scenario: name, base: base, head: head}
	if j.v.Design == Pairs {
		m.pairs = pairsOf(base, head)
	}
	j.health(name, base, head)
	for _, mt := range j.metrics(base, head) {
		j.comparisons = append(j.comparisons, j.compare(m, mt))
	}
}

// health notes what makes a scenario unmeasured rather than inconclusive.
func (j *judgement) health(name string, base, head side) {
	switch {
	case len(head.runs) == 0 && head.invalid > 0:
		j.unmeasured = append(j.unmeasured, fmt.Sprintf("no run of %s may be judged", name))
	case len(base.runs) == 0 && base.invalid > 0:
		j.unmeasured = append(j.unmeasured, fmt.Sprintf("no base run of %s may be judged", name))
	case head.died > 0 && !base.sound():
		j.unmeasured = append(j.unmeasured, fmt.Sprintf("the app died in %s, and there is no healthy base to hold against it", name))
	}
}

// alone notes whether a scenario was measured, and lists its metrics.
func (j *judgement) alone(s *record.Scenario) {
	head := newSide(s, record.Head, j.discard(s.Name))
	switch {
	case len(head.runs) == 0:
		j.unmeasured = append(j.unmeasured, fmt.Sprintf("no run of %s may be judged", s.Name))
	case head.died > 0:
		j.unmeasured = append(j.unmeasured, fmt.Sprintf("the app died in %d of %d runs of %s", head.died, len(head.runs), s.Name))
	case head.sessions.Share() < healthy:
		j.unmeasured = append(j.unmeasured, fmt.Sprintf("%d of %d sessions of %s failed", head.sessions.Of-head.sessions.OK, head.sessions.Of, s.Name))
	}
	for _, def := range j.metrics(side{}, head) {
		j.v.Metrics = append(j.v.Metrics, j.shown(s.Name, def, head))
	}
}

// metrics returns what either side measured, and what the policy names, in the order of reports.
func (j *judgement) metrics(base, head side) []metric.Def {
	names := slices.Collect(maps.Keys(j.policy.Thresholds))
	for _, s := range []side{base, head} {
		for _, r := range s.runs {
			names = unite(names, r.Metrics)
		}
		if s.sessions.Of > 0 && !slices.Contains(names, "ok") {
			names = append(names, "ok")
		}
	}
	slices.SortFunc(names, metric.Compare)
	var defs []metric.Def
	for _, name := range names {
		if def, ok := metric.Lookup(name); ok {
			defs = append(defs, def)
		}
	}
	return defs
}

// unite adds the names of a run's metrics. Most runs have those that the runs before them had, which is soon seen.
func unite(names []string, metrics map[string]float64) []string {
	known := 0
	for _, name := range names {
		if _, ok := metrics[name]; ok {
			known++
		}
	}
	if known == len(metrics) {
		return names
	}
	for name := range metrics {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
