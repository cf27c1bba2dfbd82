package meter

import (
	"errors"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/internal/usage"
)

func near(t *testing.T, what string, got, want, share, plus float64) {
	t.Helper()
	if math.Abs(got-want) > share*want+plus {
		t.Errorf("%s: got %v, want %v within %v %% and %v", what, got, want, 100*share, plus)
	}
}

func stop(t *testing.T, m *Meter) Usage {
	t.Helper()
	u, err := m.Stop()
	if err != nil {
		t.Errorf("Stop: %v", err)
	}
	return u
}

func meter(t *testing.T, targets ...Target) *Meter {
	t.Helper()
	m, err := Start(t.Context(), Options{}, targets...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Stop() })
	return m
}

func TestCPUOfAProcess(t *testing.T) {
	w := newWorker(t)
	w.do("burn 100") // before the meter is there, so not counted
	m := meter(t, Target{Role: "app", PID: w.cmd.Process.Pid})
	a := m.Mark()
	used := w.do("burn 500")
	b := m.Mark()
	w.do("burn 100") // after the window
	u := stop(t, m)
	near(t, "CPU seconds", u.Between(a, b).Roles["app"].CPUSeconds, used, 0.02, 0.005)
	near(t, "in all", u.Roles["app"].CPUSeconds, used+0.1, 0.02, 0.02)
}

func TestCPUOfShortLivedChildren(t *testing.T) {
	w := newWorker(t)
	m := meter(t, Target{Role: "app", PID: w.cmd.Process.Pid})
	a := m.Mark()
	used := w.do("start 25")
	b := m.Mark()
	near(t, "CPU seconds", stop(t, m).Between(a, b).Roles["app"].CPUSeconds, used, 0.03, 0.02)
}

func TestMemory(t *testing.T) {
	w := newWorker(t)
	m := meter(t, Target{Role: "app", PID: w.cmd.Process.Pid})
	a := m.Mark()
	w.do("touch 100")
	b := m.Mark()
	u := stop(t, m)
	before, after := u.RAMAt(a)["app"], u.RAMAt(b)["app"]
	near(t, "memory that was taken", after-before, 100<<20, 0.03, 0)
	if peak := u.Between(a, b).Roles["app"].RAMPeak; peak < after {
		t.Errorf("got peak %v below the last sample, %v", peak, after)
	}
}

func TestProcessThatEnds(t *testing.T) {
	w := newWorker(t)
	m := meter(t, Target{Role: "app", PID: w.cmd.Process.Pid})
	used := w.do("burn 200")
	m.Mark()
	w.end()
	at := m.Mark()
	u := stop(t, m)
	r := u.Roles["app"]
	near(t, "CPU seconds", r.CPUSeconds, used, 0.02, 0.02)
	if !r.Ended {
		t.Error("the role has not ended")
	}
	if ram, there := u.RAMAt(at)["app"]; there {
		t.Errorf("got %v bytes of a process that has ended", ram)
	}
	if r.RAMMean < 1<<20 {
		t.Errorf("got mean memory %v: the time after the end was counted", r.RAMMean)
	}
}

func TestNoSuchProcess(t *testing.T) {
	w := newWorker(t)
	w.end()
	_, err := Start(t.Context(), Options{}, Target{Role: "app", PID: w.cmd.Process.Pid})
	if !errors.Is(err, errGone) {
		t.Errorf("got %v, want %v", err, errGone)
	}
}

// What is orphaned below an app, in a session of its own, and ends unseen is counted by way of the guard that reaps it.
func TestOrphansOfAnApp(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.Start(t.Context(), app.Config{
		Command: []string{exe}, URL: "http://" + addr,
		Env: map[string]string{"PLAY": "app", "ADDR": addr, "DIR": "${tmp}"},
	}, app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Stop(t.Context())
	p := a.Processes()[0]
	m := meter(t, Target{Role: "app", PID: p.PID, Reaper: p.Reaper})
	for range 2 {
		res, err := http.Get("http://" + addr + "/orphan")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	m.Mark()
	if err := a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	u := stop(t, m)
	if used := u.Roles["app"].CPUSeconds; used < 0.4*0.97 || used > 2 {
		t.Errorf("got %v CPU seconds, want 0.4 of two orphans and a little more", used)
	}
	if !u.Roles["app"].Ended {
		t.Error("the role has not ended with the app")
	}
}

func TestSelf(t *testing.T) {
	before, err := usage.CPU()
	if err != nil {
		t.Fatal(err)
	}
	burn(50 * time.Millisecond)
	after, err := usage.CPU()
	if err != nil {
		t.Fatal(err)
	}
	if after-before < 0.05 {
		t.Errorf("got %v s, want at least 0.05", after-before)
	}
}

// The source that other systems have sees the same as Linux's own.
func TestHostSource(t *testing.T) {
	w := newWorker(t)
	w.do("burn 300")
	w.do("touch 50")
	pid := w.cmd.Process.Pid
	own, err := newSource(Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := own.look(pid)
	if err != nil {
		t.Fatal(err)
	}
	got, err := host{}.look(pid)
	if err != nil {
		t.Fatal(err)
	}
	if got.parent != os.Getpid() || got.name != want.name || got.zombie {
		t.Errorf("got %+v, want %+v", got, want)
	}
	near(t, "CPU", got.cpu, want.cpu, 0, 0.05)
	near(t, "memory", got.ram, want.ram, 0.05, 0)
	if got, want := (host{}).command(pid), own.command(pid); got != want {
		t.Errorf("got command %q, want %q", got, want)
	}
	w.end()
	if _, err := (host{}).look(pid); !errors.Is(err, errGone) {
		t.Errorf("after its end: got %v, want %v", err, errGone)
	}
}

// BenchmarkSample is the cost of one sample of ten processes, as it is taken twice a second: 0.5 % of a core is 2.5 ms.
func BenchmarkSample(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for range 9 {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), "PLAY=worker")
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			b.Fatal(err)
		}
		defer cmd.Wait()
		defer in.Close()
	}
	m, err := Start(b.Context(), Options{Interval: time.Hour}, Target{Role: "app", PID: os.Getpid()})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Stop()
	before, err := usage.CPU()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		m.sample(false)
	}
	after, err := usage.CPU()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric((after-before)/float64(b.N)*1e6, "cpu-µs/op")
}
