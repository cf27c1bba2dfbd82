package meter

import (
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// An exporter is a process elsewhere, as its endpoint shows it.
type exporter struct {
	mu            sync.Mutex
	cpu, ram      float64
	started       float64
	status        int
	authorization string
}

func (e *exporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.authorization = r.Header.Get("Authorization")
	if e.status != 0 {
		w.WriteHeader(e.status)
		return
	}
	fmt.Fprintf(w, "# HELP x y\n# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total %v 1700000000000\n", e.cpu)
	fmt.Fprintf(w, "process_resident_memory_bytes %v\nprocess_start_time_seconds %v\nhttp_requests_total{path=\"/a } b\",q=\"\\\"\"} 7\n", e.ram, e.started)
}

func (e *exporter) set(change func(*exporter)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change(e)
}

func exported(t *testing.T) (*exporter, Target) {
	t.Helper()
	e := &exporter{cpu: 100, ram: 1000, started: 1}
	s := httptest.NewServer(e)
	t.Cleanup(s.Close)
	return e, Target{Role: "app", Endpoint: &Endpoint{URL: s.URL + "/metrics", Token: "secret"}}
}

func TestRemote(t *testing.T) {
	e, target := exported(t)
	m := meter(t, target)
	a := m.Mark()
	e.set(func(e *exporter) { e.cpu, e.ram = 107, 3000 })
	b := m.Mark()
	r := stop(t, m).Between(a, b).Roles["app"]
	if r.CPUSeconds != 7 || math.Abs(r.RAMMean-2000) > 1e-6 || r.RAMPeak != 3000 || r.Broken != "" {
		t.Errorf("got %+v", r)
	}
	if e.authorization != "Bearer secret" {
		t.Errorf("asked with %q", e.authorization)
	}
}

// What stops to answer ends its series there, and is not whole; what begins to count anew was restarted.
func TestRemoteThatEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		change    func(*exporter)
		why       string
		restarted bool
	}{
		"stops to answer":  {func(e *exporter) { e.status = http.StatusBadGateway }, "502", false},
		"counts backwards": {func(e *exporter) { e.cpu = 1 }, "restarted", true},
		"started later":    {func(e *exporter) { e.cpu, e.started = 500, 2 }, "restarted", true},
	} {
		t.Run(name, func(t *testing.T) {
			e, target := exported(t)
			m := meter(t, target, Target{Role: "db", PID: os.Getpid()})
			a := m.Mark()
			e.set(func(e *exporter) { e.cpu = 103 })
			middle := m.Mark()
			e.set(tt.change)
			m.Mark()
			b := m.Mark()
			e.set(func(e *exporter) { e.cpu, e.status = 900, 0 })
			u := stop(t, m)
			r := u.Between(a, b).Roles["app"]
			if !strings.Contains(r.Broken, tt.why) || r.Restarted != tt.restarted {
				t.Errorf("got %q, restarted %v", r.Broken, r.Restarted)
			}
			if r.CPUSeconds != 3 {
				t.Errorf("got %v s, want what was told before", r.CPUSeconds)
			}
			if w := u.Between(a, b); len(r.CPU) >= len(w.T) || len(w.Roles["db"].CPU) != len(w.T) {
				t.Errorf("the series has %d of %d points, the other role's %d", len(r.CPU), len(w.T), len(w.Roles["db"].CPU))
			}
			if r := u.Between(a, middle).Roles["app"]; r.Broken != "" || r.CPUSeconds != 3 {
				t.Errorf("before its end: %+v", r)
			}
		})
	}
}

func TestRemoteThatIsNotThere(t *testing.T) {
	e, target := exported(t)
	target.Endpoint.CPU = "node_cpu"
	_, err := Start(t.Context(), Options{}, target)
	if err == nil || !strings.Contains(err.Error(), "no metric node_cpu") || !strings.Contains(err.Error(), "process_cpu_seconds_total") {
		t.Errorf("got %v, want what was looked for and what there is", err)
	}
	e.set(func(e *exporter) { e.status = http.StatusUnauthorized })
	if _, err := Start(t.Context(), Options{}, target); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("got %v", err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	target.Endpoint.URL = "http://" + ln.Addr().String()
	if _, err := Start(t.Context(), Options{}, target); err == nil || !strings.Contains(err.Error(), ln.Addr().String()) {
		t.Errorf("got %v", err)
	}
}

func FuzzParseMetrics(f *testing.F) {
	f.Add("cpu 1\nram{a=\"}\"} 2e3 5\n# x\n")
	f.Add("cpu{")
	f.Add("cpu NaN\n")
	f.Fuzz(func(t *testing.T, text string) {
		told, names, err := parseMetrics(strings.NewReader(text), "cpu", "ram")
		if err != nil {
			return
		}
		var again strings.Builder
		for name, v := range told {
			if !(v >= 0) {
				t.Errorf("%s is %v", name, v)
			}
			fmt.Fprintf(&again, "%s{of=\"\\\"}\"} %v\n", name, v)
		}
		back, _, err := parseMetrics(strings.NewReader(again.String()), "cpu", "ram")
		for name, v := range told {
			if err == nil && back[name] != v {
				t.Errorf("%s: got %v, want %v", name, back[name], v)
			}
		}
		if len(told) > len(names) {
			t.Errorf("%d figures of %d metrics", len(told), len(names))
		}
	})
}

// agentOf serves an agent and returns its URL.
func agentOf(t *testing.T, target Target, token string) string {
	t.Helper()
	a, err := NewAgent(t.Context(), target, token)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(a)
	t.Cleanup(func() {
		s.Close()
		a.Close()
	})
	return s.URL
}

// What an agent serves of a process, a meter elsewhere reads.
func TestAgentOfAProcess(t *testing.T) {
	w := newWorker(t)
	url := agentOf(t, Target{PID: w.cmd.Process.Pid}, "secret")
	target := Target{Role: "app", Endpoint: &Endpoint{URL: url + "/metrics", Token: "secret"}}
	m := meter(t, target)
	a := m.Mark()
	used := w.do("burn 500")
	b := m.Mark()
	r := stop(t, m).Between(a, b).Roles["app"]
	near(t, "CPU seconds", r.CPUSeconds, used, 0.02, 0.005)
	if r.RAMMean < 1<<20 {
		t.Errorf("got %v bytes", r.RAMMean)
	}
	w.end()
	if _, err := Start(t.Context(), Options{}, target); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("got %v of a process that has ended", err)
	}
}

