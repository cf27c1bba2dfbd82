//go:build unix

package meter

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/internal/usage"
)

// The test binary plays the processes too: PLAY says which.
func TestMain(m *testing.M) {
	if code, ok := app.Guard(os.Args); ok {
		os.Exit(code)
	}
	switch os.Getenv("PLAY") {
	case "":
		os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // the parts end at once
		goleak.VerifyTestMain(m)
	case "worker":
		work()
	case "burner":
		burn(20 * time.Millisecond)
	case "reporter":
		reportOwnUse()
	case "app":
		serveAndBurn()
	}
}

// work does what each line of its input says and answers with the CPU seconds that this took by its own clock.
func work() {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var n int
		what, _, _ := strings.Cut(in.Text(), " ")
		fmt.Sscan(strings.TrimPrefix(in.Text(), what), &n)
		before := usedWithChildren()
		switch what {
		case "burn":
			burn(time.Duration(n) * time.Millisecond)
		case "touch":
			touch(n << 20)
		case "start":
			for range n {
				child := exec.Command(os.Args[0])
				child.Env = append(os.Environ(), "PLAY=burner")
				if err := child.Run(); err != nil {
					panic(err)
				}
			}
		case "drop":
			fmt.Println(dropChildren(n))
			continue
		case "exit":
			os.Exit(n)
		}
		fmt.Println(usedWithChildren() - before)
	}
}

// burn uses CPU time, by this process's own clock.
func burn(d time.Duration) {
	start, err := usage.CPU()
	if err != nil {
		panic(err)
	}
	for {
		for range 100_000 {
		}
		if now, _ := usage.CPU(); now-start >= d.Seconds() {
			return
		}
	}
}

// A worker is a process that works when it is told to.
type worker struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func newWorker(t *testing.T) *worker {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{t: t, cmd: exec.Command(exe)}
	w.cmd.Env = append(os.Environ(), "PLAY=worker")
	w.cmd.Stderr = os.Stderr
	w.in, _ = w.cmd.StdinPipe()
	out, _ := w.cmd.StdoutPipe()
	w.out = bufio.NewReader(out)
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.end)
	w.do("burn 0") // it is there
	return w
}

// do has the worker do something and returns the CPU seconds that it says that took.
func (w *worker) do(what string) float64 {
	w.t.Helper()
	fmt.Fprintln(w.in, what)
	var used float64
	if _, err := fmt.Fscanln(w.out, &used); err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
	return used
}

func (w *worker) end() {
	w.in.Close()
	w.cmd.Wait()
}
