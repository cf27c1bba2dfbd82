package fleet

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/internal/lambdatest"
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

// mergeMany has a coordinator take in a thousand parts, and returns how long and how much CPU that took, and the most heap above what there was.
func mergeMany(t testing.TB, texts [][]byte) (took, used time.Duration, peak uint64) {
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
	began := time.Now()
	var wg sync.WaitGroup
	var most atomic.Uint64
	for i := range manyParts {
		wg.Go(func() { // as each share has a goroutine that hears its worker
			hear := func(l line) {
				l.Answer.Share = drive.Share{Index: i, Of: manyParts}
				v.take(i, l)
			}
			if err := lines(io.NopCloser(bytes.NewReader(texts[i%len(texts)])), hear); err != nil {
				t.Error(err)
			}
			if i%10 == 0 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				for in, old := m.HeapInuse-min(before, m.HeapInuse), most.Load(); in > old && !most.CompareAndSwap(old, in); old = most.Load() {
				}
			}
		})
	}
	wg.Wait()
	took = time.Since(began)
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
	return took, time.Duration((end - cpu) * float64(time.Second)), most.Load()
}

// A thousand parts are merged within two seconds and 200 MB.
func BenchmarkMerge(b *testing.B) {
	lines := answers(b, 20)
	for b.Loop() {
		_, used, peak := mergeMany(b, lines)
		b.ReportMetric(used.Seconds(), "cpu-s/op")
		b.ReportMetric(float64(peak)/1e6, "peak-MB")
	}
}

// What merging takes of memory does not grow with the parts.
func TestMergeInLittleMemory(t *testing.T) {
	if _, _, peak := mergeMany(t, answers(t, 5)); peak > 200e6 {
		t.Errorf("merging took %d MB", peak/1e6)
	}
}

// From a call that finds no sandbox until the worker's answer: a worker that answers could dial.
func BenchmarkColdStart(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		f, _ := lambdas(b, 1, lambdatest.Options{}, "http://192.0.2.1")
		b.StartTimer()
		if err := f.Hello(b.Context(), "http://192.0.2.1"); err != nil {
			b.Fatal(err)
		}
	}
}

// apartEnv has BenchmarkCall in another process be the Lambda that is called, so that its CPU is not the coordinator's.
const apartEnv, apartAt = "DDPGATE_TEST_APART", "lambda at "

// apart runs a Lambda in another process for the test, and returns a fleet of one worker of it.
func apart(b *testing.B) *Fleet {
	cmd := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkCall$", "-test.benchtime=1x")
	cmd.Env, cmd.Stderr = append(os.Environ(), apartEnv+"=1"), os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = stdin.Close()
		_, _ = io.Copy(io.Discard, stdout)
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	for said := bufio.NewScanner(stdout); said.Scan(); {
		if _, url, found := strings.Cut(said.Text(), apartAt); found {
			lambdatest.Credentials(b)
			b.Setenv("AWS_ENDPOINT_URL_LAMBDA", url)
			return &Fleet{Places: []Place{&Function{Name: lambdatest.Name, In: "eu-west-1"}}, Count: 1, Version: "(devel)", Lead: 2 * time.Second}
		}
	}
	b.Fatal("the Lambda apart did not say where it is")
	return nil
}

// What a coordinator does for a worker beside merging its parts: the call, the lines, the progress.
func BenchmarkCall(b *testing.B) {
	if os.Getenv(apartEnv) != "" {
		lambdas(b, 1, lambdatest.Options{}, "http://192.0.2.1")
		fmt.Println(apartAt + os.Getenv("AWS_ENDPOINT_URL_LAMBDA"))
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	f := apart(b)
	if err := f.Hello(b.Context(), "http://192.0.2.1"); err != nil {
		b.Fatal(err)
	}
	before, err := usage.CPU()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := f.Hello(b.Context(), "http://192.0.2.1"); err != nil {
			b.Fatal(err)
		}
	}
	after, err := usage.CPU()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric((after-before)*1e3/float64(b.N), "cpu-ms/op")
}

// The worker's zip stays small: a function is started from it.
func TestZip(t *testing.T) {
	path, err := worker()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.Create("bootstrap")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(binary); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 10e6 {
		t.Errorf("the zip has %.1f MB", float64(out.Len())/1e6)
	}
	t.Logf("the zip has %.1f MB", float64(out.Len())/1e6)
}
