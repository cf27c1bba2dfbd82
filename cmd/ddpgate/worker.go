package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/ddpgate/ddpgate/fleet"
	"github.com/ddpgate/ddpgate/internal/build"
)

// workerCmd is a worker of a fleet on this machine: it does the job on its standard input, and answers on its standard output. run starts
// it; it is not for people.
type workerCmd struct {
	Cores float64 `default:"1" help:"Processors' worth of time that this worker may use."`
}

func (w *workerCmd) run(ctx context.Context, c *command) (int, error) {
	h := fleet.Host{Open: fleet.OpenStore}
	h.ID, h.Version, h.Cores = strconv.Itoa(os.Getpid()), build.Version(), w.Cores
	return exitPass, h.Serve(ctx, c.Stdin, c.Stdout)
}

// workerCommand is the command of one of so many workers that share this machine's processors.
func workerCommand(cores float64, workers int) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return []string{self, "worker", fmt.Sprintf("--cores=%g", cores/float64(workers))}, nil
}
