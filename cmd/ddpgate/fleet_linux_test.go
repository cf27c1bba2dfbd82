package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ddpgate/ddpgate/record"
)

// workersOf returns the processes that a ddpgate has started as workers.
func workersOf(t *testing.T, parent int) []int {
	t.Helper()
	var pids []int
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || !bytes.Contains(line, []byte("\x00worker\x00--cores")) {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat), ") ") // of "PID (NAME) STATE PPID …"
		fields := strings.Fields(rest)
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err == nil && len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// A crew is a ddpgate with workers on this machine, in the middle of a load that would not end.
type crew struct {
	*exec.Cmd
	stderr  *bytes.Buffer
	dir     string
	out     string // the record's file
	workers []int  // pidfds
}

// driveByWorkers starts one on an app that runs already, and returns once its load has been noted and both workers are there.
func driveByWorkers(t *testing.T, url string) crew {
	t.Helper()
	dir := t.TempDir()
	c := crew{stderr: new(bytes.Buffer), dir: dir, out: filepath.Join(dir, "record.json")}
	c.Cmd = exec.CommandContext(t.Context(), "ddpgate", "-c", "one.yml", "run", "tasks-reactive", "--rate", "5/s", "--for", "1h", "--workers", "local:2",
		"--url", url, "--out", c.out)
	if err := os.WriteFile(filepath.Join(dir, "one.yml"), []byte("runs: {min: 1, max: 1, warmup: 0, cooldown: 0s}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c.Dir, c.Stderr = dir, c.stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	eventually(t, "a load that is noted", func() bool { return len(c.notes(t)) == 1 })
	var pids []int
	eventually(t, "two workers", func() bool { pids = workersOf(t, c.Process.Pid); return len(pids) == 2 })
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		c.workers = append(c.workers, fd)
	}
	return c
}

// eventually waits for something that another process does. The timer ends the wait for the next look, never the test.
func eventually(t *testing.T, what string, there func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	for !there() {
		select {
		case <-tick.C:
		case <-late.C:
			t.Fatalf("waited a minute for %s", what)
		}
	}
}

// notes are the loads that are noted as under way.
func (c crew) notes(t *testing.T) []string {
	t.Helper()
	files, err := fs.Glob(os.DirFS(c.dir), ".ddpgate/fleet/*.json")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// served is the embedded app, as a process that runs already.
func served(t *testing.T) string {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	app := exec.CommandContext(t.Context(), "ddpgate", "serve", "--listen", fmt.Sprintf("127.0.0.1:%d", port))
	said, err := app.StdoutPipe()
	if err == nil {
		err = app.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = app.Process.Kill(); _ = app.Wait() })
	if _, err := fmt.Fscan(said, new(string)); err != nil { // it serves
		t.Fatal(err)
	}
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}

func (c crew) allEnded(t *testing.T) {
	t.Helper()
	for i, fd := range c.workers {
		if !ended(t, fd, time.Minute) {
			t.Errorf("ddpgate is gone and worker %d is not", i)
		}
	}
}

func TestCtrlCEndsWorkers(t *testing.T) {
	c := driveByWorkers(t, served(t))
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	exit := new(exec.ExitError)
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitUnmeasured {
		t.Errorf("ended with %v, want exit code %d; it said %s", err, exitUnmeasured, c.stderr)
	}
	c.allEnded(t)
	if left := c.notes(t); len(left) > 0 {
		t.Errorf("loads are noted as under way: %q", left)
	}
	rec, err := record.Read(c.out)
	if err != nil {
		t.Fatal(err)
	}
	if run := rec.Scenarios[0].Runs[0]; !rec.Interrupted || run.Outcome != record.Interrupted || len(run.Shards) != 2 {
		t.Errorf("the run is %s with %d shards", run.Outcome, len(run.Shards))
	}
}

// A ddpgate that is killed leaves no worker behind, and another one takes its load over: what its workers saw went with it, and the record
// says so.
func TestResumeOfWhatIsLost(t *testing.T) {
	c := driveByWorkers(t, served(t))
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Error("it was killed and ended well")
	}
	c.allEnded(t)
	run := strings.TrimSuffix(filepath.Base(c.notes(t)[0]), ".json")
	out, code := c.resume(t, "nothing-of-the-kind")
	if code != exitUsage || !strings.Contains(out, run) {
		t.Errorf("an unknown run: exit %d, said %s", code, out)
	}
	out, code = c.resume(t, run[:6])
	if code != exitUnmeasured || !strings.Contains(out, "the parts of run "+run) || !strings.Contains(out, "are lost") {
		t.Errorf("exit %d, said %s", code, out)
	}
	rec, err := record.Read(c.out)
	if err != nil {
		t.Fatal(err)
	}
	if runs := rec.Scenarios[0].Runs; len(runs) != 1 || runs[0].Outcome != record.Invalid || runs[0].Arm != record.Head ||
		len(runs[0].Reasons) != 1 || !strings.Contains(runs[0].Reasons[0], "are lost") {
		t.Errorf("the record has %+v", runs)
	}
	if left := c.notes(t); len(left) > 0 {
		t.Errorf("loads are noted as under way: %q", left)
	}
	if out, code = c.resume(t, run); code != exitUsage || !strings.Contains(out, "no load under way") {
		t.Errorf("once more: exit %d, said %s", code, out)
	}
}

// resume takes a load over, and returns all that was said.
func (c crew) resume(t *testing.T, run string) (said string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "ddpgate", "run", "--resume", run)
	cmd.Dir = c.dir
	out, err := cmd.CombinedOutput()
	exit := new(exec.ExitError)
	if errors.As(err, &exit) {
		return string(out), exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return string(out), 0
}

// Base and head that both run already are driven at once, by the same workers.
func TestWorkersDriveBoth(t *testing.T) {
	dir, base, head := t.TempDir(), served(t), served(t)
	config := fmt.Sprintf("app: {url: %q}\nbase: {url: %q}\nruns: {min: 1, max: 1, warmup: 0, cooldown: 0s}\n", head, base)
	if err := os.WriteFile(filepath.Join(dir, "ddpgate.yml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "ddpgate", "run", "connect", "--rate", "10/s", "--for", "1s", "--workers", "local:2", "--out", "both.json")
	cmd.Dir = dir
	said, err := cmd.CombinedOutput() // whatever the verdict on one run
	if !strings.Contains(string(said), "connect on base and head at once: 2 workers, 10 sessions each at most") {
		t.Errorf("%v: it said %s", err, said)
	}
	rec, err := record.Read(filepath.Join(dir, "both.json"))
	if err != nil {
		t.Fatal(err)
	}
	var workers []string
	for i, arm := range []string{record.Base, record.Head} {
		run := rec.Scenarios[0].Runs[i]
		if run.Arm != arm || run.Pair != 0 || run.Sessions.OK != 10 || len(run.Shards) != 2 {
			t.Fatalf("run %d is of %s, pair %d, %+v, with %d shards", i, run.Arm, run.Pair, run.Sessions, len(run.Shards))
		}
		workers = append(workers, run.Shards[0].Worker)
	}
	if workers[0] != workers[1] {
		t.Errorf("base was driven by process %s and head by %s, want the same", workers[0], workers[1])
	}
}
