package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/report"
)

// demoCmd tells the whole story with ddpgate's own commands, which it prints before it runs them.
type demoCmd struct{}

// Where the demo writes, and the load that it puts on the app: small enough for two minutes, large enough for a verdict.
const (
	demoDir = ".ddpgate/demo"
	demoKey = "demo"
)

var demoLoad = []string{"tasks-nonreactive", "tasks-reactive", "--rate", "20/s", "--for", "1s", "--think", "10ms", "--tasks", "5"}

// A demo is the story under way.
type demo struct {
	*command
	before, after string // the records
	calm, slowed  string // the configurations
	markdown      string // the reports
	html          string
}

func (d *demoCmd) run(ctx context.Context, c *command) (int, error) {
	in := func(name string) string { return filepath.Join(demoDir, name) }
	s := demo{command: c, before: in("before.json"), after: in("slowed.json"), calm: in("ddpgate.yml"), slowed: in("slowed.yml"), markdown: in("report.md"), html: in("report.html")}
	if err := s.configure(); err != nil {
		return 0, err
	}
	begun := time.Now()
	s.tell("1. Measure the embedded tasks app, and keep the record as a baseline.")
	if code := s.do(ctx, s.calm, s.before, "--accept", "for-the-demo", "--save-baseline", demoKey); code != exitPass {
		fmt.Fprintf(c.Stderr, "ddpgate: the demo ends here: the app could not be measured (exit %d)\n", code)
		return max(code, exitRegression), nil
	}
	s.tell("2. Measure the same app slowed on purpose, by 2 ms of CPU and 20 ms of waiting in each method, and hold it against the baseline.")
	code := s.do(ctx, s.slowed, s.after, "--baseline", demoKey)
	if ctx.Err() != nil {
		return exitUnmeasured, nil
	}
	return s.conclude(ctx, code, time.Since(begun))
}

// configure writes the two configurations: short runs of the embedded app, and the same with the slowed one.
func (s *demo) configure() error {
	if err := os.MkdirAll(demoDir, 0o755); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	runs := "runs: {min: 5, max: 7, warmup: 1, cooldown: 0s}\n"
	app := fmt.Sprintf("app:\n  command: [ddpgate, serve, --cpu, 2ms, --slow, 20ms]\n  url: http://127.0.0.1:%d\n", port)
	if err := os.WriteFile(s.calm, []byte(runs), 0o644); err != nil {
		return err
	}
	return os.WriteFile(s.slowed, []byte(app+runs), 0o644)
}

// do runs the load with a configuration, as the command line would.
func (s *demo) do(ctx context.Context, config, out string, more ...string) int {
	args := slices.Concat([]string{"-c", config, "run"}, demoLoad, []string{"--out", out}, more)
	fmt.Fprintf(s.Stdout, "\n$ ddpgate %s\n\n", strings.Join(args, " "))
	sub := command{Stdin: s.Stdin, Stdout: s.Stdout, Stderr: s.Stderr, Env: s.Env}
	return sub.Main(ctx, args)
}

func (s *demo) tell(text string) { fmt.Fprintf(s.Stdout, "\n%s\n", text) }

// conclude says what the gate found. A gate that missed what the demo broke fails the demo.
func (s *demo) conclude(ctx context.Context, code int, took time.Duration) (int, error) {
	shown, _, err := s.held(ctx, s.before, s.after, storeFlag{}, "")
	if err != nil {
		return 0, err
	}
	var found []string
	for _, f := range shown.Verdict.Metrics {
		if f.Gated && f.Outcome == gate.Regression && (f.Metric == "time" || f.Metric == "cpu_seconds") {
			found = append(found, fmt.Sprintf("  %s of %s: %s -> %s (%+.0f %%)", f.Metric, f.Scenario,
				report.Figure(f.Metric, f.Base), report.Figure(f.Metric, f.Head), f.Change*100))
		}
	}
	if code != exitRegression || len(found) == 0 {
		fmt.Fprintf(s.Stderr, "ddpgate: the demo failed: the app was slowed and the gate did not say so (exit %d)\n", code)
		return max(code, exitRegression), nil
	}
	for path, render := range map[string]func(io.Writer, report.Comparison) error{s.markdown: report.Markdown, s.html: report.HTML} {
		if err := write(path, render, shown); err != nil {
			return 0, err
		}
	}
	s.tell(fmt.Sprintf("The gate failed the slowed app (exit %d), as it should. It found, in %s:", code, roughly(took)))
	fmt.Fprintln(s.Stdout, strings.Join(found, "\n"))
	s.tell("The report for people, to open in a browser: " + s.html)
	s.tell("Written:")
	for _, file := range []string{s.before, s.after, s.calm, s.slowed, s.markdown, s.html, ".ddpgate/baselines (key " + demoKey + ")"} {
		fmt.Fprintln(s.Stdout, "  "+file)
	}
	return exitPass, nil
}

// write renders the comparison to a file.
func write(path string, render func(io.Writer, report.Comparison) error, shown report.Comparison) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := render(f, shown); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
