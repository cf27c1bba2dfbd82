package meter

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/ddpgate/ddpgate/internal/cgroup"
)

// An Agent serves the CPU time and memory of a process tree or a control group in Prometheus' text format, by the names that Prometheus' own
// libraries have for a process, at /metrics. It only reads. It may be used by several goroutines.
type Agent struct {
	token string
	read  func() (agentFigures, error)
	stop  func()
}

type agentFigures struct {
	cpu     float64 // s, counter
	ram     float64 // bytes
	started float64 // s since 1970
}

// NewAgent returns an agent for a target's process tree, or, if the target has no process, for its control groups alone. With a token it
// answers only who sends it as a bearer token. Whoever has an agent calls Close.
func NewAgent(ctx context.Context, t Target, token string) (*Agent, error) {
	a := &Agent{token: token, stop: func() {}}
	if t.PID == 0 {
		a.read = func() (agentFigures, error) { return groupFigures(t.Groups) }
		_, err := a.read()
		return a, err
	}
	t.Role = "app"
	// Nothing is kept between requests: a counter needs no samples.
	m, err := Start(ctx, Options{Interval: 24 * time.Hour}, t)
	if err != nil {
		return nil, err
	}
	started := float64(time.Now().UnixMilli()) / 1000
	a.read = func() (agentFigures, error) {
		f, err := m.now(t.Role)
		f.started = started // another agent counts from another start
		return f, err
	}
	a.stop = func() { _, _ = m.Stop() }
	return a, nil
}

// now reads a role without keeping a sample.
func (m *Meter) now(role string) (agentFigures, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.ledger.take(true)
	if err != nil {
		return agentFigures{}, err
	}
	i := m.ledger.number(role)
	if !r.alive[i] {
		return agentFigures{}, fmt.Errorf("%s: %w any more", role, errGone)
	}
	return agentFigures{cpu: r.used[i], ram: r.ram[i]}, nil
}

func groupFigures(directories []string) (agentFigures, error) {
	if len(directories) == 0 {
		return agentFigures{}, errors.New("neither a process nor a control group to serve")
	}
	at, err := os.Stat(directories[0])
	if err != nil {
		return agentFigures{}, fmt.Errorf("control group: %w", err)
	}
	r := cgroup.Read(directories)
	for _, figure := range []cgroup.Figure{cgroup.CPU, cgroup.Anon} {
		if why, missing := r.Missing[figure]; missing {
			return agentFigures{}, fmt.Errorf("control group %s: %s: %s", directories[0], figure, why)
		}
	}
	return agentFigures{
		cpu: r.Values[cgroup.CPU], ram: r.Values[cgroup.Anon] + r.Values[cgroup.Shared],
		started: float64(at.ModTime().UnixMilli()) / 1000,
	}, nil
}

// Close ends the metering.
func (a *Agent) Close() { a.stop() }

// ServeHTTP answers GET /metrics.
func (a *Agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	given := []byte(r.Header.Get("Authorization"))
	switch {
	case a.token != "" && subtle.ConstantTimeCompare(given, []byte("Bearer "+a.token)) != 1:
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "want the agent's bearer token", http.StatusUnauthorized)
		return
	case r.URL.Path != "/metrics":
		http.NotFound(w, r)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the agent only reads", http.StatusMethodNotAllowed)
		return
	}
	f, err := a.read()
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	for _, line := range []struct {
		name, kind, help string
		value            float64
	}{
		{usualCPU, "counter", "CPU seconds, user and system.", f.cpu},
		{usualRAM, "gauge", "Resident memory in bytes.", f.ram},
		{startMetric, "gauge", "When the counter began, in seconds since 1970.", f.started},
	} {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s %.17g\n", line.name, line.help, line.name, line.kind, line.name, line.value)
	}
}
