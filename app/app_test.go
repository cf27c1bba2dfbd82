//go:build unix

package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestServicesThenResetThenApp(t *testing.T) {
	c := newCast(t)
	dbAddr := freeAddr(t)
	log := filepath.Join(t.TempDir(), "log")
	conf := serving(t, c, "NAME=app", "DATA=${tmp}/x")
	conf.Services = []Service{{
		Name: "db", Command: []string{exe(t), "${tmp}"}, Ready: "tcp:" + dbAddr,
		Env: map[string]string{"PLAY": "serve", "ADDR": dbAddr, "REGISTER": c.at, "NAME": "db"},
	}}
	// The reset tells whether the database is up and the app is not, and where it runs.
	conf.Reset = []string{"sh", "-c", `ls -d ${tmp} > "$0" && pwd >> "$0"`, log}
	a := started(t, conf, Options{})

	app, db := c.enter("app"), c.enter("db")
	procs := a.Processes()
	if len(procs) != 2 || procs[0].Role != "app" || procs[0].PID != app.pid || procs[1].Role != "db" || procs[1].PID != db.pid {
		t.Errorf("got processes %+v, want app %d and db %d", procs, app.pid, db.pid)
	}
	if s, ok := a.Startup(); !ok || s <= 0 || s > patience.Seconds() {
		t.Errorf("got start-up time %v, %v", s, ok)
	}
	if a.URL() != conf.URL {
		t.Errorf("got URL %q, want %q", a.URL(), conf.URL)
	}
	wrote, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	here, _ := os.Getwd()
	lines := strings.Fields(string(wrote))
	if len(lines) != 2 || lines[1] != here {
		t.Fatalf("the reset wrote %q, want a temporary directory and %s", lines, here)
	}
	tmp := lines[0]
	if _, err := os.Stat(tmp); err != nil {
		t.Errorf("temporary directory: %v", err)
	}
	if _, ok := a.Exit(); ok {
		t.Error("got an exit while the app runs")
	}
	if got := a.Output(1); !slices.Equal(got, []string{"listening"}) {
		t.Errorf("got output %q, want listening", got)
	}

	for range 2 {
		if err := a.Stop(t.Context()); err != nil {
			t.Errorf("Stop: %v", err)
		}
	}
	if got := c.leave("app"); got != "terminated" {
		t.Errorf("the app was ended by %q, want SIGTERM", got)
	}
	if got := c.leave("db"); got != "terminated" {
		t.Errorf("the database was ended by %q, want SIGTERM", got)
	}
	if _, err := os.Stat(tmp); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("temporary directory after Stop: got %v, want it gone", err)
	}
	<-a.Done()
	if e, ok := a.Exit(); ok {
		t.Errorf("got exit %v, want none: it was stopped", e)
	}
}

func TestStartFails(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { busy.Close() })
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	noProgram := filepath.Join(dir, "no-program")
	for path, mode := range map[string]os.FileMode{plain: 0o644, noProgram: 0o755} {
		if err := os.WriteFile(path, []byte("\x00\x01\x02"), mode); err != nil {
			t.Fatal(err)
		}
	}
	play := func(part string) map[string]string { return map[string]string{"PLAY": part, "CODE": "3"} }
	tests := []struct {
		name   string
		change func(c *Config)
		what   string
		is     error
		says   string
		output []string
	}{
		{
			name: "unknown program", change: func(c *Config) { c.Command[0] = "no-such-program" },
			what: "app", is: ErrNotFound, says: `no "no-such-program" in PATH (`,
		},
		{
			name: "no such file", change: func(c *Config) { c.Command[0], c.Dir = "./nothing", dir },
			what: "app", is: ErrNotFound, says: dir + "/nothing does not exist",
		},
		{
			name: "not executable", change: func(c *Config) { c.Command[0] = plain },
			what: "app", is: ErrNotFound, says: "is not executable",
		},
		{
			name: "no program", change: func(c *Config) { c.Command[0] = noProgram },
			what: "app", says: "exec format error",
		},
		{
			name: "no dir", change: func(c *Config) { c.Dir = dir + "/nowhere" },
			what: "app", is: os.ErrNotExist, says: "nowhere",
		},
		{
			name: "port in use", change: func(c *Config) { c.URL = "http://" + busy.Addr().String() },
			what: "app", is: ErrPortInUse, says: "already listens on " + busy.Addr().String(),
		},
		{
			name: "port of service in use",
			change: func(c *Config) {
				c.Services = []Service{{Name: "db", Command: c.Command, Ready: "tcp:" + busy.Addr().String()}}
			},
			what: "service db", is: ErrPortInUse, says: busy.Addr().String(),
		},
		{
			name: "never ready", change: func(c *Config) { c.Env, c.Ready = play("mute"), 3*time.Second },
			what: "app", is: ErrNeverReady, says: "refused", output: []string{"thinking"},
		},
		{
			name: "only errors", change: func(c *Config) { c.Env["STATUS"], c.Ready = "503", 3*time.Second },
			what: "app", is: ErrNeverReady, says: "answered 503 Service Unavailable", output: []string{"listening"},
		},
		{
			name: "dies", change: func(c *Config) { c.Env = play("die") },
			what: "app", is: ErrDied, says: "it exited with status 3",
			output: []string{"to stdout", "to stderr", "cannot go on"},
		},
		{
			name: "killed", change: func(c *Config) { c.Command = []string{"sh", "-c", "echo no; kill -9 $$"} },
			what: "app", is: ErrDied, says: "it was killed by SIGKILL", output: []string{"no"},
		},
		{
			name: "service dies",
			change: func(c *Config) {
				c.Services = []Service{{Name: "db", Command: c.Command, Env: play("die"), Ready: "tcp:127.0.0.1:1"}}
			},
			what: "service db", is: ErrDied, says: "it exited with status 3",
			output: []string{"to stdout", "to stderr", "cannot go on"},
		},
		{
			name: "reset fails", change: func(c *Config) { c.Reset = []string{"sh", "-c", "echo no database; exit 4"} },
			what: "reset", says: "it exited with status 4", output: []string{"no database"},
		},
		{
			name: "reset hangs",
			change: func(c *Config) {
				c.Reset, c.Ready = []string{"sh", "-c", "echo hm; exec tail -f /dev/null"}, 2*time.Second
			},
			what: "reset", says: "it did not end within 2s", output: []string{"hm"},
		},
		{
			name: "nothing at the url",
			change: func(c *Config) {
				c.Command, c.Ready = nil, time.Second
			},
			what: "app", is: ErrUnreachable, says: "refused",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := serving(t, nil)
			tt.change(&c)
			a, err := Start(t.Context(), c, Options{Grace: 100 * time.Millisecond})
			if err == nil {
				a.Stop(context.Background())
				t.Fatal("it started")
			}
			var start *StartError
			if !errors.As(err, &start) {
				t.Fatalf("got %T %v, want a *StartError", err, err)
			}
			if start.What != tt.what || !strings.Contains(err.Error(), tt.says) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("got %q for %q, want %q for %q as %v", err, start.What, tt.says, tt.what, tt.is)
			}
			if diff := cmp.Diff(tt.output, start.Output); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			for _, line := range tt.output {
				if !strings.Contains(err.Error(), "\n  | "+line) {
					t.Errorf("error %q lacks the line %q", err, line)
				}
			}
		})
	}
}

