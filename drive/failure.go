package drive

import (
	"errors"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/ddp"
)

// A stepError says in which step a session failed. kind is the same for all sessions that failed in the same way.
type stepError struct {
	kind string
	err  error
}

func (e *stepError) Error() string {
	if e.err == nil {
		return e.kind
	}
	return e.kind + ": " + e.err.Error()
}

func (e *stepError) Unwrap() error { return e.err }

// causeOf returns what groups a session's failure with others.
func causeOf(err error) string {
	var step *stepError
	var conn *ddp.ConnError
	switch {
	case errors.As(err, &step):
		return step.kind
	case errors.As(err, &conn):
		return conn.Kind()
	}
	return err.Error()
}

// failures counts causes.
type failures struct {
	byCause map[string]*Failure
}

// add counts a failure; example is what would be told of it if it is the first of its cause.
func (f *failures) add(cause, example string) {
	if f.byCause == nil {
		f.byCause = make(map[string]*Failure)
	}
	c := f.byCause[cause]
	if c == nil {
		c = &Failure{Cause: cause, Example: example}
		f.byCause[cause] = c
	}
	c.Count++
}

// sorted returns the failures, most frequent first.
func (f *failures) sorted() []Failure {
	var out []Failure
	for _, c := range f.byCause {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b Failure) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.Cause, b.Cause)
	})
	return out
}
