package drive

import (
	"maps"
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/metric"
)

// histogram holds durations in seconds and a number of attempts without an answer.
func histogram(censored int, seconds ...float64) *metric.Histogram {
	h := metric.NewHistogram()
	for _, s := range seconds {
		h.Record(s)
	}
	for range censored {
		h.Censor()
	}
	return h
}

func TestMetrics(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(i+1) / 100
	}
	p := &Part{
		Time: 12, Floor: 10, Planned: 100, Started: 90, Late: 10, OK: 100, Actions: 600,
		Results: map[string]Size{"fetchTasks": {4, 4096, 2000}}, Self: Self{Sched: 0.003, Pauses: 0.02},
		Histograms: map[string]*metric.Histogram{
			"session": histogram(0, hundred...), "session.wait": histogram(0, hundred...), "lag": histogram(0, 0.001, 0.002),
			"insertTask": histogram(0, 0.5), "insertTask.updated": histogram(0, 0.75), "connect": histogram(0, 0.25), "visible": histogram(0),
		},
	}
	values, missing := p.Metrics()
	for name, want := range map[string]float64{
		"ok": 1, "time": 12, "time_above_floor": 2, "throughput": 50,
		"session.p50": 0.5, "session.p95": 0.95, "session.p99": 0.99, "session.max": 1, "session.wait.p50": 0.5, "session.wait.p95": 0.95,
		"driver.lag.p99": 0.002, "driver.sched.p99": 0.003, "driver.gc": 0.02, "result.fetchTasks.bytes": 1024, "latency.connect.p95": 0.25,
		"latency.insertTask.p50": 0.5, "latency.insertTask.p99": 0.5, "latency.insertTask.updated.p95": 0.75,
	} {
		if got, has := values[name]; !has || math.Abs(got-want) > want/500 {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if _, has := values["latency.visible.p50"]; has || missing["latency.visible.p50"] == "" {
		t.Errorf("an empty histogram has a median, or does not miss one: %v", missing)
	}
	for name := range values {
		if _, known := metric.Lookup(name); !known {
			t.Errorf("%s is no metric", name)
		}
	}
	for name := range missing {
		if _, known := metric.Lookup(name); !known {
			t.Errorf("%s is no metric", name)
		}
	}
}

// Failures stand in the ranks above all that was measured: six failed of ten leave no median.
func TestMetricsOfFailures(t *testing.T) {
	p := &Part{
		Time: 1, Planned: 10, Started: 10, OK: 4, Failed: 6,
		Histograms: map[string]*metric.Histogram{"session": histogram(6, 1, 1, 1, 1), "insertTask": histogram(1, slices.Repeat([]float64{1}, 19)...)},
	}
	values, missing := p.Metrics()
	if values["ok"] != 0.4 {
		t.Errorf("got ok %v, want 0.4", values["ok"])
	}
	for name, want := range map[string]string{
		"time": "6 of 10 sessions did not end well", "time_above_floor": "6 of 10 sessions did not end well",
		"throughput": "6 of 10 sessions did not end well", "session.p50": "6 of 10 attempts ended without an answer",
		"session.p99": "6 of 10 attempts ended without an answer", "latency.insertTask.p99": "1 of 20 attempts ended without an answer",
	} {
		if got := missing[name]; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		if _, has := values[name]; has {
			t.Errorf("%s has a value, %v", name, values[name])
		}
	}
	if _, has := values["session.max"]; has {
		t.Error("the longest session is known, although some never ended")
	}
	if got := values["latency.insertTask.p95"]; math.Abs(got-1) > 0.01 {
		t.Errorf("the 95th percentile of 19 and one failure: got %v, want 1", got)
	}
}

// The empty part, and one of which nothing was started, pass for nothing.
func TestMetricsOfNothing(t *testing.T) {
	for _, p := range []*Part{{}, {Planned: 10, Dropped: 10}} {
		values, missing := p.Metrics()
		if values["ok"] != 0 || missing["time"] == "" || missing["throughput"] == "" || len(values) != 3 {
			t.Errorf("%+v: got %v, %v", p, values, missing)
		}
	}
	idle := &Part{Time: 1, Planned: 1, OK: 1, Started: 1}
	if values, missing := idle.Metrics(); missing["throughput"] == "" || values["time"] != 1 {
		t.Errorf("no actions: got %v, %v", values, missing)
	}
}

// What many sessions report at once is all there after the join.
func TestRecorder(t *testing.T) {
	r := newRecorder([]string{"a", "b"}, 3)
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			s := &r.shards[i%len(r.shards)]
			for n := range 100 {
				s.record(histReady, time.Millisecond)
				s.answer(n%2, time.Millisecond, n)
				s.censor(histUpdated(1))
			}
		})
	}
	wg.Wait()
	hists := r.merged()
	if got := slices.Sorted(maps.Keys(hists)); !slices.Equal(got, []string{"a", "b", "b.updated", "ready"}) {
		t.Errorf("got %v", got)
	}
	if hists["ready"].Count() != 3000 || hists["a"].Count() != 1500 || hists["b.updated"].Censored() != 3000 {
		t.Errorf("got %d, %d and %d", hists["ready"].Count(), hists["a"].Count(), hists["b.updated"].Censored())
	}
	sizes := r.sizes()
	if want := (Size{1500, 30 * 2450, 98}); sizes["a"] != want {
		t.Errorf("got %+v, want %+v", sizes["a"], want)
	}
	if want := (Size{1500, 30 * 2500, 99}); sizes["b"] != want || sizes["b"].Mean() != 50 {
		t.Errorf("got %+v, want %+v", sizes["b"], want)
	}
}

func TestFailuresSorted(t *testing.T) {
	var f failures
	for i, cause := range strings.Fields("b a c c a c") {
		f.add(cause, string(rune('0'+i)))
	}
	var got []string
	for _, failure := range f.sorted() {
		got = append(got, failure.Cause+failure.Example)
	}
	if want := "c2 a1 b0"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", strings.Join(got, " "), want)
	}
}

func TestSpread(t *testing.T) {
	ends := []float64{math.Inf(-1), 0, 1, 2, math.Inf(1)}
	before := &metrics.Float64Histogram{Counts: []uint64{0, 5, 0, 0}, Buckets: ends}
	s := since(before, &metrics.Float64Histogram{Counts: []uint64{0, 5 + 98, 1, 1}, Buckets: ends})
	for q, want := range map[float64]float64{0.5: 1, 0.98: 1, 0.99: 2, 1: 2} {
		if got := s.quantile(q); got != want {
			t.Errorf("quantile %v: got %v, want %v", q, got, want)
		}
	}
	if got, want := s.total(), 98*0.5+1.5+2; got != want {
		t.Errorf("got a total of %v, want %v", got, want)
	}
	if empty := since(nil, nil); empty.quantile(1) != 0 || empty.total() != 0 {
		t.Error("an empty spread has values")
	}
}

// Collections during a load are pauses of it.
func TestSelfSeesCollections(t *testing.T) {
	m, err := startSelf(0)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		runtime.GC()
	}
	m.look()
	s, err := m.stop()
	if err != nil || s.CPU < 0 || s.Busy < 0 || s.Pauses <= 0 || s.LongestStop <= 0 || s.Descriptors != openDescriptors() {
		t.Errorf("got %+v, error %v", s, err)
	}
}
