package gate

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
)

// large makes a record of 100 scenarios with 20 metrics and n runs an arm.
func large(seed uint64, n int, arms ...string) *record.Record {
	r := rand.New(rand.NewPCG(seed, 1))
	rec := &record.Record{Format: record.Format, Created: noon, Environment: thisMachine}
	names := metric.Names()[:14]
	for i := range 6 {
		names = append(names, fmt.Sprintf("latency.method%d.p95", i))
	}
	for s := range 100 {
		var runs []record.Run
		for _, arm := range arms {
			f := make(figures)
			for _, name := range names {
				for range n {
					f[name] = append(f[name], 100*(1+0.03*r.NormFloat64()))
				}
			}
			runs = append(runs, healthyRuns(arm, noon, time.Minute, f)...)
		}
		rec.Scenarios = append(rec.Scenarios, record.Scenario{Name: fmt.Sprint("s", s), Identity: "sha256:1", Runs: runs})
	}
	return rec
}

func BenchmarkJudge(b *testing.B) {
	base, head := large(1, 20, record.Head), large(2, 20, record.Head)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Judge(base, head, Policy{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJudgePairs(b *testing.B) {
	for _, n := range []int{10, 20} {
		rec := large(1, n, record.Base, record.Head)
		b.Run(fmt.Sprint(n, "pairs"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := JudgePairs(rec, Policy{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
