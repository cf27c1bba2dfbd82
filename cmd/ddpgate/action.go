package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/github"
	"github.com/ddpgate/ddpgate/report"
)

// actionCmd is what action.yml calls. What it is asked for is in the environment, see inputs.
type actionCmd struct{}

// apiTime is how long all that is asked of GitHub may take: the verdict does not depend on it.
const apiTime = 5 * time.Minute

func (*actionCmd) run(ctx context.Context, c *command) (int, error) {
	a, err := c.action()
	if err != nil {
		return 0, err
	}
	came := a.measure(ctx)
	came.night = a.follow(ctx, came)
	return a.tell(ctx, came), nil
}

// An action is one call of the GitHub Action.
type action struct {
	*command
	inputs
	job  github.Job
	step *github.Step
	dir  string // what it writes: the record and its reports
}

// action reads what is asked for. Every mistake in it is told at once, in the log and where it was made.
func (c *command) action() (*action, error) {
	a := &action{command: c, inputs: readInputs(c.Env)}
	a.step = github.NewStep(c.Stdout, c.Env, a.token)
	job, err := github.ReadJob(c.Env)
	if err == nil {
		a.job = job
		err = a.inputs.check(job)
	}
	if err == nil && a.directory != "" {
		if err = os.Chdir(a.directory); err != nil {
			err = fmt.Errorf("input working-directory: %w", err)
		}
	}
	if err == nil {
		a.dir, err = os.MkdirTemp(c.Env("RUNNER_TEMP"), "ddpgate-")
	}
	if err != nil {
		for _, line := range lines(err) {
			a.step.Error(workflowPlace(c.Env, line), line)
		}
		_ = a.step.Output("verdict", gate.Unmeasured.String()) // the mistake is what is told
		return nil, usage(err)
	}
	return a, nil
}

// An outcome is what a command came to.
type outcome struct {
	heard
	code  int
	night *outcome // of the command that judged the key's history after it; nil where none did
}

// measure runs what is asked for.
func (a *action) measure(ctx context.Context) outcome {
	came := a.play(ctx, a.args(a.record(), a.pairs()))
	if came.shown.Verdict == nil {
		reason := "the measuring was interrupted"
		if came.err != nil {
			reason = strings.Join(lines(came.err), "; ")
		}
		came.shown.Verdict = &gate.Verdict{Outcome: gate.Unmeasured, Reason: reason}
	}
	return came
}

// play runs a command, as the command line would. Nothing that it prints is a command to the runner.
func (a *action) play(ctx context.Context, args []string) outcome {
	var came outcome
	sub := command{Stdin: a.Stdin, Stdout: a.Stdout, Stderr: a.Stdout, Env: a.Env, heard: &came.heard}
	defer a.step.Mute()()
	fmt.Fprintf(a.Stdout, "$ ddpgate %s\n\n", strings.Join(args, " "))
	came.code = sub.Main(ctx, args)
	return came
}

// pairs says whether head is held against a second arm. A configuration that cannot be read has none: the run says what is wrong.
func (a *action) pairs() bool {
	reader := command{global: global{Config: a.config}}
	cfg, err := reader.load()
	return a.baseApp != "" || err == nil && cfg.Base != nil && (a.url == "" || a.app != "")
}

// tell says what came of it in every place that there is, and returns the exit code, which none of them changes: only a label can
// let a regression through.
func (a *action) tell(ctx context.Context, came outcome) int {
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	p := publication{shown: came.shown, key: threadKey(a.config, a.directory), link: a.job.RunURL}
	if came.shown.Verdict.Outcome == gate.Regression {
		if p.accepted = a.accepted(ctx); p.accepted != "" {
			came.code = exitPass
		}
	}
	a.annotate(came, p.accepted != "")
	warn := func(err error) {
		if err != nil {
			a.step.Warning(github.Place{}, err.Error())
		}
	}
	warn(a.outputs(came))
	warn(a.step.Summary(p.summary()))
	warn(a.comment(ctx, p))
	if came.night == nil {
		return came.code
	}
	warn(a.tellNight(ctx, *came.night))
	return worst(came.code, came.night.code)
}

