package runner

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/internal/tasksapp"
	"github.com/ddpgate/ddpgate/internal/usage"
	"github.com/ddpgate/ddpgate/scenario"
)

// calibrationLoad names the calibration load with what it is run on, the embedded tasks app and our own driver.
const calibrationLoad = "1"

//go:embed calibration.yml
var calibrationYAML []byte

// calibrate runs the calibration load and returns the CPU seconds that it took, app and driver together: how fast this machine is at
// this minute. Nothing else must be at work in this process.
func calibrate(ctx context.Context) (seconds float64, err error) {
	sc, err := scenario.Parse("calibration.yml", calibrationYAML)
	if err != nil {
		return 0, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("calibration load: %w", err)
	}
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- tasksapp.New(tasksapp.Options{}).Serve(serving, listener) }()
	before, err := usage.CPU()
	var part *drive.Part
	if err == nil {
		part, err = drive.Run(ctx, *sc, drive.Options{URL: "http://" + listener.Addr().String()})
	}
	after, selfErr := usage.CPU()
	end()
	if err := errors.Join(err, selfErr, <-served); err != nil {
		return 0, fmt.Errorf("calibration load: %w", err)
	}
	if part.OK < part.Planned {
		return 0, fmt.Errorf("calibration load: %d of %d sessions did not end well", part.Planned-part.OK, part.Planned)
	}
	return after - before, nil
}
