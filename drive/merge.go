package drive

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/scenario"
)

// NewPart returns the part of a load of which nothing has been seen yet, for others to be merged into. It plans no session.
func NewPart(sc scenario.Scenario) *Part {
	return &Part{Floor: sc.Floor().Seconds(), Histograms: make(map[string]*metric.Histogram)}
}

// Merge adds what another driver saw of the same load, at the same start. The other part must not be used any more.
//
// Percentiles of the whole are those of all durations together. What the drivers went through is summed where it is an amount, and
// otherwise that of the one that had the worst of it.
func (p *Part) Merge(other *Part) {
	if p.Start.IsZero() {
		p.Start = other.Start
	}
	p.Time, p.Floor = max(p.Time, other.Time), max(p.Floor, other.Floor)
	p.Planned += other.Planned
	p.Started += other.Started
	p.OK += other.OK
	p.Failed += other.Failed
	p.Late += other.Late
	p.Dropped += other.Dropped
	p.Exhausted += other.Exhausted
	p.Actions += other.Actions
	p.DataMessages += other.DataMessages
	p.Bytes += other.Bytes
	p.Odd += other.Odd
	p.mergeHistograms(other)
	p.Failures = together(p.Failures, other.Failures)
	p.Active = summed(p.Active, other.Active)
	for method, size := range other.Results {
		if p.Results == nil {
			p.Results = make(map[string]Size)
		}
		size.add(p.Results[method])
		p.Results[method] = size
	}
	p.Self.worsen(other.Self)
	p.Extensions = bothExtensions(p.Extensions, other.Extensions)
	p.Sources = append(p.Sources, other.Sources...)
	p.Faults = append(p.Faults, other.Faults...)
	if p.Regions == nil {
		p.Regions = other.Regions
	} else {
		maps.Copy(p.Regions, other.Regions)
	}
}

// Clone returns a copy that Merge may take.
func (p *Part) Clone() *Part {
	c := *p
	c.Histograms = make(map[string]*metric.Histogram, len(p.Histograms))
	for name, h := range p.Histograms {
		c.Histograms[name] = h.Clone()
	}
	c.Failures, c.Active, c.Results = slices.Clone(p.Failures), slices.Clone(p.Active), maps.Clone(p.Results)
	c.Sources, c.Faults, c.Regions = slices.Clone(p.Sources), slices.Clone(p.Faults), maps.Clone(p.Regions)
	return &c
}

func (p *Part) mergeHistograms(other *Part) {
	if p.Histograms == nil {
		p.Histograms = make(map[string]*metric.Histogram)
	}
	for name, h := range other.Histograms {
		if mine := p.Histograms[name]; mine != nil {
			mine.Merge(h)
		} else {
			p.Histograms[name] = h
		}
	}
}

func (s *Self) worsen(other Self) {
	s.CPU += other.CPU
	s.Pauses += other.Pauses
	s.Busy, s.Sched = max(s.Busy, other.Busy), max(s.Sched, other.Sched)
	s.LongestStop = max(s.LongestStop, other.LongestStop)
	s.Descriptors = max(s.Descriptors, other.Descriptors)
}

// together returns the failures of both, most frequent first.
func together(a, b []Failure) []Failure {
	if len(b) == 0 {
		return a
	}
	f := failures{byCause: make(map[string]*Failure, len(a)+len(b))}
	for _, one := range slices.Concat(a, b) {
		if known := f.byCause[one.Cause]; known != nil {
			known.Count += one.Count
		} else {
			f.byCause[one.Cause] = &one
		}
	}
	return f.sorted()
}

// summed adds two counts of sessions over time, on the grid that levels are taken at. Each holds until its next, and the last one until
// the end.
func summed(a, b []Level) []Level {
	if len(a) == 0 || len(b) == 0 {
		return slices.Concat(a, b)
	}
	const step = 0.5
	end := max(a[len(a)-1].T, b[len(b)-1].T)
	var out []Level
	for i := 0; ; i++ {
		t := float64(i) * step
		if t >= end {
			t = end
		}
		level := Level{T: t}
		for _, side := range []*[]Level{&a, &b} {
			for len(*side) > 1 && (*side)[1].T <= t {
				*side = (*side)[1:]
			}
			if (*side)[0].T <= t {
				level.Sessions += (*side)[0].Sessions
			}
		}
		out = append(out, level)
		if t == end {
			return out
		}
	}
}

// bothExtensions returns what was negotiated, each once.
func bothExtensions(a, b string) string {
	const between = " | "
	switch {
	case a == "":
		return b
	case b == "", slices.Contains(strings.Split(a, between), b):
		return a
	}
	return a + between + b
}

// Check returns why a part cannot be what a driver saw: it came from elsewhere, damaged or made up.
func (p *Part) Check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	for name, n := range map[string]int{
		"planned": p.Planned, "started": p.Started, "ok": p.OK, "failed": p.Failed, "late": p.Late, "dropped": p.Dropped,
		"exhausted": p.Exhausted, "actions": p.Actions,
	} {
		if n < 0 {
			fault("%s is %d", name, n)
		}
	}
	if p.Planned != p.Started+p.Late+p.Dropped {
		fault("%d planned sessions are not %d started, %d late and %d dropped", p.Planned, p.Started, p.Late, p.Dropped)
	}
	if p.Started+p.Late != p.OK+p.Failed {
		fault("%d started and %d late sessions are not %d that ended well and %d that failed", p.Started, p.Late, p.OK, p.Failed)
	}
	if !(p.Time >= 0) || !(p.Floor >= 0) {
		fault("time is %v s, floor %v s", p.Time, p.Floor)
	}
	const longest = 24 * 3600 // s; no load takes as long, and a sum of levels has one every half second
	for i, l := range p.Active {
		if !(l.T >= 0 && l.T <= longest) || i > 0 && l.T < p.Active[i-1].T {
			fault("level %d is at %v s", i, l.T)
			break
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Histograms)) {
		if p.Histograms[name] == nil {
			fault("histogram %s is missing", name)
		}
	}
	return errors.Join(faults...)
}
