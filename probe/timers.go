package probe

import (
	"context"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
)

// Noise is how late timers of one delay fired.
type Noise struct {
	Delay float64 `json:"delay"` // s that was asked for
	Calls int     `json:"calls"` // fewer than usual where timers are slow
	// How much later than asked for, in s.
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// newNoise makes quantiles of what timers took, in s.
func newNoise(delay float64, took []float64) Noise {
	n := Noise{Delay: delay, Calls: len(took)}
	if len(took) == 0 {
		return n
	}
	took = slices.Sorted(slices.Values(took))
	late := func(p float64) float64 { return max(0, stat.Quantile(p, stat.Empirical, took, nil)-delay) }
	n.P50, n.P90, n.P99, n.Max = late(0.5), late(0.9), late(0.99), late(1)
	return n
}

// A course is what timers are tried with.
type course struct {
	delay time.Duration
	calls int
	limit time.Duration // for all calls; then it is enough
}

// The courses that the comparison of machines was made with, and a short one for between runs.
var (
	full = []course{
		{time.Millisecond, 2000, 4500 * time.Millisecond},
		{50 * time.Millisecond, 100, 7 * time.Second},
	}
	short = []course{
		{time.Millisecond, 100, 400 * time.Millisecond},
		{50 * time.Millisecond, 6, 500 * time.Millisecond},
	}
)

// Timers tries this process's own timers: 2,000 of 1 ms and 100 of 50 ms, in at most 12 s. When ctx ends it returns what it has.
func Timers(ctx context.Context) []Noise { return run(ctx, full) }

// Glance tries a few timers, in under a second. It returns how late they fired, the 90th percentile in s, and false where ctx has
// ended. The processor should have nothing else to do.
func Glance(ctx context.Context) (late float64, ok bool) {
	for _, n := range run(ctx, short) {
		late = max(late, n.P90)
	}
	return late, ctx.Err() == nil
}

func run(ctx context.Context, courses []course) []Noise {
	var all []Noise
	for _, c := range courses {
		var took []float64
		for over := time.Now().Add(c.limit); len(took) < c.calls && time.Now().Before(over) && ctx.Err() == nil; {
			start := time.Now()
			timer := time.NewTimer(c.delay)
			select {
			case <-timer.C:
				took = append(took, time.Since(start).Seconds())
			case <-ctx.Done():
				timer.Stop()
			}
		}
		all = append(all, newNoise(c.delay.Seconds(), took))
	}
	return all
}

// A Grade says how good a machine is to measure on. The zero value is no grade.
type Grade string

// The grades.
const (
	Quiet  Grade = "quiet"
	Usable Grade = "usable"
	Noisy  Grade = "noisy"
)

// What the tails may come to, in s: busy neighbours barely move a median.
const (
	quietP90, quietP99   = 0.002, 0.005
	usableP90, usableP99 = 0.006, 0.030
)

// GradeOf grades a machine by its worst tail; it is empty where nothing was measured.
func GradeOf(all []Noise) Grade {
	p90, p99 := math.Inf(-1), math.Inf(-1)
	for _, n := range all {
		if n.Calls > 0 {
			p90, p99 = max(p90, n.P90), max(p99, n.P99)
		}
	}
	switch {
	case math.IsInf(p90, -1):
		return ""
	case p90 <= quietP90 && p99 <= quietP99:
		return Quiet
	case p90 <= usableP90 && p99 <= usableP99:
		return Usable
	}
	return Noisy
}

// Means says what a grade means for what can be seen.
func (g Grade) Means() string {
	switch g {
	case Quiet:
		return "changes of a few per cent can be seen in a handful of runs, also against a stored baseline of this machine"
	case Usable:
		return "changes of five to ten per cent can be seen in a handful of runs; measure base and head in turns, on this machine, for smaller ones"
	case Noisy:
		return "only large changes can be seen, of twenty per cent and more; measure base and head in turns, make more runs, or find a quieter machine"
	}
	return "nothing was measured"
}
