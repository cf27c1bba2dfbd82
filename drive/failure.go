package drive

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

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

// failures counts causes. It is safe for concurrent use.
type failures struct {
	mu      sync.Mutex
	byCause map[string]*Failure
}

func (f *failures) add(session int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byCause == nil {
		f.byCause = make(map[string]*Failure)
	}
	cause := causeOf(err)
	c := f.byCause[cause]
	if c == nil {
		c = &Failure{Cause: cause, Example: fmt.Sprintf("session %d: %v", session, err)}
		f.byCause[cause] = c
	}
	c.Count++
}

// sorted returns the failures, most frequent first.
func (f *failures) sorted() []Failure {
	f.mu.Lock()
	defer f.mu.Unlock()
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
