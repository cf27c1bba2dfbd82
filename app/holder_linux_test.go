package app

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

func TestHolderOfAPort(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", ":0"} {
		ln, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		port := uint64(ln.Addr().(*net.TCPAddr).Port)
		if got, want := holder(port), fmt.Sprintf("process %d (", os.Getpid()); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", at, got, want)
		}
		ln.Close()
		if got := holder(port); got != "" {
			t.Errorf("%s: got %q after it was closed", at, got)
		}
	}
}

// The app proper is what listens on the app's port, the process that was started or one below it; of meteor run it is what the tool has
// built, which answers on a port of its own.
func TestServer(t *testing.T) {
	t.Run("itself", func(t *testing.T) {
		c := newCast(t)
		a := started(t, serving(t, c, "NAME=app"), Options{})
		if got, want := a.Processes()[0].Server, c.enter("app").pid; got != want || got != a.Processes()[0].PID {
			t.Errorf("got %d, want %d", got, want)
		}
	})
	t.Run("below a shell", func(t *testing.T) {
		c := newCast(t)
		config := serving(t, c, "NAME=app")
		config.Command = append([]string{"sh", "-c", `"$0"; true`}, config.Command...)
		a := started(t, config, Options{Grace: time.Second})
		p := a.Processes()[0]
		if got, want := p.Server, c.enter("app").pid; got != want || got == p.PID {
			t.Errorf("got %d, want %d and not the shell, %d", got, want, p.PID)
		}
	})
	t.Run("built by a tool", func(t *testing.T) {
		c := newCast(t)
		config := serving(t, c, "NAME=app")
		config.Env["PLAY"] = "tool"
		a := started(t, config, Options{Grace: time.Second})
		if got, want := a.Processes()[0].Server, c.enter("build").pid; got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	})
}
