package runner

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/internal/tasksapp"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/scenario"
)

// elsewhere is a tasks app that runs already. Its endpoint answers by the number of the request, from 1.
func elsewhere(t *testing.T, tell func(n int64) (cpu float64, ok bool)) app.Config {
	t.Helper()
	ctx, served := t.Context(), make(chan error, 1)
	tasks := httptest.NewUnstartedServer(nil)
	go func() { served <- tasksapp.New(tasksapp.Options{}).Serve(ctx, tasks.Listener) }()
	t.Cleanup(func() {
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	var asked atomic.Int64
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cpu, ok := tell(asked.Add(1))
		if !ok {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		fmt.Fprintf(w, "process_cpu_seconds_total %v\nprocess_resident_memory_bytes 5e7\n", cpu)
	}))
	t.Cleanup(endpoint.Close)
	return app.Config{URL: "http://" + tasks.Listener.Addr().String(), Metrics: app.Metrics{URL: endpoint.URL}}
}

func remoteRun(t *testing.T, tell func(n int64) (float64, bool)) record.Run {
	t.Helper()
	return alone(t, t.Context(), elsewhere(t, tell), tasks(t, 10, 600*time.Millisecond), Hooks{}).Scenarios[0].Runs[0]
}

func TestRemoteApp(t *testing.T) {
	r := remoteRun(t, func(n int64) (float64, bool) { return float64(n), true })
	if r.Outcome != record.OK && r.Outcome != record.Invalid || r.Sessions.OK != 6 {
		t.Fatalf("%s for %q, %+v", r.Outcome, r.Reasons, r.Sessions)
	}
	if !(r.Metrics["cpu_seconds"] >= 1) || math.Abs(r.Metrics["ram"]-5e7) > 1 || // a mean over uneven steps
		!strings.HasPrefix(r.Metered["app"], "endpoint http://") {
		t.Errorf("got %v, metered by %v", r.Metrics, r.Metered)
	}
}

// An endpoint that stops to answer makes its metrics missing, with the reason; one that counts anew makes the run invalid.
func TestRemoteAppThatEnds(t *testing.T) {
	// The first three requests come before the load.
	r := remoteRun(t, func(n int64) (float64, bool) { return 1, n <= 3 })
	if _, found := r.Metrics["cpu_seconds"]; found || !strings.Contains(r.Missing["cpu_seconds"], "502") {
		t.Errorf("got %v; missing: %q", r.Metrics["cpu_seconds"], r.Missing["cpu_seconds"])
	}
	if !(r.Metrics["time"] > 0) || len(r.Series["app.cpu"]) >= len(r.Series["t"]) {
		t.Errorf("time %v, series of %d in %d points", r.Metrics["time"], len(r.Series["app.cpu"]), len(r.Series["t"]))
	}
	r = remoteRun(t, func(n int64) (float64, bool) { return 100 / float64(max(1, n-2)), true })
	if all := strings.Join(r.Reasons, "\n"); r.Outcome != record.Invalid || !strings.Contains(all, "restarted") {
		t.Errorf("got %s for %q", r.Outcome, all)
	}
}

// What is to be metered elsewhere and is not there ends the run before its load.
func TestNothingElsewhere(t *testing.T) {
	drove := func(c app.Config) record.Run {
		t.Helper()
		rec := new(record.Record)
		p := Plan{Arms: []Arm{{Name: record.Head, App: c, Options: app.Options{Environ: []string{"DOCKER_HOST=unix:///no/such/socket"}}}},
			Scenarios: []scenario.Scenario{tasks(t, 10, 600*time.Millisecond)}, Runs: Runs{Min: 1, Max: 1}}
		if err := Run(t.Context(), rec, p, Hooks{Drive: drive.Run}); err != nil {
			t.Fatal(err)
		}
		return rec.Scenarios[0].Runs[0]
	}
	c := elsewhere(t, func(int64) (float64, bool) { return 0, false })
	r := drove(c)
	if r.Outcome != record.Invalid || r.Sessions.Planned != 0 || !strings.Contains(strings.Join(r.Reasons, "\n"), "502") {
		t.Errorf("got %s for %q", r.Outcome, r.Reasons)
	}
	r = drove(app.Config{URL: c.URL, Container: "my-meteor-app"})
	if r.Outcome != record.Invalid || r.Sessions.Planned != 0 || !strings.Contains(strings.Join(r.Reasons, "\n"), "/no/such/socket") {
		t.Errorf("got %s for %q", r.Outcome, r.Reasons)
	}
}
