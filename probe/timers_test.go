package probe

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNewNoise(t *testing.T) {
	var took []float64
	for i := range 100 { // 51 to 150 ms, in no order
		took = append(took, 0.001*float64(51+(i*37)%100))
	}
	want := Noise{Delay: 0.05, Calls: 100, P50: 0.05, P90: 0.09, P99: 0.099, Max: 0.1}
	if diff := cmp.Diff(want, newNoise(0.05, took), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
	if n := newNoise(0.001, []float64{0.0009}); n.Max != 0 {
		t.Errorf("a timer that fired early is %v s late", n.Max)
	}
	if n := newNoise(0.001, nil); n.Calls != 0 || n.P99 != 0 {
		t.Errorf("got %+v of nothing", n)
	}
}

// By a clock that is never late, all calls are made, none is late, and it takes as long as they ask for.
func TestTimersOfAPerfectMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		for i, n := range Timers(t.Context()) {
			if want := full[i].calls; n.Calls != want || n.Max > 1e-9 {
				t.Errorf("got %+v, want %d calls on time", n, want)
			}
		}
		if took := time.Since(start); took != 7*time.Second {
			t.Errorf("took %v", took)
		}
		start = time.Now()
		if late, ok := Glance(t.Context()); late > 1e-9 || !ok {
			t.Errorf("got %v, %v", late, ok)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("a glance took %v", took)
		}
	})
}

// Where timers are slow, fewer calls are made, and the number says so: here of timers longer than their course has time for.
func TestSlowTimersAreTriedLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		got := run(t.Context(), []course{{time.Second, 100, 3500 * time.Millisecond}})
		if got[0].Calls != 4 || time.Since(start) != 4*time.Second {
			t.Errorf("got %d calls in %v, want the 4 that were begun in 3.5 s", got[0].Calls, time.Since(start))
		}
	})
	var worst time.Duration
	for _, c := range full {
		worst += c.limit
	}
	if worst > 13*time.Second {
		t.Errorf("a full sample may take %v: with what comes before and after it, that is over 15 s", worst)
	}
}

func TestTimersEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok := Glance(ctx); ok {
		t.Error("a glance that was cut short is taken for a whole one")
	}
}

func TestGradeOf(t *testing.T) {
	for _, tt := range []struct {
		p90, p99 float64
		want     Grade
	}{
		{0.0002, 0.001, Quiet}, {0.0002, 0.02, Usable}, {0.004, 0.005, Usable}, {0.0002, 0.04, Noisy}, {0.01, 0.01, Noisy},
	} {
		calm := Noise{Calls: 10}
		if got := GradeOf([]Noise{calm, {Calls: 10, P90: tt.p90, P99: tt.p99}}); got != tt.want {
			t.Errorf("p90 %v, p99 %v: got %s, want %s", tt.p90, tt.p99, got, tt.want)
		}
	}
	if got := GradeOf([]Noise{{}}); got != "" || got.Means() != "nothing was measured" {
		t.Errorf("got %q of nothing", got)
	}
	// The machines that are published, graded by what is known of them.
	want := []Grade{Noisy, Usable, Quiet}
	for i, r := range References() {
		if got := GradeOf([]Noise{{Calls: 1, P90: r.Short - 0.001}, {Calls: 1, P90: r.Long - 0.05}}); got != want[i] {
			t.Errorf("%s: got %s, want %s", r.Name, got, want[i])
		}
	}
}

// With Node there are its timers, without it an error that says so.
func TestNodeTimers(t *testing.T) {
	few := []course{{time.Millisecond, 20, 5 * time.Second}, {50 * time.Millisecond, 2, 5 * time.Second}}
	got, err := nodeTimers(t.Context(), few)
	if _, missing := exec.LookPath("node"); missing != nil {
		if !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("got %v, want %v", err, exec.ErrNotFound)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range got {
		if n.Calls < 1 || n.Calls > few[i].calls || n.Delay != few[i].delay.Seconds() || n.Max < n.P50 {
			t.Errorf("got %+v", n)
		}
	}
}

func TestProbeWithoutNode(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := NodeTimers(t.Context()); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("got %v, want %v", err, exec.ErrNotFound)
	}
	if got := Tools(t.Context()); got != (Toolchain{}) {
		t.Errorf("got %+v", got)
	}
}

func TestNoiseAsJSON(t *testing.T) {
	want := Noise{Delay: 0.05, Calls: 7, P50: 0.001, P90: 0.002, P99: 0.003, Max: 0.004}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Noise
	if err := json.Unmarshal(text, &got); err != nil || got != want {
		t.Errorf("got %+v, %v of %s", got, err, text)
	}
}
