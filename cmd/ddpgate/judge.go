package main

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
)

// gateFlags say what a record is held against, and how strictly.
type gateFlags struct {
	Baseline filled `placeholder:"KEY|FILE|auto" help:"The baseline to gate against (the configuration's); auto for the record of the nearest earlier commit." group:"gate"`
	NoGate   bool   `help:"Measure only." group:"gate"`
	strictFlags
}

// strictFlags say how strictly something is judged, over what the configuration says.
type strictFlags struct {
	Inconclusive string `placeholder:"fail|warn" help:"What an inconclusive verdict does: exit 4 or, with a warning, 0." group:"gate"`

	Threshold  map[string]gate.Percent `placeholder:"METRIC=PERCENT" mapsep:"none" help:"The smallest change for the worse that matters, such as ram=10%." group:"gate"`
	Confidence *float64                `placeholder:"SHARE" help:"One minus the chance that an unchanged build fails, such as 0.99." group:"gate"`
}

// amend returns the policy with what the flags say.
func (f *strictFlags) amend(p gate.Policy) gate.Policy {
	if f.Inconclusive != "" {
		p.Inconclusive = f.Inconclusive
	}
	if f.Confidence != nil {
		p.Confidence = *f.Confidence
	}
	if len(f.Threshold) > 0 {
		all := maps.Clone(p.Thresholds)
		if all == nil {
			all = make(map[string]gate.Percent)
		}
		maps.Copy(all, f.Threshold)
		p.Thresholds = all
	}
	return p
}

// A judge holds a record against what it is to be held against: its own base arm, a baseline, or nothing.
type judge struct {
	policy  gate.Policy
	pairs   bool                 // the record has both arms
	base    *record.Record       // nil where there is none
	missing *baseline.NoKeyError // a baseline was wanted and is not there
	unfit   string               // why there is a baseline that must not be used
	away    string               // how far away and how old the baseline is, where it was looked for
}

// judge returns what a record with so many arms is held against.
func (f *gateFlags) judge(ctx context.Context, c *command, configured gate.Policy, from baseline.Config, store baseline.Store, arms int) (judge, error) {
	j := judge{policy: f.amend(configured), pairs: arms > 1 && !f.NoGate}
	if err := j.policy.Validate(); err != nil {
		return j, usage(err)
	}
	if err := j.experience(ctx, c, store, from); err != nil {
		return j, err
	}
	if f.NoGate && f.Baseline != "" {
		return j, usage(errors.New("--no-gate and --baseline contradict each other"))
	}
	if j.pairs && f.Baseline != "" {
		return j, usage(errors.New("--baseline has no use where there is a base arm: head is held against that"))
	}
	key := from.Key
	if f.Baseline != "" {
		key = string(f.Baseline)
	}
	if key == "" || f.NoGate || j.pairs {
		return j, nil
	}
	var err error
	if key == baseline.Auto {
		err = j.choose(ctx, c, store, from)
		return j, err
	}
	j.base, j.policy.History, err = find(ctx, c, store, key)
	if errors.As(err, &j.missing) {
		err = nil
	}
	return j, err
}

// gates says whether there is something to hold a record against.
func (j judge) gates() bool { return j.pairs || j.base != nil }

// verdict judges a record. An error means that it cannot be held against the baseline at all.
func (j judge) verdict(rec *record.Record) (*gate.Verdict, error) {
	switch {
	case j.pairs:
		return gate.JudgePairs(rec, j.policy)
	case j.base != nil:
		return gate.Judge(j.base, rec, j.policy)
	case j.missing != nil:
		return gate.JudgeAlone(rec, j.policy, j.missing.Error())
	case j.unfit != "":
		return gate.JudgeAlone(rec, j.policy, j.unfit)
	}
	return gate.JudgeAlone(rec, j.policy, "")
}

// sole returns what a record of one scenario is held against: the same scenario of the baseline.
func (j judge) sole(rec *record.Record) judge {
	if j.base != nil {
		base := *j.base
		base.Scenarios = slices.DeleteFunc(slices.Clone(base.Scenarios), func(s record.Scenario) bool {
			return rec.Scenario(s.Name) == nil
		})
		j.base = &base
	}
	return j
}

// settled says whether more runs of a scenario, one of so many, would change nothing. What cannot be judged now will not be then.
func (j judge) settled(scenarios int) func(*record.Record) bool {
	return func(rec *record.Record) bool {
		enough, _, err := gate.Settled(j.sole(rec).base, rec, j.policy, 1/float64(scenarios))
		return enough || err != nil
	}
}

// failing says whether a scenario regressed or broke.
func (j judge) failing(rec *record.Record) bool {
	v, err := j.sole(rec).verdict(rec)
	return err != nil || v.Outcome == gate.Regression || v.Outcome == gate.Unmeasured
}
