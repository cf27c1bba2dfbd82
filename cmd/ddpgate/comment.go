package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/github"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/report"
)

// commentCmd is the half of a workflow that may write: a run that may not has left a record, which anybody may have forged. The
// pull request is the one that GitHub says the run was for; the record is judged and rendered anew, by this configuration.
type commentCmd struct {
	Record string `arg:"" name:"record" type:"path" help:"The record that the other workflow's run uploaded."`
	gateFlags
	storeFlag
	AcceptLabel string `placeholder:"LABEL" help:"A label of the pull request that lets a regression through."`
	Check       string `placeholder:"NAME" help:"Also post a check of that name on the commit."`
	DryRun      bool   `help:"Print the comment and write nothing."`
}

// mostForeign is the largest record of a stranger that is read, in bytes of JSON. One of 30 scenarios has a tenth of it.
const mostForeign = 32 << 20

// errForeign is why a record is not commented on.
var errForeign = errors.New("the record is of another repository")

func (r *commentCmd) run(ctx context.Context, c *command) (int, error) {
	job, err := github.ReadJob(c.Env)
	if err != nil {
		return 0, usage(err)
	}
	token := c.Env("GITHUB_TOKEN")
	client, err := github.NewClient(github.Options{Repository: job.Repository, Token: token, APIURL: job.APIURL, GraphQLURL: job.GraphQLURL})
	if err != nil {
		return 0, usage(fmt.Errorf("%w: GITHUB_REPOSITORY and GITHUB_TOKEN must be set", err))
	}
	if job.Head.SHA == "" {
		return 0, usage(fmt.Errorf("this is a run for the event %q: only one for workflow_run says which commit a record is of", job.Event))
	}
	rec, err := foreign(r.Record, job.Repository)
	if err != nil {
		return 0, err
	}
	j, v, err := r.judged(ctx, c, rec)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	p := publication{shown: report.Comparison{Verdict: v, Base: j.base, Head: rec}, key: threadKey(c.Config, c.Chdir), link: job.RunURL}
	return r.publish(ctx, c, client, job, p, j.policy.Warns())
}

// foreign reads a record that comes from outside: not too large, as the schema says, and of this repository.
func foreign(path, repository string) (*record.Record, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("record %s: it is no regular file", path)
	}
	rec, err := record.ReadAtMost(path, mostForeign)
	if err != nil {
		return nil, err
	}
	if rec.Repository != repository {
		return nil, fmt.Errorf("record %s: %w: %q, not %q", path, errForeign, rec.Repository, repository)
	}
	if rec.Altered {
		return nil, fmt.Errorf("record %s: it was changed after it was written", path)
	}
	return rec, nil
}

// judged judges the record by this configuration. What cannot be judged is the record's fault, not the user's.
func (r *commentCmd) judged(ctx context.Context, c *command, rec *record.Record) (judge, *gate.Verdict, error) {
	cfg, err := c.load()
	if err != nil {
		return judge{}, nil, err
	}
	store, err := r.open(c, cfg.Baseline)
	if err != nil {
		return judge{}, nil, err
	}
	j, err := r.judge(ctx, c, cfg.Gate, cfg.Baseline, store, len(rec.Apps))
	if err != nil {
		return j, nil, err
	}
	v, err := j.verdict(rec)
	return j, v, err
}

// publish finds the pull request and writes to it. A pull request that has moved on, or is none, gets nothing.
func (r *commentCmd) publish(ctx context.Context, c *command, client *github.Client, job github.Job, p publication, warn bool) (int, error) {
	pull, err := client.PullOf(ctx, job.Head)
	if errors.Is(err, github.ErrNoPull) {
		c.warn("nothing is posted: %v", err)
		return exitUnmeasured, nil
	}
	if err != nil {
		return 0, err
	}
	if r.AcceptLabel != "" && p.shown.Verdict.Outcome == gate.Regression {
		label, err := client.Label(ctx, pull.Number, r.AcceptLabel)
		if err != nil {
			return 0, err
		}
		p.accepted = acceptance(label, r.AcceptLabel)
	}
	if r.DryRun {
		markdown, _ := p.body("")
		fmt.Fprintf(c.Stdout, "pull request %d:\n\n%s", pull.Number, markdown)
		return exitPass, nil
	}
	posted, err := client.Comment(ctx, pull.Number, github.Thread{Key: p.key}, p.body)
	if err != nil {
		return 0, err
	}
	fmt.Fprintln(c.Stdout, posted.URL)
	if r.Check != "" {
		err = client.Check(ctx, p.check(r.Check, pull.HeadSHA, warn), time.Now())
	}
	return exitPass, err
}
