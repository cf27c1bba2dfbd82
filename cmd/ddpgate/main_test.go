package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ddpgate/ddpgate/app"
)

func TestMain(m *testing.M) {
	if code, ok := app.Guard(os.Args); ok {
		os.Exit(code)
	}
	testscript.Main(m, map[string]func(){"ddpgate": main})
}

// Each script is one story, told with real processes. They are told one after the other: two loads at a time would make
// each other late.
func TestScripts(t *testing.T) {
	nodeApp, err := filepath.Abs("../../testdata/node-tasks")
	if err != nil {
		t.Fatal(err)
	}
	// node: the tasks app in JavaScript can be run.
	condition := func(cond string) (bool, error) {
		if cond != "node" {
			return false, fmt.Errorf("unknown condition %q", cond)
		}
		_, missing := exec.LookPath("node")
		_, uninstalled := os.Stat(filepath.Join(nodeApp, "node_modules"))
		return missing == nil && uninstalled == nil, nil
	}
	testscript.RunT(inTurn{t}, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exit": exitsWith},
		Condition:           condition,
		Setup: func(env *testscript.Env) error {
			port, err := freePort()
			env.Setenv("PORT0", strconv.Itoa(port))
			env.Setenv("NODEAPP", nodeApp)
			self, missing := exec.LookPath("ddpgate")
			env.Setenv("BIN", filepath.Dir(self)) // a PATH with nothing else in it
			return errors.Join(err, missing)
		},
	})
}

// exitsWith runs a command that must end with one of the exit codes: exit 0|4 ddpgate run ...
func exitsWith(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE[|CODE] COMMAND...")
	}
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if !slices.Contains(strings.Split(args[0], "|"), strconv.Itoa(code)) {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// inTurn is a test whose parts do not run in parallel.
type inTurn struct{ *testing.T }

func (inTurn) Parallel() {}

func (inTurn) Verbose() bool { return testing.Verbose() }

func (t inTurn) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(inTurn{t}) })
}
