package fleet

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ddpgate/ddpgate/internal/tasksapp"
	"github.com/ddpgate/ddpgate/scenario"
)

// This program is a worker too, where the environment says so.
const workerEnv = "DDPGATE_TEST_WORKER"

func TestMain(m *testing.M) {
	if id := os.Getenv(workerEnv); id != "" {
		h := Host{Worker: Worker{ID: fmt.Sprintf("%s-%d", id, os.Getpid()), Version: "test", Cores: 1}}
		if err := h.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	var err error
	if workerDir, err = os.MkdirTemp("", "ddpgate-fleet"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(workerDir)
		os.Exit(code)
	}))
}

// workerDir is where the worker of AWS Lambda is built.
var workerDir string

// local is a fleet of processes that are this program.
func local(t testing.TB, count int) *Fleet {
	t.Setenv(workerEnv, "w")
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	return &Fleet{Places: []Place{Local{Command: []string{os.Args[0]}}}, Count: count, Version: "test"}
}

// tasks runs the embedded tasks app for the test and returns its address.
func tasks(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- tasksapp.New(tasksapp.Options{}).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// small is a built-in scenario with a load that takes about a second.
func small(t testing.TB, name string) scenario.Scenario {
	t.Helper()
	sc, err := scenario.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	sc.Arrivals = scenario.Arrivals{Rate: 40, For: time.Second}
	sc.Think = scenario.Range{Max: 20 * time.Millisecond}
	if _, has := sc.Vars["tasks"]; has {
		sc.Vars["tasks"] = int64(5)
	}
	return *sc
}
