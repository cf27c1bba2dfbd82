package drive_test

import (
	"context"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/internal/tasksapp"
	"github.com/ddpgate/ddpgate/scenario"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs the embedded tasks app for the test and returns its address.
func serve(t *testing.T, o tasksapp.Options) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- tasksapp.New(o).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// small is a built-in scenario with a load that takes about a second.
func small(t *testing.T, name string, change func(*scenario.Scenario)) scenario.Scenario {
	t.Helper()
	sc, err := scenario.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	sc.Arrivals = scenario.Arrivals{Rate: 20, For: time.Second}
	sc.Think = scenario.Range{Max: 20 * time.Millisecond}
	sc.Timeout = 20 * time.Second
	if change != nil {
		change(sc)
	}
	return *sc
}

func TestTasks(t *testing.T) {
	for _, name := range []string{"tasks-reactive", "tasks-nonreactive"} {
		for _, transport := range []scenario.Transport{scenario.SockJS, scenario.WebSocket} {
			for _, compression := range []scenario.Compression{scenario.Browser, scenario.NoTakeover, scenario.Off} {
				t.Run(name+"/"+string(transport)+"/"+string(compression), func(t *testing.T) {
					t.Parallel()
					sc := small(t, name, func(s *scenario.Scenario) { s.Transport, s.Compression = transport, compression })
					p, err := drive.Run(t.Context(), sc, drive.Options{URL: serve(t, tasksapp.Options{}), Seed: 1})
					if err != nil {
						t.Fatal(err)
					}
					if p.OK != 20 || p.Planned != 20 || p.Failed != 0 {
						t.Errorf("got %d of %d sessions ok: %+v", p.OK, p.Planned, p.Failures)
					}
					if want := 20 * 42; p.Actions != want {
						t.Errorf("got %d actions, want %d", p.Actions, want)
					}
				})
			}
		}
	}
}
