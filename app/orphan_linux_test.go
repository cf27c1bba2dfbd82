package app

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// family are the processes of an app with FAMILY set: itself, a child, a child in a session of its own that ignores SIGTERM,
// and an orphan in a session of its own.
var family = []string{"app", "child", "session", "orphan"}

func familyOf(t *testing.T, c *cast) Config {
	return serving(t, c, "NAME=app", "FAMILY=yes")
}

func TestStopLeavesNothing(t *testing.T) {
	c := newCast(t)
	a := started(t, familyOf(t, c), Options{Grace: 200 * time.Millisecond})
	for _, name := range family {
		c.enter(name)
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	for _, name := range family {
		if c.in[name].present() {
			t.Errorf("%s is there after Stop", name)
		}
		c.leave(name)
	}
}

func TestStopAtOnceWhenContextIsDone(t *testing.T) {
	c := newCast(t)
	a := started(t, serving(t, c, "NAME=app"), Options{Grace: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Stop(ctx); err != nil {
		t.Error(err)
	}
	if got := c.leave("app"); got != "" {
		t.Errorf("the app was asked with %q, want it killed", got)
	}
}

func TestStopAfterTheAppDied(t *testing.T) {
	c := newCast(t)
	a := started(t, familyOf(t, c), Options{Grace: 200 * time.Millisecond})
	kill(t, c.enter("app").pid)
	<-a.Done()
	for _, name := range family[1:] {
		if !c.enter(name).present() {
			t.Errorf("%s ended with the app: the test shows nothing", name)
		}
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	for _, name := range family {
		c.leave(name)
	}
}

// A starter is a program that has started an app, as a process.
type starterProcess struct {
	cmd *exec.Cmd
	out *strings.Builder
	tmp string // the directory that temporary directories are made in
}

func newStarter(t *testing.T, c *cast, conf Config) starterProcess {
	t.Helper()
	spec, err := json.Marshal(conf)
	if err != nil {
		t.Fatal(err)
	}
	s := starterProcess{cmd: exec.Command(exe(t)), out: new(strings.Builder), tmp: t.TempDir()}
	s.cmd.Env = append(os.Environ(), "PLAY=starter", "REGISTER="+c.at, "CONFIG="+string(spec), "TMPDIR="+s.tmp)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			s.cmd.Process.Kill()
			s.cmd.Wait()
		}
	})
	c.enter("starter")
	return s
}

// leftovers are the temporary directories that are there.
func (s starterProcess) leftovers() []string {
	found, _ := filepath.Glob(s.tmp + "/ddpgate-*")
	return found
}

func TestNothingOutlivesAKilledStarter(t *testing.T) {
	c := newCast(t)
	conf := familyOf(t, c)
	conf.Env["DATA"] = "${tmp}"
	conf.Services = []Service{{
		Name: "db", Command: []string{exe(t)},
		Env: map[string]string{"PLAY": "stubborn", "REGISTER": c.at, "NAME": "db"},
	}}
	s := newStarter(t, c, conf)
	for _, name := range append(family, "db") {
		c.enter(name)
	}
	if len(s.leftovers()) != 1 {
		t.Errorf("got temporary directories %v, want one", s.leftovers())
	}
	kill(t, s.cmd.Process.Pid)
	for _, name := range append(family, "db") {
		c.leave(name)
	}
	eventually(t, "the temporary directory is gone", func() bool { return len(s.leftovers()) == 0 })
}

func TestInterruptReachesTheStarterOnly(t *testing.T) {
	c := newCast(t)
	s := newStarter(t, c, serving(t, c, "NAME=app"))
	app := c.enter("app")
	// As a terminal does at Ctrl-C: to the whole process group.
	if err := syscall.Kill(-s.cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if got := c.leave("app"); got != "terminated" {
		t.Errorf("the app was ended by %q, want SIGTERM from the starter", got)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("starter: %v\n%s", err, s.out)
	}
	if app.present() {
		t.Error("the app is there after the starter")
	}
}

// guardOf is the guard's process.
func guardOf(t *testing.T, a *App) int {
	t.Helper()
	procs := a.Processes()
	if len(procs) == 0 || procs[0].Reaper == 0 {
		t.Fatalf("got processes %+v, want one with a reaper", procs)
	}
	return procs[0].Reaper
}

func TestKilledGuardTakesTheAppWithIt(t *testing.T) {
	c := newCast(t)
	a := started(t, familyOf(t, c), Options{Grace: 200 * time.Millisecond})
	for _, name := range family {
		c.enter(name)
	}
	kill(t, guardOf(t, a))
	c.leave("app")
	c.leave("child")
	<-a.Done()
	e, ok := a.Exit()
	if got, want := e.String(), "app was killed by SIGKILL"; !ok || got != want {
		t.Errorf("got %q, %v, want %q", got, ok, want)
	}
	// What left the group has nobody to find it any more.
	kill(t, c.in["session"].pid)
	kill(t, c.in["orphan"].pid)
}

func TestTerminatedGuardCleansUp(t *testing.T) {
	c := newCast(t)
	a := started(t, familyOf(t, c), Options{})
	for _, name := range family {
		c.enter(name)
	}
	if err := syscall.Kill(guardOf(t, a), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for _, name := range family {
		c.leave(name)
	}
	<-a.Done()
}

func TestProgramWithoutGuardIsRefused(t *testing.T) {
	conf := Config{Command: []string{"true"}, URL: "http://" + freeAddr(t)}
	spec, err := json.Marshal(conf)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"starter"}, {guardName}} {
		cmd := exec.Command(exe(t))
		cmd.Args = args
		cmd.Env = append(os.Environ(), "UNGUARDED=yes", "PLAY=starter", "CONFIG="+string(spec))
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "does not call app.Guard") {
			t.Errorf("as %s: got %v and %q, want a word on app.Guard", args[0], err, out)
		}
	}
}
