package drive

import (
	"math"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/ddpgate/ddpgate/internal/usage"
)

// A selfMeter reads the runtime's figures about this process at the start and at the end of a load.
type selfMeter struct {
	before      [2]*metrics.Float64Histogram
	descriptors int

	begun time.Time
	cpu   float64 // s, before
	cores float64
}

const (
	schedLatencies = "/sched/latencies:seconds"
	gcPauses       = "/sched/pauses/total/gc:seconds"
)

// startSelf begins to meter this process, which may use that many cores at a time; 0 for as many as Go uses.
func startSelf(cores float64) (*selfMeter, error) {
	if cores == 0 {
		cores = float64(runtime.GOMAXPROCS(0))
	}
	cpu, err := usage.CPU()
	return &selfMeter{before: readSelf(), begun: time.Now(), cpu: cpu, cores: cores}, err
}

func readSelf() (h [2]*metrics.Float64Histogram) {
	samples := []metrics.Sample{{Name: schedLatencies}, {Name: gcPauses}}
	metrics.Read(samples)
	for i, s := range samples {
		if s.Value.Kind() == metrics.KindFloat64Histogram {
			h[i] = s.Value.Float64Histogram()
		}
	}
	return h
}

// look notes how many descriptors are open.
func (m *selfMeter) look() { m.descriptors = max(m.descriptors, openDescriptors()) }

// stop returns what happened since the start.
func (m *selfMeter) stop() (Self, error) {
	after := readSelf()
	sched, pauses := since(m.before[0], after[0]), since(m.before[1], after[1])
	cpu, err := usage.CPU()
	cpu -= m.cpu
	return Self{
		CPU:         cpu,
		Busy:        cpu / (time.Since(m.begun).Seconds() * m.cores),
		Sched:       sched.quantile(0.99),
		Pauses:      pauses.total(),
		LongestStop: pauses.quantile(1),
		Descriptors: m.descriptors,
	}, err
}

// A spread is a histogram of seconds: counts[i] lie between ends[i] and ends[i+1].
type spread struct {
	counts []uint64
	ends   []float64
}

// since returns what a histogram has gained. Both have the same buckets, as the runtime's always have.
func since(before, after *metrics.Float64Histogram) spread {
	if before == nil || after == nil {
		return spread{}
	}
	s := spread{make([]uint64, len(after.Counts)), after.Buckets}
	for i := range after.Counts {
		s.counts[i] = after.Counts[i] - before.Counts[i]
	}
	return s
}

// upper returns the upper end of a bucket, its lower end where that is infinite.
func (s spread) upper(i int) float64 {
	if math.IsInf(s.ends[i+1], 0) {
		return s.ends[i]
	}
	return s.ends[i+1]
}

// quantile returns the upper end of the bucket that the quantile falls in, 0 for an empty spread.
func (s spread) quantile(q float64) float64 {
	var n, seen uint64
	for _, c := range s.counts {
		n += c
	}
	rank := uint64(math.Ceil(q * float64(n)))
	for i, c := range s.counts {
		if seen += c; c > 0 && seen >= rank {
			return s.upper(i)
		}
	}
	return 0
}

// total returns the sum, each value taken for the middle of its bucket.
func (s spread) total() (sum float64) {
	for i, c := range s.counts {
		if c > 0 {
			sum += float64(c) * (max(0, s.ends[i]) + s.upper(i)) / 2
		}
	}
	return sum
}
