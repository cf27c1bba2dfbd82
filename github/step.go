package github

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/sethvargo/go-githubactions"
)

// What a step may write: GitHub drops a summary above 1 MiB, and shows ten annotations of a step.
const (
	MaxSummary     = 1 << 20 // bytes
	maxAnnotations = 9
	maxAnnotation  = 4 << 10 // bytes of one annotation's text
)

// delimiter ends a value in the file of outputs that go-githubactions writes. It is always the same, so that a value which
// holds it could go on to forge other outputs.
const delimiter = "_GitHubActionsFileCommandDelimeter_"

// ErrForged is why a value is not made an output: it holds the text that ends values.
var ErrForged = errors.New("the value holds the delimiter of outputs")

// A Step is this step of a job: what it was given, and what it tells GitHub. It must not be used by several goroutines.
type Step struct {
	action    *githubactions.Action
	env       func(string) string
	secret    string
	annotated int
	summary   int // bytes written
}

// A Place is where in the repository an annotation belongs. The zero value is nowhere.
type Place struct {
	File         string // relative to the repository's root
	Line, Column int    // from 1; 0 where it is not known
}

// NewStep returns the step whose log is w. The secret, if there is one, is never written.
func NewStep(w io.Writer, env func(string) string, secret string) *Step {
	return &Step{action: githubactions.New(githubactions.WithWriter(w), githubactions.WithGetenv(env)), env: env, secret: secret}
}

// Output sets an output. Where the runner takes none (outside of a job) it does nothing.
func (s *Step) Output(name, value string) error {
	if s.env("GITHUB_OUTPUT") == "" {
		return nil
	}
	if strings.Contains(value, delimiter) {
		return fmt.Errorf("output %s: %w", name, ErrForged)
	}
	value = s.redact(strings.ToValidUTF8(value, "\uFFFD"))
	return written("output "+name, func() { s.action.SetOutput(name, value) })
}

// Summary adds Markdown to the job's summary. What would make it larger than GitHub takes is an error, and not written.
func (s *Step) Summary(markdown string) error {
	if s.env("GITHUB_STEP_SUMMARY") == "" {
		return nil
	}
	markdown = s.redact(markdown)
	if s.summary+len(markdown)+2 > MaxSummary {
		return fmt.Errorf("summary: %d bytes are more than GitHub takes (%d)", s.summary+len(markdown), MaxSummary)
	}
	s.summary += len(markdown) + 2
	return written("summary", func() { s.action.AddStepSummary(markdown) })
}

// written turns the panic of go-githubactions over a file that cannot be written into an error.
func written(what string, write func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: %v", what, r)
		}
	}()
	write()
	return nil
}

// Error shows an error in the checks, at its place. Beyond what GitHub shows of a step it does nothing.
func (s *Step) Error(at Place, text string) { s.annotate(at, text, (*githubactions.Action).Errorf) }

// Warning shows a warning, as Error does.
func (s *Step) Warning(at Place, text string) { s.annotate(at, text, (*githubactions.Action).Warningf) }

// Notice shows a notice, as Error does.
func (s *Step) Notice(at Place, text string) { s.annotate(at, text, (*githubactions.Action).Noticef) }

func (s *Step) annotate(at Place, text string, say func(*githubactions.Action, string, ...any)) {
	if s.annotated >= maxAnnotations {
		return
	}
	s.annotated++
	fields := make(map[string]string)
	if at.File != "" {
		fields["file"] = at.File
		if at.Line > 0 {
			fields["line"] = fmt.Sprint(at.Line)
		}
		if at.Column > 0 {
			fields["col"] = fmt.Sprint(at.Column)
		}
	}
	say(s.action.WithFieldsMap(fields), "%s", start(s.redact(text), maxAnnotation))
}

// Mute makes GitHub take nothing that is written to the log for a command, until the function that it returns is called. What
// an app or a scenario's name says would else be obeyed. The log must be the only way that the text goes: what is written to
// another stream may arrive after the end.
func (s *Step) Mute() (unmute func()) {
	token := rand.Text()
	s.action.Infof("::stop-commands::%s", token)
	return func() { s.action.Infof("\n::%s::", token) }
}

func (s *Step) redact(text string) string { return redact(text, s.secret) }

func redact(text, secret string) string {
	if secret == "" {
		return text
	}
	return strings.ReplaceAll(text, secret, "***")
}

// start returns the first bytes of text, whole characters only.
func start(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
