package tasksapp

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const nodeApp = "../../testdata/node-tasks"

// The tasks app in JavaScript, which the end-to-end tests measure, is held against the same transcripts. It makes its own
// ids whatever the randomSeed, and sends a result always last.
func TestNodeApp(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node on this machine to run the app with; .ci/run says so before the tests")
	}
	if _, err := os.Stat(nodeApp + "/node_modules"); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the packages of testdata/node-tasks are not installed: run npm ci there, as .ci/run does")
	}
	for _, compress := range []bool{false, true} {
		t.Run(map[bool]string{false: "plain", true: "compressed"}[compress], func(t *testing.T) {
			app := exec.CommandContext(t.Context(), node, "main.js")
			app.Dir, app.Env = nodeApp, append(os.Environ(), "PORT=0")
			app.WaitDelay = time.Second
			out, err := app.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := app.Start(); err != nil {
				t.Fatal(err)
			}
			said, err := bufio.NewReader(out).ReadString('\n')
			url, found := strings.CutPrefix(strings.TrimSpace(said), "listening on ")
			if err != nil || !found {
				t.Fatalf("got %q, %v, want where it listens", said, err)
			}
			p := newPlayer(t, url, compress)
			p.loose = true
			p.playAll(readLines(t, "testdata/meteor-3.0.4.jsonl"))
			if err := app.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := app.Wait(); err != nil {
				t.Errorf("after SIGTERM: got %v, want a clean end", err)
			}
		})
	}
}
