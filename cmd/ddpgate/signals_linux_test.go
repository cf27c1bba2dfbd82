package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ddpgate/ddpgate/record"
)

// A measured is a ddpgate at work, with the app that it has started.
type measured struct {
	*exec.Cmd
	stderr *strings.Builder
	out    string // the record's file
	app    int    // pidfd
}

// measure has ddpgate put an endless load on the tasks app, and returns when the app's process is there.
func measure(t *testing.T) measured {
	t.Helper()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "pid")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	app := fmt.Sprintf(`sh -c "echo $$ >%s; exec ddpgate serve --listen 127.0.0.1:%d"`, fifo, port)
	m := measured{stderr: new(strings.Builder), out: filepath.Join(dir, "record.json")}
	m.Cmd = exec.CommandContext(t.Context(), "ddpgate", "run", "tasks-reactive", "--runs", "3", "--rate", "5/s", "--for", "1h",
		"--out", m.out, "--head-app", app, "--url", fmt.Sprintf("http://127.0.0.1:%d", port))
	m.Dir, m.Stderr = dir, m.stderr
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(fifo) // waits for the app to write it
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(said), &pid); err != nil {
		t.Fatalf("the app said %q: %v", said, err)
	}
	if m.app, err = unix.PidfdOpen(pid, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(m.app) })
	return m
}

// ended says whether the app's process ends within a time.
func (m measured) ended(t *testing.T, within time.Duration) bool {
	t.Helper()
	return ended(t, m.app, within)
}

// ended says whether a process, by its pidfd, ends within a time.
func ended(t *testing.T, process int, within time.Duration) bool {
	t.Helper()
	fds := []unix.PollFd{{Fd: int32(process), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, int(within.Milliseconds()))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return n == 1
	}
}

func TestCtrlC(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, unix.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			m := measure(t)
			if err := m.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			exit := new(exec.ExitError)
			if err := m.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitUnmeasured {
				t.Errorf("ended with %v, want exit code %d; it said %s", err, exitUnmeasured, m.stderr)
			}
			if !m.ended(t, 0) {
				t.Error("ddpgate has ended and the app has not")
			}
			rec, err := record.Read(m.out)
			if err != nil {
				t.Fatal(err)
			}
			if !rec.Interrupted || len(rec.Scenarios) != 1 || rec.Scenarios[0].Runs[0].Outcome != record.Interrupted {
				text, _ := json.Marshal(rec)
				t.Errorf("the record is not marked interrupted: %s", text)
			}
			if !strings.Contains(m.stderr.String(), "interrupted; the record so far is "+m.out) {
				t.Errorf("it said %s", m.stderr)
			}
		})
	}
}

func TestKilledLeavesNoProcess(t *testing.T) {
	m := measure(t)
	if err := m.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := m.Wait(); err == nil {
		t.Error("it was killed and ended well")
	}
	if !m.ended(t, time.Minute) {
		t.Error("ddpgate was killed and the app lives on")
	}
}
