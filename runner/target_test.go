package runner

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/meter"
	"github.com/ddpgate/ddpgate/record"
)

func TestParts(t *testing.T) {
	plain := app.Process{Role: "app", PID: 7, Reaper: 6, Server: 7}
	below := plain
	below.Server = 9
	server := meter.Target{Role: "app", PID: 7, Reaper: 6, Process: 9}
	mongod := meter.Target{Role: "db", PID: 7, Reaper: 6, Match: `(^|/)mongod( |$)`, Optional: true}
	matching := func(role, match string) meter.Target {
		return meter.Target{Role: role, PID: 7, Reaper: 6, Match: match}
	}
	for _, tt := range []struct {
		name    string
		roles   map[string]string
		process app.Process
		want    []meter.Target
	}{
		{"the app itself", nil, plain, nil},
		{"not known", nil, app.Process{Role: "app", PID: 7, Reaper: 6}, nil},
		{"a database below it", map[string]string{"db": "postgres"}, plain, []meter.Target{matching("db", "postgres")}},
		{"started by a tool", nil, below, []meter.Target{server, mongod}},
		{"with a database of its own", map[string]string{"db": "postgres"}, below, []meter.Target{matching("db", "postgres"), server}},
		{"named", map[string]string{"app": "main.js"}, below, []meter.Target{matching("app", "main.js")}},
	} {
		if diff := cmp.Diff(tt.want, parts(app.Config{Roles: tt.roles}, tt.process)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// What is to be metered and is not there ends the run before its load, and says what was looked for and what is there.
func TestRoleThatNobodyHas(t *testing.T) {
	c := tasksApp(t, 0)
	c.Roles = map[string]string{"db": "mongod"}
	rec := alone(t, t.Context(), c, tasks(t, 10, 600*time.Millisecond), Hooks{})
	runs := rec.Scenarios[0].Runs
	if len(runs) != 1 || runs[0].Outcome != record.Invalid || runs[0].Sessions.Planned != 0 {
		t.Fatalf("got %+v, want one invalid run without a session", runs)
	}
	if all := strings.Join(runs[0].Reasons, "\n"); !strings.Contains(all, `matches "mongod"`) || !strings.Contains(all, serveTasks) {
		t.Errorf("got %q, want what was looked for and what is there", all)
	}
	gone(t, c)
}

// A shell that starts the app is a tool, with figures of its own.
func TestAppBelowAShell(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // the app proper is told from what started it on Linux only
	}
	c := tasksApp(t, 0)
	c.Command = append([]string{"sh", "-c", `"$0" "$@"; true`}, c.Command...)
	r := alone(t, t.Context(), c, tasks(t, 10, 600*time.Millisecond), Hooks{}).Scenarios[0].Runs[0]
	checkRun(t, r)
	if app, tool := r.Metrics["ram"], r.Metrics["tool.ram"]; !(tool > 0 && tool < app) {
		t.Errorf("the app has %v bytes and the shell %v", app, tool)
	}
	if _, found := r.Metrics["db.ram"]; found {
		t.Error("there is a database that was never started")
	}
	if r.Metered["app"] == "" {
		t.Error("the record does not say how the app was metered")
	}
	if !(r.Metrics["meter.cpu_seconds"] > 0) {
		t.Error("the record does not say what metering took")
	}
	if len(r.Series["host.busy"]) != len(r.Series["t"]) {
		t.Errorf("no series of the machine: %v", r.Series)
	}
}
