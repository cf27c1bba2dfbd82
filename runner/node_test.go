package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/record"
)

func TestInstrumented(t *testing.T) {
	arm := Arm{
		App:     app.Config{Node: true, Env: map[string]string{"PORT": "3000"}},
		Options: app.Options{Environ: []string{"NODE_OPTIONS=--stack-size=900", "NODE_OPTIONS=--max-old-space-size=900"}},
	}
	c, dir, err := instrumented(arm)
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if got := c.Env["NODE_OPTIONS"]; !strings.HasPrefix(got, `--max-old-space-size=900 --require "`+dir) || c.Env["PORT"] != "3000" {
		t.Errorf("got %q", c.Env)
	}
	if len(arm.App.Env) != 1 {
		t.Errorf("the arm was changed: %q", arm.App.Env)
	}
	arm.App.Env["NODE_OPTIONS"] = "--trace-gc"
	c, again, err := instrumented(arm)
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(again)
	if got := c.Env["NODE_OPTIONS"]; !strings.HasPrefix(got, "--trace-gc --require") {
		t.Errorf("got %q", got)
	}
}

// An app that is no Node says nothing, and its figures are missing with the reason, which tells the gate that they were asked for.
func TestNodeFiguresOfAnAppThatIsNone(t *testing.T) {
	s := quiet(part(0))
	s.nodeDir = t.TempDir()
	run := fold(t, s)
	if why := run.Missing["node.gc"]; !strings.Contains(why, "Node") {
		t.Errorf("got %q", why)
	}
	if _, found := run.Metrics["node.gc"]; found {
		t.Error("there are figures of a Node that never ran")
	}
}

func TestOneArmWithNodeIsRefused(t *testing.T) {
	arm := Arm{Name: record.Base, App: app.Config{Node: true}}
	p := Plan{Arms: []Arm{arm, {Name: record.Head}}, Scenarios: nil, Runs: Runs{Min: 1, Max: 1}}
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "one arm and not in the other") {
		t.Errorf("got %v", err)
	}
}

// The app in JavaScript, as it is, tells of itself.
func TestNodeApp(t *testing.T) {
	dir := "../testdata/node-tasks"
	_, uninstalled := os.Stat(filepath.Join(dir, "node_modules"))
	if _, missing := exec.LookPath("node"); missing != nil || uninstalled != nil {
		t.Skip("node is not installed, or the packages of testdata/node-tasks are not")
	}
	c := tasksApp(t, 0)
	c.Dir, c.Node = dir, true
	c.Env = map[string]string{"PORT": c.URL[strings.LastIndex(c.URL, ":")+1:]}
	c.Command = []string{"sh", "-c", "node main.js; true"}
	r := alone(t, t.Context(), c, tasks(t, 10, 1500*time.Millisecond), Hooks{}).Scenarios[0].Runs[0]
	if r.Outcome == record.Failed {
		t.Fatalf("%q %q", r.Reasons, r.Output)
	}
	for _, name := range []string{"node.heap", "node.loop.used"} {
		if !(r.Metrics[name] > 0) {
			t.Errorf("%s is %v; missing: %q", name, r.Metrics[name], r.Missing["node.heap"])
		}
	}
	for _, name := range []string{"node.gc", "node.loop.p50", "node.loop.p99", "node.gc.major.max"} {
		if _, found := r.Metrics[name]; !found {
			t.Errorf("no %s", name)
		}
	}
	if len(r.Series["node.heap"]) != len(r.Series["t"]) {
		t.Errorf("series %v", r.Series["node.heap"])
	}
}
