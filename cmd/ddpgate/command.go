package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/report"
)

// The exit codes, on which scripts lean. Where several apply, regression wins over unmeasured over inconclusive.
const (
	exitPass         = 0
	exitRegression   = 1
	exitUsage        = 2 // usage or configuration
	exitUnmeasured   = 3 // could not measure
	exitInconclusive = 4
)

// A command is ddpgate, with the world handed in.
type command struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            func(string) string

	global          // as parsed
	line   []string // the command line, for the record
	heard  *heard   // what it came to, for a command that runs another; nil where nobody asks
}

// heard is what a command came to, besides its exit code.
type heard struct {
	shown   report.Comparison // its Verdict is nil where nothing was judged
	history *gate.History     // nil where none was judged
	err     error
}

// global are the flags of every command.
type global struct {
	Chdir  string `short:"C" placeholder:"DIR" help:"Do everything as if started in DIR."`
	Config string `short:"c" placeholder:"FILE" help:"The configuration (ddpgate.yml, where there is one)."`
}

// grammar is the command line.
type grammar struct {
	global

	Run      runCmd      `cmd:"" help:"Drive scenarios, write a record, gate it against a baseline."`
	Compare  compareCmd  `cmd:"" help:"Judge two records."`
	Report   reportCmd   `cmd:"" help:"Render a record, or the comparison of two."`
	Baseline baselineCmd `cmd:"" help:"List, show and save baselines."`
	Import   importCmd   `cmd:"" help:"Make records of what other tools measured."`
	History  historyCmd  `cmd:"" help:"Show the trend and the change points of a key."`
	Export   exportCmd   `cmd:"" help:"Print records as CSV, or as text for Prometheus."`
	Probe    probeCmd    `cmd:"" help:"Say what machine this is, and how quiet it is to measure on."`
	Agent    agentCmd    `cmd:"" help:"Serve what an app on this host uses, for a ddpgate on another one."`
	Serve    serveCmd    `cmd:"" help:"Serve the embedded tasks app."`
	Worker   workerCmd   `cmd:"" hidden:"" help:"Do one job of a fleet."`
	Action   actionCmd   `cmd:"" help:"Do what action.yml asks for by its inputs: run, then summary, outputs and comment."`
	Comment  commentCmd  `cmd:"" help:"Write the verdict on records to the pull request that a workflow_run event is about."`
	Demo     demoCmd     `cmd:"" help:"Measure the embedded app, slow it down, and watch the gate fail. Takes under two minutes."`
	Schema   schemaCmd   `cmd:"" help:"Print the JSON Schema of the configuration, the record or the verdict."`
	Version  versionCmd  `cmd:"" help:"Print which ddpgate this is."`
}

// A subcommand is one command's flags. It returns the exit code where there is no error.
type subcommand interface {
	run(context.Context, *command) (int, error)
}

// A usageError is a mistake in the command line or in a file that was given: exit code 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usage marks an error as the user's. It leaves nil as it is.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// Main runs the command line and returns the exit code. It must not be called twice at a time: -C moves the process.
func (c *command) Main(ctx context.Context, args []string) int {
	var g grammar
	helped := false
	parser, err := kong.New(&g,
		kong.Name("ddpgate"),
		kong.Description("ddpgate drives task scenarios against a Meteor app over DDP, measures time, CPU, RAM and latency, "+
			"compares with a baseline, and fails the build on regression."),
		kong.Writers(c.Stdout, c.Stderr),
		kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		panic(fmt.Sprintf("command line: %v", err)) // our own grammar is wrong
	}
	parsed, err := parser.Parse(args)
	switch {
	case helped:
		return exitPass
	case err != nil:
		return c.fail(usage(misread(err)))
	}
	c.global, c.line = g.global, append([]string{ourName}, args...)
	if c.Chdir != "" {
		if err := os.Chdir(c.Chdir); err != nil {
			return c.fail(usage(err))
		}
	}
	code, err := parsed.Selected().Target.Addr().Interface().(subcommand).run(ctx, c)
	if err != nil {
		return c.fail(err)
	}
	return code
}

// fail prints what went wrong and returns the exit code that it has.
func (c *command) fail(err error) int {
	if c.heard != nil {
		c.heard.err = err
	}
	for i, line := range strings.Split(strings.TrimRight(err.Error(), "\n"), "\n") {
		if i == 0 {
			line = "ddpgate: " + line
		}
		fmt.Fprintln(c.Stderr, line)
	}
	if e := (usageError{}); errors.As(err, &e) {
		return exitUsage
	}
	return exitUnmeasured
}
