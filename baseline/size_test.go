package baseline

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
)

// TestSlimNights holds what a thousand nights take in the store: two scenarios, both arms, ten runs each, with all the metrics that there are.
func TestSlimNights(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rec := &record.Record{Created: at(1), Apps: map[string]record.App{record.Base: {}, record.Head: {}}}
	for _, name := range []string{"tasks-reactive", "tasks-nonreactive"} {
		s := record.Scenario{Name: name}
		for i := range 20 {
			run := record.Run{Arm: []string{record.Base, record.Head}[i%2], Index: i / 2, Outcome: record.OK, Metrics: make(map[string]float64), Series: map[string][]float64{"t": make([]float64, 170)}}
			for _, metric := range metric.Names() {
				run.Metrics[metric] = rng.ExpFloat64()
			}
			for k := range 30 {
				run.Metrics[fmt.Sprintf("latency.method%d.p95", k)] = rng.ExpFloat64()
			}
			s.Runs = append(s.Runs, run)
		}
		rec.Scenarios = append(rec.Scenarios, s)
	}
	path := t.TempDir()
	s := open(t, path)
	e, err := s.Save(t.Context(), "main", record.Slim(rec), at(2))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(path, recordsDir, recordFile(e.ID)))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 100_000 {
		t.Errorf("a record takes %d bytes, and a thousand more than 100 MB", info.Size())
	}
}

// TestRealNight holds what a real record takes in the store. It was made by
//
//	ddpgate run tasks-nonreactive tasks-reactive --rate 4/s --for 60s --base-app "ddpgate serve …" --head-app "ddpgate serve …"
//
// on a machine that was busy otherwise, so that its latencies spread more than most. A thousand nights of two scenarios with five runs each are to fit into 100 MB, and of both
// arms when they are slim.
func TestRealNight(t *testing.T) {
	whole, err := record.Read(filepath.Join("testdata", "night.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for _, s := range whole.Scenarios {
		runs += len(s.Runs)
	}
	for name, tt := range map[string]struct {
		rec  *record.Record
		most int64 // bytes a run
	}{"whole": {whole, 10_000}, "slim": {record.Slim(whole), 2_000}} {
		path := t.TempDir()
		e, err := open(t, path).Save(t.Context(), "main", tt.rec, at(1))
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(path, recordsDir, recordFile(e.ID)))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Size() / int64(runs); got > tt.most {
			t.Errorf("%s: %d bytes a run, want %d at most", name, got, tt.most)
		}
	}
}

// TestThousandNights holds how long a log of a thousand nights takes to list.
func TestThousandNights(t *testing.T) {
	path := t.TempDir()
	s := open(t, path)
	e := save(t, s, "main", 1)
	var log []byte
	for range 1000 {
		line, err := e.line()
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, line...)
	}
	writeFile(t, filepath.Join(path, keysDir, fileOf("main")), log)
	start := time.Now()
	keys, err := s.Keys(t.Context())
	if err != nil || len(keys) != 1 || keys[0].Entries != 1000 {
		t.Fatalf("got %v, %v", keys, err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("listing took %v", took)
	}
}

func BenchmarkKeys(b *testing.B) {
	path := b.TempDir()
	s, err := Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		if _, err := s.Save(b.Context(), "main", numbered(i), at(i)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := s.Keys(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