func TestStartReportsAllFaultsOfTheConfig(t *testing.T) {
	_, err := Start(t.Context(), Config{URL: "ftp://x", Ready: -1}, Options{})
	if err == nil || !strings.Contains(err.Error(), "url") || !strings.Contains(err.Error(), "ready") {
		t.Errorf("got %v, want both faults", err)
	}
}

func TestStartFailureStopsWhatRuns(t *testing.T) {
	c := newCast(t)
	conf := serving(t, c, "PLAY=die")
	addr := freeAddr(t)
	conf.Services = []Service{{
		Name: "db", Command: []string{exe(t), "${tmp}"}, Ready: "http://" + addr,
		Env: map[string]string{"PLAY": "serve", "ADDR": addr, "REGISTER": c.at, "NAME": "db"},
	}}
	if _, err := Start(t.Context(), conf, Options{}); !errors.Is(err, ErrDied) {
		t.Fatalf("got %v, want ErrDied", err)
	}
	if got := c.leave("db"); got != "terminated" {
		t.Errorf("the database was ended by %q, want SIGTERM", got)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	c := newCast(t)
	conf := serving(t, c, "PLAY=mute")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		c.enter("mute")
		cancel(errors.New("enough"))
	}()
	_, err := Start(ctx, conf, Options{})
	if err == nil || err.Error() != "enough" {
		t.Errorf("got %v, want the context's cause", err)
	}
	c.leave("mute")
}

func TestDiesInTheMiddle(t *testing.T) {
	c := newCast(t)
	conf := serving(t, c, "NAME=app")
	a := started(t, conf, Options{})
	res, err := http.Get(conf.URL + "/exit/7")
	if err == nil {
		res.Body.Close()
	}
	<-a.Done()
	e, ok := a.Exit()
	want := Exit{Role: "app", Code: 7, Output: []string{"listening", "asked to exit", "with 7"}}
	if diff := cmp.Diff(want, e); !ok || diff != "" {
		t.Errorf("exit (-want +got):\n%s", diff)
	}
	if got, want := e.String(), "app exited with status 7"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := a.Output(2); !slices.Equal(got, want.Output[1:]) {
		t.Errorf("got output %q", got)
	}
}

func TestServiceDiesInTheMiddle(t *testing.T) {
	c := newCast(t)
	conf := serving(t, c)
	conf.Services = []Service{{
		Name: "db", Command: []string{exe(t)},
		Env: map[string]string{"PLAY": "mute", "REGISTER": c.at, "NAME": "db"},
	}}
	a := started(t, conf, Options{})
	kill(t, c.enter("db").pid)
	<-a.Done()
	e, ok := a.Exit()
	if got, want := e.String(), "db was killed by SIGKILL"; !ok || got != want {
		t.Errorf("got %q, %v, want %q", got, ok, want)
	}
}

func TestURLOnly(t *testing.T) {
	for _, status := range []int{200, 302, 404} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
		}))
		a := started(t, Config{URL: srv.URL}, Options{})
		if procs := a.Processes(); len(procs) != 0 {
			t.Errorf("got processes %v, want none", procs)
		}
		if s, ok := a.Startup(); ok {
			t.Errorf("got start-up time %v, want none", s)
		}
		select {
		case <-a.Done():
			t.Error("done before it was stopped")
		default:
		}
		if err := a.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		<-a.Done()
		srv.Close()
	}
}
