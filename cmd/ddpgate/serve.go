package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/internal/nearest"
	"github.com/ddpgate/ddpgate/internal/tasksapp"
)

// serveCmd serves the embedded tasks app.
type serveCmd struct {
	Listen  string        `placeholder:"HOST:PORT" help:"Where to listen (127.0.0.1, at the port that PORT in the environment names, or 3000)."`
	CPU     time.Duration `placeholder:"TIME" help:"Burn that much processor time in each method, such as 2ms."`
	Slow    time.Duration `placeholder:"TIME" help:"Wait that long in each method, such as 5ms."`
	Leak    size          `placeholder:"SIZE" help:"Keep that much memory for each session, such as 1MB."`
	CrashAt int           `placeholder:"N" help:"Crash at the Nth session."`
	Drop    float64       `placeholder:"SHARE" help:"Lose that share of data messages, 0 to 1."`
	Seed    uint64        `placeholder:"N" help:"Decides which data messages are lost."`
}

func (s *serveCmd) run(ctx context.Context, c *command) (int, error) {
	opts := tasksapp.Options{CPU: s.CPU, Slow: s.Slow, Leak: int64(s.Leak), CrashAt: s.CrashAt, Drop: s.Drop, Seed: s.Seed}
	if err := opts.Validate(); err != nil {
		return 0, usage(err)
	}
	where := s.Listen
	if where == "" {
		port := c.Env("PORT")
		if port == "" {
			port = "3000"
		}
		where = net.JoinHostPort("127.0.0.1", port)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", where)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(c.Stdout, "serving the tasks app on http://%s\n", listener.Addr())
	return exitPass, tasksapp.New(opts).Serve(ctx, listener)
}

// A size is a number of bytes, written like 1MB or 512KiB.
type size int64

var sizes = map[string]int64{
	"": 1, "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
}

// UnmarshalText reads a size.
func (s *size) UnmarshalText(text []byte) error {
	number := strings.TrimRight(string(text), "BGKMik")
	factor, known := sizes[string(text[len(number):])]
	if !known {
		return nearest.Unknown("unit", string(text[len(number):]), []string{"B", "KB", "MB", "GB", "KiB", "MiB", "GiB"})
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !(n >= 0) || n*float64(factor) > 1<<50 {
		return fmt.Errorf("%q is not a size such as 1MB", text)
	}
	*s = size(n * float64(factor))
	return nil
}