// annotate shows the verdict in the checks.
func (a *action) annotate(came outcome, accepted bool) {
	v := came.shown.Verdict
	switch {
	case came.err != nil:
		a.faults(came.err)
	case v.Outcome == gate.Regression && accepted:
		a.step.Warning(github.Place{}, "regression, accepted: "+v.Reason)
	case v.Outcome == gate.Regression:
		a.step.Error(github.Place{}, "regression: "+v.Reason)
	case v.Outcome == gate.Unmeasured:
		a.step.Error(github.Place{}, "not measured: "+v.Reason)
	case v.Outcome == gate.Inconclusive:
		a.step.Warning(github.Place{}, "inconclusive: "+v.Reason)
	}
}

// faults shows each fault of an error, if there is one, in the checks.
func (a *action) faults(err error) {
	if err == nil {
		return
	}
	for _, line := range lines(err) {
		a.step.Error(filePlace(a.Env, line), line)
	}
}

// accepted says who or what lets a regression through, empty for nobody. Where GitHub does not answer, the labels are those of
// the event that started the run.
func (a *action) accepted(ctx context.Context) string {
	if a.acceptLabel == "" || a.job.Pull.Number == 0 {
		return ""
	}
	var label github.Label
	client, err := a.client()
	if err == nil {
		label, err = client.Label(ctx, a.job.Pull.Number, a.acceptLabel)
	}
	if err != nil {
		a.step.Notice(github.Place{}, fmt.Sprintf("the labels are those of the event: %v", err))
		for _, name := range a.job.Pull.Labels {
			label.There = label.There || strings.EqualFold(name, a.acceptLabel)
		}
	}
	return acceptance(label, a.acceptLabel)
}

func (a *action) client() (*github.Client, error) {
	return github.NewClient(github.Options{
		Repository: a.job.Repository, Token: a.token, APIURL: a.job.APIURL, GraphQLURL: a.job.GraphQLURL,
	})
}

// comment writes the comment where it is wanted and possible. A token that cannot write is to be expected of a fork.
func (a *action) comment(ctx context.Context, p publication) error {
	if a.commentMode == postNever || a.job.Pull.Number == 0 || a.commentMode == postAuto && a.job.ReadOnly() {
		return nil
	}
	client, err := a.client()
	if err != nil {
		return err
	}
	_, err = client.Comment(ctx, a.job.Pull.Number, github.Thread{Key: p.key}, p.body)
	if github.Denied(err) && a.commentMode == postAuto {
		a.step.Notice(github.Place{}, "the token cannot comment on the pull request: see the job's summary")
		return nil
	}
	return err
}

// outputs writes the reports and tells where they are.
func (a *action) outputs(came outcome) error {
	shown := came.shown
	out := outputs{step: a.step}
	out.set("verdict", shown.Verdict.Outcome.String())
	out.set("regressions", fmt.Sprint(regressions(shown.Verdict)))
	if _, err := os.Stat(a.record()); err == nil {
		out.set("record", a.record())
	}
	a.file(&out, "report-html", "report.html", func(w io.Writer) error { return report.HTML(w, shown) })
	a.file(&out, "report-markdown", "report.md", func(w io.Writer) error { return report.Markdown(w, shown) })
	a.file(&out, "summary-json", "summary.json", func(w io.Writer) error { return printJSON(w, shown.Verdict) })
	return out.err()
}

// file writes a file and names it as an output.
func (a *action) file(out *outputs, output, name string, write func(io.Writer) error) {
	path := filepath.Join(a.dir, name)
	out.add(writeFile(path, write))
	out.set(output, path)
}

// record is the file of the record.
func (a *action) record() string { return filepath.Join(a.dir, "record.json") }

// regressions counts the gated metrics that regressed.
func regressions(v *gate.Verdict) int {
	n := 0
	for _, f := range v.Metrics {
		if f.Gated && f.Outcome == gate.Regression {
			n++
		}
	}
	return n
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
