package main

import (
	"context"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/runner"
	"github.com/ddpgate/ddpgate/scenario"
)

// hooks are what the runner works with. The last lines of an app that failed, or of a service, go to stderr where the report on
// stdout does not have them.
func (m *measurement) hooks(t *ticker, rec *record.Record, asJSON bool) runner.Hooks {
	h := runner.Hooks{
		Drive: func(ctx context.Context, s scenario.Scenario, o drive.Options) (*drive.Part, error) {
			o.Env = m.env
			return drive.Run(ctx, s, o)
		},
		Save: func(rec *record.Record) error { return record.Write(m.out, rec) },
		Progress: func(p runner.Progress) {
			if p.Over == nil {
				t.show(p)
				return
			}
			t.say("%s", describeRun(p))
			if asJSON || p.Over.Outcome == record.Invalid {
				t.quote(p.Over.Output)
			}
		},
	}
	if m.fleet != nil {
		m.driveByFleet(&h, rec)
	}
	if m.judge.gates() {
		h.Settled = m.judge.settled(len(m.plan.Scenarios))
	}
	if m.stopOnFail {
		h.Failing = m.judge.failing
	}
	return h
}

// driveByFleet has the fleet put the load on the apps, and notes its loads so that another ddpgate could take them over.
func (m *measurement) driveByFleet(h *runner.Hooks, rec *record.Record) {
	book := &logbook{out: m.out, rec: rec}
	for _, sc := range m.plan.Scenarios {
		book.plan = append(book.plan, sc.Name)
	}
	m.fleet.Began = book.began
	h.Drive = func(ctx context.Context, s scenario.Scenario, o drive.Options) (*drive.Part, error) {
		o.Env = m.env
		return m.fleet.Drive(ctx, s, o)
	}
	h.Together = func(ctx context.Context, s scenario.Scenario, base, head drive.Options) (onBase, onHead *drive.Part, err error) {
		base.Env, head.Env = m.env, m.env
		return m.fleet.Together(ctx, s, base, head)
	}
	h.Next = func(due []runner.Due) { book.due = due }
	h.Save = func(rec *record.Record) error {
		if err := record.Write(m.out, rec); err != nil {
			return err
		}
		return book.saved()
	}
}
