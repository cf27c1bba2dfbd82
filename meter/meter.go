// Package meter reads what process trees use: CPU seconds and resident memory, by role.
package meter

import (
	"context"
	"errors"
	"time"
)

// Options are how a Meter works. The zero value is the default.
type Options struct {
	// Interval is the time between samples; 0 is half a second.
	Interval time.Duration
	// Proc is where the proc file system is; empty is /proc.
	Proc string
}

// A Target is a process tree to measure, or a part of one.
type Target struct {
	// Role is what the processes are measured as: "app", "db".
	Role string
	// PID is the tree's first process.
	PID int
	// Reaper, when set, is the process that inherits orphans of this tree. It is not measured itself, but all that
	// descends from it is, and so is what it has waited for.
	Reaper int
	// Match, when set, makes this target only those processes below PID whose name or command line matches the regular
	// expression, and what descends from them. Without it the target is PID and all below it that has no other role.
	Match string
}

// A Meter samples process trees until Stop. Its methods may be called from several goroutines.
type Meter struct{}

// Start begins to sample. It fails when a target's process is not there or its expression is wrong. Sampling ends with
// Stop, or with ctx.
func Start(ctx context.Context, o Options, targets ...Target) (*Meter, error) {
	return nil, errors.New("not written yet")
}

// Mark takes a sample at once and returns its time, for Usage.Between and Usage.RAMAt.
func (m *Meter) Mark() time.Time { return time.Time{} }

// Stop takes a last sample, ends the sampling and returns all that was seen. The error tells of samples that could not be
// taken; the usage is what the others show. Further calls return the same.
func (m *Meter) Stop() (Usage, error) { return Usage{}, errors.New("not written yet") }

// Usage is what the roles used over a time.
type Usage struct {
	// Start is what T counts from.
	Start time.Time
	// Seconds is the length of the time.
	Seconds float64
	// T are the ends of the sampling intervals, in s from Start, ascending.
	T []float64
	// Roles is what each role used. A role of which no process was seen is not in it.
	Roles map[string]Role
}

// A Role is what the processes of one role used over a time.
type Role struct {
	CPUSeconds float64   // of all its processes, those included that have ended
	RAMMean    float64   // bytes, resident, over the time in which it had a process
	RAMPeak    float64   // bytes, largest sample
	CPU        []float64 // cores in use over each interval that ends at T
	RAM        []float64 // bytes at T
	Ended      bool      // no process was left at the end of the time
}

// Between returns the usage from a to b. Times of Mark are exact; others are interpolated between samples.
func (u Usage) Between(a, b time.Time) Usage { return Usage{} }

// RAMAt returns the resident memory in bytes of each role at a time: of the sample nearest to it. A role that had no process
// then is not in it.
func (u Usage) RAMAt(at time.Time) map[string]float64 { return nil }

// Self returns the CPU seconds, user and system, that this process has used since it started, without its children.
func Self() (float64, error) { return 0, errors.New("not written yet") }
