package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/fleet"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/runner"
)

// unmetered is why a run has no figures of the app's processes.
const unmetered = "whoever metered it was gone before the load was over"

// resume collects what the workers of a load saw whose ddpgate is gone, makes its runs of it, and concludes as if nothing had happened.
// No further runs are made.
func (r *runCmd) resume(ctx context.Context, c *command) (int, error) {
	m, note, rec, err := r.takeOver(ctx, c)
	if err != nil {
		return 0, err
	}
	defer note.held.Close()
	t := c.ticker()
	defer t.clear()
	if note.Ticket.Parts != "" && !startedHere(rec, note) {
		t.say("waiting for the parts of run %s in %s, until %s at the latest", note.Ticket.Run, note.Ticket.Parts, note.Ticket.Deadline.Local().Format("15:04:05"))
	}
	runs, err := collect(ctx, note, rec)
	if err != nil {
		return 0, err
	}
	for i, due := range note.Runs {
		if made(rec, due) {
			continue
		}
		runs[i].Arm, runs[i].Pair, runs[i].Index = due.Arm, due.Pair, due.Index
		sc := rec.Scenario(due.Scenario)
		sc.Runs = append(sc.Runs, runs[i])
		t.say("%s", describeRun(runner.Progress{Scenario: due.Scenario, Arm: due.Arm, Arms: len(rec.Apps), Run: due.Pair + 1, Runs: due.Pair + 1, Over: &runs[i]}))
	}
	for _, name := range note.Scenarios {
		if rec.Scenario(name) == nil { // was never come to, and must not be taken for a pass
			t.say("%s was not measured", name)
			rec.Interrupted = true
		}
	}
	if err := record.Write(m.out, rec); err != nil {
		return 0, err
	}
	if err := forget(note.Ticket.Run); err != nil {
		return 0, err
	}
	t.clear()
	return r.conclude(ctx, c, m, rec)
}

// takeOver finds the load, its record, and what that is to be held against.
func (r *runCmd) takeOver(ctx context.Context, c *command) (*measurement, loadNote, *record.Record, error) {
	fail := func(err error) (*measurement, loadNote, *record.Record, error) {
		return nil, loadNote{}, nil, usage(err)
	}
	rest := *r
	rest.Resume, rest.gateFlags, rest.storeFlag, rest.SaveBaseline = "", gateFlags{}, storeFlag{}, ""
	rest.acceptFlag, rest.slimFlag, rest.JSON = acceptFlag{}, slimFlag{}, false
	if !reflect.ValueOf(rest).IsZero() {
		return fail(errors.New("--resume has the load and the app from the run that it takes over: only flags that say how to judge and where to keep go with it"))
	}
	note, err := findLoad(string(r.Resume))
	if err == nil {
		note.held, err = hold(filepath.Join(loadsDir, loadFile(note.Ticket.Run)))
	}
	if err != nil {
		return fail(fmt.Errorf("--resume: %w", err))
	}
	rec, err := record.Read(note.Record)
	if err != nil {
		return fail(fmt.Errorf("--resume %s: %w", r.Resume, err))
	}
	for _, due := range note.Runs {
		if rec.Scenario(due.Scenario) == nil {
			return fail(fmt.Errorf("--resume %s: %s is another record than it was: it has no scenario %s", r.Resume, note.Record, due.Scenario))
		}
	}
	cfg, err := c.load()
	if err != nil {
		return fail(err)
	}
	m := &measurement{out: note.Record, env: c.Env}
	if m.store, err = r.open(c, cfg.Baseline); err != nil {
		return fail(err)
	}
	if m.judge, err = r.judge(ctx, c, cfg.Gate, cfg.Baseline, m.store, len(rec.Apps)); err != nil {
		return nil, loadNote{}, nil, err
	}
	return m, note, rec, nil
}

// startedHere says whether an app of the load was started by the ddpgate that is gone.
func startedHere(rec *record.Record, note loadNote) bool {
	for _, due := range note.Runs {
		if len(rec.Apps[due.Arm].Command) > 0 {
			return true
		}
	}
	return false
}

// collect returns the load's runs, one a target. What is lost is a run that may not be judged, and says why.
func collect(ctx context.Context, note loadNote, rec *record.Record) ([]record.Run, error) {
	runs := make([]record.Run, len(note.Runs))
	lost := func(why error) ([]record.Run, error) {
		for i := range runs {
			runs[i] = runner.Lost(note.Ticket.Start, why)
		}
		return runs, nil
	}
	if note.Ticket.Parts != "" && startedHere(rec, note) {
		return lost(errors.New("the app was started by the ddpgate that is gone, and ended with it"))
	}
	f := new(fleet.Fleet)
	var err error
	if note.Ticket.Parts != "" {
		if f.Store, err = fleet.OpenStore(ctx, note.Ticket.Parts); err != nil {
			return nil, usage(err)
		}
	}
	var parts []*drive.Part
	switch parts, err = f.Collect(ctx, note.Ticket); {
	case err != nil && note.Ticket.Parts == "":
		return lost(err)
	case err != nil:
		return nil, err
	}
	for i, part := range parts {
		if runs[i], err = runner.Collected(note.Ticket.Scenario, part, unmetered); err != nil {
			return nil, err
		}
	}
	return runs, nil
}