func TestAgentOnlyReadsAndWantsItsToken(t *testing.T) {
	url := agentOf(t, Target{PID: os.Getpid()}, "secret")
	for _, tt := range []struct {
		method, path, token string
		want                int
	}{
		{"GET", "/metrics", "Bearer secret", 200},
		{"GET", "/metrics", "", 401},
		{"GET", "/metrics", "Bearer secreT", 401},
		{"GET", "/metrics", "secret", 401},
		{"POST", "/metrics", "Bearer secret", 405},
		{"GET", "/", "Bearer secret", 404},
		{"GET", "/debug", "", 401},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, url+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", tt.token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != tt.want {
			t.Errorf("%s %s with %q: got %d, want %d", tt.method, tt.path, tt.token, answer.StatusCode, tt.want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestAgentOfAGroup(t *testing.T) {
	dir := t.TempDir()
	if _, err := NewAgent(t.Context(), Target{Groups: []string{filepath.Join(dir, "none")}}, ""); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("got %v", err)
	}
	for name, text := range map[string]string{"cpu.stat": "usage_usec 1500000\n", "memory.stat": "anon 4096\nshmem 4\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	answer, err := http.Get(agentOf(t, Target{Groups: []string{dir}}, "") + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer answer.Body.Close()
	told, _, err := parseMetrics(answer.Body, usualCPU, usualRAM)
	if err != nil || told[usualCPU] != 1.5 || told[usualRAM] != 4100 {
		t.Errorf("got %v, %v", told, err)
	}
}

// dockerOf is a Docker whose answers stand in testdata, over a socket as the real one.
func dockerOf(t *testing.T, inspect func(name string) string) *Docker {
	t.Helper()
	dir, err := os.MkdirTemp("", "docker") // t.TempDir may be too long for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	ln, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containers/json", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, "testdata/docker/containers.json")
	})
	mux.HandleFunc("GET /containers/{name}/json", func(w http.ResponseWriter, r *http.Request) {
		text := inspect(r.PathValue("name"))
		if text == "" {
			http.Error(w, `{"message":"No such container"}`, http.StatusNotFound)
			return
		}
		io.WriteString(w, text)
	})
	s := httptest.NewUnstartedServer(mux)
	s.Listener.Close()
	s.Listener = ln
	s.Start()
	t.Cleanup(s.Close)
	d, err := NewDocker("unix://" + socket)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestContainers(t *testing.T) {
	running, err := os.ReadFile("testdata/docker/running.json")
	if err != nil {
		t.Fatal(err)
	}
	exited, err := os.ReadFile("testdata/docker/exited.json")
	if err != nil {
		t.Fatal(err)
	}
	answer := strings.Replace(string(running), `"Pid": 4242`, fmt.Sprintf(`"Pid": %d`, os.Getpid()), 1)
	d := dockerOf(t, func(name string) string {
		return map[string]string{"my-meteor-app": answer, "old": string(exited)}[name]
	})
	c, err := d.Container(t.Context(), "my-meteor-app")
	if err != nil {
		t.Fatal(err)
	}
	if c.PID != os.Getpid() || !strings.HasPrefix(c.ID, "4f5e") || c.Restarts != 1 {
		t.Errorf("got %+v", c)
	}
	target, err := c.Target("app")
	if err != nil {
		t.Fatal(err)
	}
	if target.PID != c.PID || len(target.Groups) > 0 {
		t.Errorf("got %+v: this process's groups are not the container's alone", target)
	}
	stop(t, meter(t, target))
	for name, want := range map[string]string{
		"my-app": "no container my-app; those that run are db, my-meteor-app",
		"old":    "container old does not run, it is exited; those that run are",
	} {
		if _, err := d.Container(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	wantRestarts(t, d, c, &answer)
}

// wantRestarts changes what Docker says of a container and looks for what is told of it.
func wantRestarts(t *testing.T, d *Docker, c Container, answer *string) {
	t.Helper()
	whole := *answer
	for change, want := range map[[2]string]string{
		{"", ""}: "",
		{`"RestartCount": 1`, `"RestartCount": 2`}:         "restarted",
		{"2026-11-30T10:00:00.5Z", "2026-11-30T10:07:00Z"}: "restarted",
		{`"Pid": `, `"Pid": 1`}:                            "restarted",
		{`"Id": "4f5e`, `"Id": "0000`}:                     "replaced",
		{`"Running": true`, `"Running": false`}:            "went away",
	} {
		*answer = strings.Replace(whole, change[0], change[1], 1)
		got := c.Restarted(d.Container(t.Context(), c.Name))
		if !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%v: got %q, want %q", change, got, want)
		}
	}
}

func TestNoDocker(t *testing.T) {
	d, err := NewDocker("unix://" + filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Container(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("got %v, want what was looked for", err)
	}
	if _, err := NewDocker("ssh://host"); err == nil {
		t.Error("a host that cannot be reached this way is taken")
	}
}
