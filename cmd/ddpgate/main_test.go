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
	s := &stage{nodeApp: nodeApp}
	testscript.RunT(inTurn{t}, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exit": s.exits},
		Condition:           s.condition,
		Setup: func(env *testscript.Env) error {
			s.busy = false
			port, err := freePort()
			env.Setenv("PORT0", strconv.Itoa(port))
			env.Setenv("NODEAPP", nodeApp)
			self, missing := exec.LookPath("ddpgate")
			env.Setenv("BIN", filepath.Dir(self)) // a PATH with nothing else in it
			return errors.Join(err, missing)
		},
	})
}

// A stage is where the scripts play.
type stage struct {
	nodeApp string
	busy    bool // in this script a record came out in which no run may be judged
}

// condition answers race: this is a build with the race detector; node: the tasks app in JavaScript can be run; and busy: this machine was too busy to measure on.
func (s *stage) condition(cond string) (bool, error) {
	switch cond {
	case "busy":
		return s.busy, nil
	case "race":
		return raceDetector, nil
	case "node":
		_, missing := exec.LookPath("node")
		_, uninstalled := os.Stat(filepath.Join(s.nodeApp, "node_modules"))
		return missing == nil && uninstalled == nil, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// exits runs a command that must end with one of the exit codes: exit 0|4 ddpgate run ... The word busy among them takes it
// that no run may be judged because others kept the machine busy: no test can help that.
func (s *stage) exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE[|CODE][|busy] COMMAND...")
	}
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	wanted := strings.Split(args[0], "|")
	if slices.Contains(wanted, strconv.Itoa(code)) {
		return
	}
	unfit := code == exitUnmeasured && strings.Contains(ts.ReadFile("stdout"), "may be judged")
	if !unfit || !slices.Contains(wanted, "busy") {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
	s.busy = true
}

// inTurn is a test whose parts do not run in parallel.
type inTurn struct{ *testing.T }

func (inTurn) Parallel() {}

func (inTurn) Verbose() bool { return testing.Verbose() }

func (t inTurn) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(inTurn{t}) })
}
