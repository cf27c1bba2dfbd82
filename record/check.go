package record

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// enough is how many faults of one record are told; a broken writer makes thousands.
const enough = 10

// Check returns what is wrong with a record's content, all faults joined: what the schema cannot say. It does not look at the
// id.
func Check(r *Record) error {
	var f faults
	if r.Format != Format {
		f.add("format is %q, not %q", r.Format, Format)
	}
	for _, arm := range slices.Sorted(maps.Keys(r.Apps)) {
		f.arm("apps", arm)
	}
	seen := make(map[string]bool)
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		if s.Name == "" {
			f.add("scenario %d has no name", i)
		}
		if seen[s.Name] {
			f.add("scenario %q is in it twice", s.Name)
		}
		seen[s.Name] = true
		f.scenario(s)
	}
	return f.err()
}

type faults struct {
	errs []error
	more int
}

func (f *faults) add(format string, args ...any) {
	if len(f.errs) == enough {
		f.more++
		return
	}
	f.errs = append(f.errs, fmt.Errorf(format, args...))
}

func (f *faults) err() error {
	if f.more > 0 {
		return errors.Join(append(f.errs, fmt.Errorf("and %d more faults", f.more))...)
	}
	return errors.Join(f.errs...)
}

func (f *faults) arm(where, arm string) {
	if arm != Base && arm != Head {
		f.add("%s: unknown arm %q, known are %s and %s", where, arm, Base, Head)
	}
}

func (f *faults) scenario(s *Scenario) {
	f.finite(s.Name+": load", map[string]float64{"rate": s.Load.Rate, "for": s.Load.For})
	type place struct {
		arm   string
		index int
	}
	seen := make(map[place]bool)
	for i := range s.Runs {
		r := &s.Runs[i]
		where := fmt.Sprintf("%s: run %d of %s", s.Name, r.Index, r.Arm)
		if seen[place{r.Arm, r.Index}] {
			f.add("%s is in it twice", where)
		}
		seen[place{r.Arm, r.Index}] = true
		f.run(where, r)
	}
}

func (f *faults) run(where string, r *Run) {
	f.arm(where, r.Arm)
	switch r.Outcome {
	case OK, Failed, Invalid, Interrupted:
	default:
		f.add("%s: unknown outcome %q", where, r.Outcome)
	}
	if r.Index < 0 || r.Pair < 0 {
		f.add("%s: index %d and pair %d must not be negative", where, r.Index, r.Pair)
	}
	f.sessions(where, r)
	f.finite(where, r.Metrics)
	for _, name := range slices.Sorted(maps.Keys(r.Series)) {
		// A series is shorter where its role stopped telling.
		if got, want := len(r.Series[name]), len(r.Series["t"]); got > want {
			f.add("%s: series %s has %d points, t has %d", where, name, got, want)
		}
		for _, v := range r.Series[name] {
			if !finite(v) {
				f.add("%s: series %s has a value that is no number: %v", where, name, v)
				break
			}
		}
	}
}

// sessions checks the sums. A run that was interrupted has sessions that came to no end, and some that were never due.
func (f *faults) sessions(where string, r *Run) {
	s := r.Sessions
	for _, n := range []int{s.Planned, s.Started, s.OK, s.Failed, s.Late, s.Dropped} {
		if n < 0 {
			f.add("%s: a negative number of sessions: %+v", where, s)
			return
		}
	}
	begun := s.Started + s.Late
	unplanned, unstarted := begun+s.Dropped-s.Planned, s.OK+s.Failed-begun
	switch {
	case unplanned > 0 || unplanned < 0 && r.Outcome != Interrupted:
		f.add("%s: %d sessions planned, but %d started, %d late and %d dropped", where, s.Planned, s.Started, s.Late, s.Dropped)
	case unstarted > 0 || unstarted < 0 && r.Outcome != Interrupted:
		f.add("%s: %d sessions started, but %d ok and %d failed", where, begun, s.OK, s.Failed)
	}
}

func (f *faults) finite(where string, values map[string]float64) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if v := values[name]; !finite(v) {
			f.add("%s: %s is no number: %v", where, name, v)
		}
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
