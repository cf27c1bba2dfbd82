package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/ddpgate/ddpgate/config"
	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/github"
	"github.com/ddpgate/ddpgate/report"
)

// How long what people read on GitHub may be, in characters, of which each has up to four bytes: less than GitHub takes. A summary may
// have a comment's worth of history below it.
const (
	mostComment = 60_000
	mostSummary = 200_000
	mostCheck   = 15_000
)

// A publication is a verdict on its way to a pull request.
type publication struct {
	shown    report.Comparison
	key      string // of the comment
	accepted string // who or what lets a regression through
	link     string // where all of it is
}

// threadKey is the key of a configuration's comment: the same for the run that measures and for the one that comments.
func threadKey(file, directory string) string {
	if file == "" {
		file = config.File
	}
	return shortHash(6, path.Clean(filepath.ToSlash(filepath.Join(directory, file))))
}

// shortHash returns so many bytes of a text's hash, in hexadecimal digits.
func shortHash(n int, text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:n])
}

// The states of a comment, or of an issue, that are no verdict.
const (
	stateResolved = "resolved" // what it complained of is gone
	stateMeasured = "measured" // there was nothing to hold the app against
)

// body is the comment, and the state that it leaves for the next one.
func (p publication) body(before string) (markdown, state string) {
	state = p.shown.Verdict.Outcome.String()
	switch {
	case !p.shown.Verdict.Outcome.Passed():
	case p.shown.Verdict.Design == gate.Alone:
		state = stateMeasured
	case before != "" && before != stateMeasured && before != gate.Pass.String():
		state = stateResolved
	}
	return p.render(report.Comment{Limit: mostComment, Link: p.link, Resolved: state == stateResolved, Accepted: p.accepted}), state
}

// summary is what a job's page shows.
func (p publication) summary() string {
	return p.render(report.Comment{Limit: mostSummary, Accepted: p.accepted})
}

// check is the verdict as a check of a commit.
func (p publication) check(name, sha string, warn bool) github.Check {
	v := p.shown.Verdict
	check := github.Check{Name: name, SHA: sha, Conclusion: github.Failure, DetailsURL: p.link,
		Title: v.Outcome.String() + ": " + v.Reason, Summary: p.render(report.Comment{Limit: mostCheck, Link: p.link, Accepted: p.accepted})}
	switch {
	case v.Outcome == gate.Regression && p.accepted != "", v.Outcome == gate.Inconclusive && warn, v.Outcome.Passed() && v.Design == gate.Alone:
		check.Conclusion = github.Neutral
	case v.Outcome.Passed():
		check.Conclusion = github.Success
	}
	return check
}

func (p publication) render(o report.Comment) string {
	var out strings.Builder
	_ = o.Write(&out, p.shown) // a strings.Builder takes everything
	return out.String()
}

// acceptance says who lets a regression through by a label, and until when.
func acceptance(l github.Label, name string) string {
	if !l.There {
		return ""
	}
	text := "by the label " + name
	if l.By != "" {
		text += ", which " + l.By + " set"
	}
	return text + ", until it is taken off"
}

// outputs sets a step's outputs and keeps what went wrong.
type outputs struct {
	step   *github.Step
	faults []error
}

func (o *outputs) set(name, value string) { o.add(o.step.Output(name, value)) }

func (o *outputs) add(err error) { o.faults = append(o.faults, err) }

func (o *outputs) err() error { return errors.Join(o.faults...) }
