package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/config"
	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/fleet"
	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/runner"
	"github.com/ddpgate/ddpgate/scenario"
)

// runCmd makes a record and gates it.
type runCmd struct {
	Scenarios []string `arg:"" optional:"" name:"scenario" help:"Built-in scenarios or files, run in this order (the configuration's, else the two tasks scenarios)."`
	loadFlags
	appFlags
	workerFlags
	DryRun     bool           `help:"Say what would be done, how long it takes and what it costs, and do nothing."`
	Resume     filled         `placeholder:"RUN" help:"Take over a load of workers whose ddpgate is gone: collect what they saw, and judge it. Its name is in .ddpgate/fleet."`
	Runs       *int           `placeholder:"N" help:"Runs of each scenario and arm (between runs.min and runs.max of the configuration, as many as it takes)."`
	MaxRuns    *int           `placeholder:"N" help:"The most runs of each scenario and arm, where fewer do not decide it."`
	Budget     *time.Duration `placeholder:"TIME" help:"How long all may take."`
	Seed       *uint64        `placeholder:"N" help:"Decides the order of the arms and what the load draws; it is in the record."`
	StopOnFail bool           `help:"Stop after the first scenario that regresses or breaks."`
	Out        string         `placeholder:"FILE" help:"Where the record is written (a new file in .ddpgate/records)."`
	gateFlags
	storeFlag
	SaveBaseline filled `placeholder:"KEY" help:"Make the record the newest baseline of the key. One that is worse, undecided or not whole is kept in its history only."`
	acceptFlag
	slimFlag
	JSON bool `name:"json" help:"Print the verdict as JSON."`
}

// A measurement is a record that is to be made, with all that can be known before.
type measurement struct {
	plan     runner.Plan
	estimate runner.Estimate
	judge    judge
	store    baseline.Store
	out      string
	fleet    *fleet.Fleet // that drives, nil for this process

	stopOnFail bool
	env        func(string) string // for what scenarios sign in with
}

func (r *runCmd) run(ctx context.Context, c *command) (int, error) {
	if r.Resume != "" {
		return r.resume(ctx, c)
	}
	m, err := r.prepare(ctx, c)
	if err != nil {
		return 0, err
	}
	if r.DryRun {
		return m.dryRun(c)
	}
	if err := m.ready(ctx); err != nil {
		return 0, err
	}
	t := c.ticker()
	defer t.clear()
	if err := m.announce(t); err != nil {
		return 0, err
	}
	rec := &record.Record{Created: time.Now().UTC(), Tool: tool(), Command: c.line, Commit: commit(ctx), Repository: c.Env("GITHUB_REPOSITORY")}
	if err := runner.Run(ctx, rec, m.plan, m.hooks(t, rec, r.JSON)); err != nil {
		return 0, err
	}
	t.clear()
	return r.conclude(ctx, c, m, rec)
}

// prepare finds every mistake before anything is started.
func (r *runCmd) prepare(ctx context.Context, c *command) (*measurement, error) {
	cfg, err := c.load()
	if err != nil {
		return nil, err
	}
	m := &measurement{out: r.Out, stopOnFail: r.StopOnFail, env: c.Env}
	scenarios, scenariosErr := r.scenarios(cfg)
	arms, armsErr := r.arms(ctx, c, cfg)
	if m.store, err = r.open(c, cfg.Baseline); err == nil {
		m.judge, err = r.judge(ctx, c, cfg.Gate, cfg.Baseline, m.store, len(arms))
	}
	for _, s := range scenarios {
		err = errors.Join(err, usage(drive.CheckEnv(s, c.Env)))
	}
	if r.SaveBaseline != "" {
		err = errors.Join(err, usage(baseline.CheckKey(string(r.SaveBaseline))))
	}
	if err := errors.Join(usage(scenariosErr), armsErr, usage(r.workerFlags.check()), err); err != nil {
		return nil, err
	}
	if r.Runs != nil && *r.Runs < 1 {
		return nil, usage(fmt.Errorf("--runs is %d, must be at least 1", *r.Runs))
	}
	m.plan = runner.Plan{Arms: arms, Scenarios: scenarios, Runs: r.runs(cfg.Runs), Seed: r.seed()}
	if runs := m.plan.Runs; runs.Min < runs.Max {
		m.judge.policy.Looks = gate.Looks{Min: runs.Min, Max: runs.Max}
	}
	if err := errors.Join(m.plan.Check(), m.crew(ctx, &r.workerFlags, c)); err != nil {
		return nil, usage(err)
	}
	if m.estimate, err = m.plan.Estimate(); err != nil {
		return nil, usage(err)
	}
	if err := m.comparable(); err != nil {
		return nil, usage(err)
	}
	if m.out == "" {
		m.out = filepath.Join(".ddpgate", "records", time.Now().UTC().Format("20060102T150405.000Z")+".json")
	}
	return m, nil
}

// ready finds out what cannot be known without touching anything: whether the record can be written, and whether the workers are there.
func (m *measurement) ready(ctx context.Context) error {
	if err := writable(filepath.Dir(m.out)); err != nil || m.fleet == nil {
		return err
	}
	return m.hello(ctx)
}

// comparable says beforehand whether the baseline is of the same scenarios.
func (m *measurement) comparable() error {
	rec := new(record.Record)
	for _, s := range m.plan.Scenarios {
		rec.Scenarios = append(rec.Scenarios, runner.Describe(s))
	}
	_, err := m.judge.verdict(rec)
	return err
}

// scenarios are those named, else the configuration's, else the two that ddpgate is about, the simple one first.
func (r *runCmd) scenarios(cfg *config.Config) ([]scenario.Scenario, error) {
	names := r.Scenarios
	if len(names) == 0 && len(cfg.Scenarios) == 0 {
		names = []string{"tasks-nonreactive", "tasks-reactive"}
	}
	found, err := named(names, cfg.Scenarios)
	if err != nil {
		return nil, err
	}
	return r.apply(found)
}

// runs are the configuration's, with what the flags say.
func (r *runCmd) runs(configured config.Runs) runner.Runs {
	runs := runner.Runs(configured)
	if r.Runs != nil {
		runs.Min, runs.Max = *r.Runs, *r.Runs
	}
	if r.MaxRuns != nil {
		runs.Max = *r.MaxRuns
	}
	if r.Budget != nil {
		runs.Budget = *r.Budget
	}
	return runs
}

func (r *runCmd) seed() uint64 {
	if r.Seed != nil {
		return *r.Seed
	}
	return rand.Uint64()
}

// writable says beforehand whether files can be made in a directory, which it makes.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return usage(err)
	}
	f, err := os.CreateTemp(dir, ".ddpgate-")
	if err != nil {
		return usage(err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// load reads the configuration: the file that -c names, else ddpgate.yml where there is one.
func (c *command) load() (*config.Config, error) {
	if c.Config != "" {
		cfg, err := config.Load(c.Config)
		return cfg, usage(err)
	}
	cfg, err := config.Load(config.File)
	if errors.Is(err, fs.ErrNotExist) {
		if _, there := os.Stat(config.File); there != nil {
			return config.Default(), nil
		}
	}
	return cfg, usage(err)
}

// commit returns the git commit that is checked out here, empty if there is none.
func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
