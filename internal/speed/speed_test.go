// Package speed holds the driver against the least that a Go client could do, and against its own bounds. Every benchmark
// reports ratios or shares taken in one run, by the kernel's accounting of processes of their own:
//
//	go test ./internal/speed -bench . -benchtime 3x
//
// docs/performance.md says what came out.
package speed

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/internal/tasksapp"
	"github.com/ddpgate/ddpgate/scenario"
)

// A job is what a child process is to do.
type job struct {
	Role        string // server, floor, driver
	URL         string
	Rate        float64
	Seconds     float64
	ThinkMS     float64 // longest pause; fixed where Fixed
	Fixed       bool
	Transport   scenario.Transport
	Compression scenario.Compression
	Idle        bool // subscribe and stay
}

// A report is what a client says of itself.
type report struct {
	OK, Late int
	Data     int64
	Time     float64
}

const env = "DDPGATE_SPEED_JOB"

func TestMain(m *testing.M) {
	if text := os.Getenv(env); text != "" {
		if err := child(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func child(text string) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	switch j.Role {
	case "server":
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		fmt.Println("http://" + l.Addr().String())
		return tasksapp.New(tasksapp.Options{}).Serve(ctx, l)
	case "floor":
		return json.NewEncoder(os.Stdout).Encode(floor(ctx, j))
	}
	return driver(ctx, j)
}

func driver(ctx context.Context, j job) error {
	sc, err := scenario.Builtin("tasks-reactive")
	if err != nil {
		return err
	}
	sc.Arrivals = scenario.Arrivals{Rate: j.Rate, For: seconds(j.Seconds)}
	sc.Think = scenario.Range{Max: seconds(j.ThinkMS / 1000)}
	if j.Fixed {
		sc.Think.Min = sc.Think.Max
	}
	sc.Transport, sc.Compression = j.Transport, j.Compression
	if j.Idle {
		hour := scenario.Range{Min: time.Hour, Max: time.Hour}
		sc.Timeout = 2 * time.Hour
		sc.Session = []scenario.Step{sc.Session[0], {Pause: &scenario.Pause{For: hour}}}
	}
	started := false
	p, err := drive.Run(ctx, *sc, drive.Options{URL: j.URL, Seed: 1, Progress: func(p drive.Progress) {
		if j.Idle && p.Started == p.Planned && !started {
			started = true
			fmt.Println("started")
		}
	}})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(report{p.OK, p.Late, p.DataMessages, p.Time})
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// A process is a running child.
type process struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

func start(b *testing.B, j job) *process {
	b.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), env+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	p := &process{cmd, bufio.NewReader(out)}
	b.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	return p
}

func (p *process) line(b *testing.B) string {
	b.Helper()
	s, err := p.out.ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(s)
}

// cost waits for a client and returns what it reports and the CPU seconds that it used.
func (p *process) cost(b *testing.B) (report, float64) {
	b.Helper()
	text, err := io.ReadAll(p.out)
	if err != nil {
		b.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		b.Fatalf("%v in %q", err, text)
	}
	return r, (p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()).Seconds()
}

// measure runs a client against a server of its own and returns its CPU seconds per 1,000 data messages.
func measure(b *testing.B, j job) (report, float64, float64) {
	b.Helper()
	server := start(b, job{Role: "server"})
	j.URL = server.line(b)
	r, cpu := start(b, j).cost(b)
	if want := int(j.Rate * j.Seconds); r.OK != want {
		b.Fatalf("%s: %d of %d sessions ok", j.Role, r.OK, want)
	}
	return r, cpu, cpu / float64(r.Data) * 1000
}

func median(xs []float64) float64 {
	s := slices.Sorted(slices.Values(xs))
	return s[len(s)/2]
}

// BenchmarkFanOut holds the driver's CPU per delivered data message against the floor's, turn by turn.
func BenchmarkFanOut(b *testing.B) {
	for _, rate := range []float64{10, 20} {
		b.Run(fmt.Sprintf("rate=%v", rate), func(b *testing.B) {
			var ratios, ms []float64
			for b.Loop() {
				j := job{Role: "floor", Rate: rate, Seconds: 10, ThinkMS: 200, Transport: scenario.WebSocket, Compression: scenario.Off}
				_, _, least := measure(b, j)
				j.Role = "driver"
				_, _, ours := measure(b, j)
				ratios, ms = append(ratios, ours/least), append(ms, ours*1000)
			}
			b.ReportMetric(median(ratios), "x-floor")
			b.ReportMetric(median(ms), "ms/1000msgs")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkPublished is the published reactive load: 240 sessions at 4/s, 20 tasks, 500 ms of think time.
func BenchmarkPublished(b *testing.B) {
	var off, takeover, ratios []float64
	late := 0
	for b.Loop() {
		j := job{Role: "driver", Rate: 4, Seconds: 60, ThinkMS: 500, Fixed: true, Transport: scenario.SockJS, Compression: scenario.Off}
		plain, cpu, perMessage := measure(b, j)
		off = append(off, cpu/plain.Time)
		late += plain.Late
		j.Compression = scenario.Browser
		compressed, cpu, perCompressed := measure(b, j)
		takeover = append(takeover, cpu/compressed.Time)
		ratios = append(ratios, perCompressed/perMessage)
	}
	b.ReportMetric(median(off), "cores-off")
	b.ReportMetric(median(takeover), "cores-browser")
	b.ReportMetric(median(ratios), "x-browser-to-off")
	b.ReportMetric(float64(late), "late")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkIdle is the resident memory of the driver for each idle subscribed session, of 10,000.
func BenchmarkIdle(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("reads /proc")
	}
	const sessions = 10_000
	for _, c := range []scenario.Compression{scenario.Off, scenario.Browser} {
		b.Run(string(c), func(b *testing.B) {
			var kib []float64
			for b.Loop() {
				one, all := idle(b, c, 1), idle(b, c, sessions)
				kib = append(kib, (all-one)/(sessions-1))
			}
			b.ReportMetric(median(kib), "KiB/session")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func idle(b *testing.B, c scenario.Compression, sessions float64) float64 {
	b.Helper()
	server := start(b, job{Role: "server"})
	const rate = 1000
	p := start(b, job{Role: "driver", URL: server.line(b), Rate: rate, Seconds: sessions / rate, Transport: scenario.WebSocket, Compression: c, Idle: true})
	if got := p.line(b); got != "started" {
		b.Fatal(got)
	}
	kib := resident(b, p.cmd.Process.Pid)
	_ = p.cmd.Process.Kill() // measured; it would stay for an hour
	return kib
}

func resident(b *testing.B, pid int) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kib); n == 1 {
			return kib
		}
	}
	b.Fatal("no VmRSS")
	return 0
}
