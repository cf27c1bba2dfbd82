package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/github"
	"github.com/ddpgate/ddpgate/report"
)

// follow judges the history of the key to which the record was appended, where that is asked for. A night that could not be measured
// changes nothing about a history, but somebody may have accepted what was worse. After a mistake there is nothing to follow.
func (a *action) follow(ctx context.Context, came outcome) *outcome {
	if a.history != "true" || came.err != nil || ctx.Err() != nil {
		return nil
	}
	night := a.play(ctx, a.historyArgs())
	return &night
}

// tellNight says what the history came to in every place that there is.
func (a *action) tellNight(ctx context.Context, night outcome) error {
	h := night.history
	out := outputs{step: a.step}
	if h == nil {
		a.faults(night.err)
		out.set("history-verdict", gate.Unmeasured.String())
		return out.err()
	}
	switch told := fmt.Sprintf("history of %s: %v: %s", a.baseline, h.Outcome, h.Reason); h.Outcome {
	case gate.Regression:
		a.step.Error(github.Place{}, told)
	case gate.Inconclusive:
		a.step.Warning(github.Place{}, told)
	}
	out.set("history-verdict", h.Outcome.String())
	a.file(&out, "history-json", "history.json", func(w io.Writer) error { return printJSON(w, h) })
	a.file(&out, "history-html", "history.html", func(w io.Writer) error { return report.HistoryHTML(w, a.baseline, h, report.HistoryOptions{}) })
	out.add(a.step.Summary(note(report.HistoryNote{Key: a.baseline, Limit: mostComment}, h)))
	issue, err := a.issue(ctx, h)
	out.add(err)
	out.set("issue", issue.URL)
	return out.err()
}

// issue keeps the issue of the key's history, where that is wanted and possible.
func (a *action) issue(ctx context.Context, h *gate.History) (github.Issue, error) {
	if !a.keepsIssue(a.job) {
		return github.Issue{}, nil
	}
	client, err := a.client()
	if err != nil {
		return github.Issue{}, err
	}
	w := watch{history: h, key: a.baseline, store: a.inputs.store, link: a.job.RunURL}
	issue, err := client.Issue(ctx, github.Thread{Key: shortHash(6, a.baseline)}, time.Now(), w.edit)
	if a.issueMode == postAuto && github.Denied(err) {
		a.step.Notice(github.Place{}, "the token cannot write issues: see the job's summary")
		return issue, nil
	}
	if a.issueMode == postAuto && github.Disabled(err) {
		a.step.Notice(github.Place{}, "the repository has no issues: see the job's summary")
		return issue, nil
	}
	return issue, err
}

// worst returns the exit code that wins.
func worst(a, b int) int {
	order := []int{exitRegression, exitUsage, exitUnmeasured, exitInconclusive, exitPass}
	return order[min(slices.Index(order, a), slices.Index(order, b))]
}
