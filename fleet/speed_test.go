package fleet

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/internal/usage"
	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/scenario"
)

const manyParts, histogramsEach, valuesEach = 1000, 15, 300

// answers are lines with realistic parts, of which there are a few that share their histograms.
func answers(t testing.TB, count int) [][]byte {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	lines := make([][]byte, count)
	for i := range lines {
		p := &drive.Part{Planned: 4, Started: 4, OK: 4, Time: 60, Histograms: make(map[string]*metric.Histogram)}
		for h := range histogramsEach {
			one := metric.NewHistogram()
			for range valuesEach {
				one.Record(0.002 + rng.ExpFloat64()*0.05)
			}
			p.Histograms[fmt.Sprintf("method%d", h)] = one
		}
		sealed, err := seal(p)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(line{At: time.Now(), Answer: &Answer{Run: "r", Share: drive.Share{Index: i, Of: manyParts}, Parts: []Sealed{sealed}}})
		if err != nil {
			t.Fatal(err)
		}
		lines[i] = text
	}
	return lines
}

// mergeMany has a coordinator take in a thousand parts, and returns what it allocated and its peak heap above what was there.
func mergeMany(t testing.TB, lines [][]byte) (took time.Duration, peak uint64) {
	t.Helper()
	sc := scenario.Scenario{Name: "many", Arrivals: scenario.Arrivals{Rate: 400, For: 10 * time.Second}, Timeout: time.Minute}
	f := &Fleet{}
	v := f.voyage(Ticket{Run: "r", Scenario: sc, Count: manyParts, Targets: []string{"x"}, Regions: []string{"eu-west-1", "us-east-1"}}, Job{}, nil)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapInuse
	cpu, err := usage.CPU()
	if err != nil {
		t.Fatal(err)
	}
	for i := range manyParts {
		var l line
		text := lines[i%len(lines)]
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		l.Answer.Share = drive.Share{Index: i, Of: manyParts}
		v.take(i, l)
		if i%10 == 0 {
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse-min(before, m.HeapInuse))
		}
	}
	end, err := usage.CPU()
	if err != nil {
		t.Fatal(err)
	}
	for i := range v.shares {
		if v.shares[i].fault != "" {
			t.Fatal(v.shares[i].fault)
		}
	}
	if got := v.merged[0].Histograms["method0"].Count(); got != manyParts*valuesEach {
		t.Fatalf("%d values of %d", got, manyParts*valuesEach)
	}
	return time.Duration((end - cpu) * float64(time.Second)), peak
}

// A thousand parts are merged within two seconds of CPU and 200 MB.
func BenchmarkMerge(b *testing.B) {
	lines := answers(b, 20)
	for b.Loop() {
		took, peak := mergeMany(b, lines)
		b.ReportMetric(took.Seconds(), "cpu-s/op")
		b.ReportMetric(float64(peak)/1e6, "peak-MB")
	}
}

// What merging takes of memory does not grow with the parts.
func TestMergeInLittleMemory(t *testing.T) {
	if _, peak := mergeMany(t, answers(t, 5)); peak > 200e6 {
		t.Errorf("merging took %d MB", peak/1e6)
	}
}
