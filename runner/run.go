package runner

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/ddpgate/ddpgate/probe"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/scenario"
)

// Run makes the plan's runs and adds them to the record, which comes with what its caller knows: tool, command, commit. What the
// apps did is in the record, however badly they fared. When the context ends, the app is stopped, the record is marked interrupted
// and saved, and there is no error. An error means that the plan is wrong, that a run could not be kept, or that a process could not
// be stopped; the record then holds what came before.
func Run(ctx context.Context, rec *record.Record, p Plan, h Hooks) error {
	if err := p.Check(); err != nil {
		return err
	}
	if h.Drive == nil || p.Together && h.Together == nil {
		return errors.New("nothing to drive with")
	}
	estimate, err := p.Estimate()
	if err != nil {
		return err
	}
	p.fill(ctx, rec)
	w := p.work(h, rec, estimate)
	w.measure, w.glance = w.apart, probe.Glance
	err = w.calibrate(ctx)
	w.look(ctx)
	if err == nil {
		err = w.do(ctx)
	}
	if err == nil {
		w.look(ctx)
		err = w.calibrate(ctx)
	}
	if err == nil && ctx.Err() == nil {
		err = w.save()
	}
	if ctx.Err() != nil {
		rec.Interrupted = true
		err = errors.Join(err, w.save())
	}
	return err
}

// work returns the plan, about to begin.
func (p Plan) work(h Hooks, rec *record.Record, e Estimate) *work {
	w := &work{plan: p, hooks: h, rec: rec, pace: p.pace(), most: e.Fit, broken: make(map[string]bool)}
	w.pace.begun, w.pace.least = time.Now(), min(p.Runs.Min, e.Fit)
	return w
}

// fill sets what is known of the record before the first run.
func (p Plan) fill(ctx context.Context, rec *record.Record) {
	tools := probe.Tools(ctx)
	m := probe.Fingerprint("/", os.Getenv)
	rec.Environment = record.Environment{
		Machine: m.ID, CPU: m.CPU, Cores: m.Cores, Memory: m.Memory, OS: m.OS, Arch: m.Arch, Kernel: m.Kernel,
		Quota: m.Quota, Clock: m.Clock, Governor: m.Governor, Platform: m.Platform, Image: m.Image, Container: m.Container,
		Node: tools.Node, MongoDB: tools.MongoDB,
		CPUs: record.CPUs{App: p.Runs.CPUs.App, Driver: p.Runs.CPUs.Driver},
	}
	rec.Seed, rec.Planned = p.Seed, record.Planned{Min: p.Runs.Min, Max: p.Runs.Max}
	rec.Apps = make(map[string]record.App, len(p.Arms))
	for _, arm := range p.Arms {
		a := record.App{Version: arm.Version, Command: arm.App.Command, URL: arm.App.URL}
		if len(arm.App.Command) > 0 {
			a.Meteor = probe.Meteor(arm.App.Dir)
		}
		rec.Apps[arm.Name] = a
	}
}

// Describe returns the scenario's entry in a record, without runs.
func Describe(s scenario.Scenario) record.Scenario {
	return record.Scenario{
		Name: s.Name, Identity: s.Identity(), Resolved: &s,
		Load: record.Load{Rate: s.Arrivals.Rate, For: s.Arrivals.For.Seconds()},
	}
}
