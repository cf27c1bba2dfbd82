package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/ddpgate/ddpgate/internal/affinity"
)

// checkCPUs returns why the app and the driver cannot be kept apart as the plan wants.
func (p Plan) checkCPUs() []error {
	cpus := p.Runs.CPUs
	if cpus.IsZero() {
		return nil
	}
	var faults []error
	for _, err := range []error{cpus.Validate(), cpus.Check()} {
		if err != nil {
			faults = append(faults, fmt.Errorf("runs.cpus: %w", err))
		}
	}
	for _, arm := range p.Arms {
		if len(arm.App.Command) == 0 {
			faults = append(faults, fmt.Errorf("runs.cpus: the app of %s is not started here, so that it cannot be kept on CPU %v", arm.Name, cpus.App))
		}
	}
	return faults
}

// apart makes one run, with this process on the driver's CPUs and the app on its own from before it starts until it is gone.
func (w *work) apart(ctx context.Context, j job, tell teller) (m measured, err error) {
	cpus := w.plan.Runs.CPUs
	restore, err := affinity.Process(cpus.Driver)
	if err != nil {
		return measured{}, err
	}
	defer func() { err = errors.Join(err, restore()) }()
	j.arm.Options.CPUs = cpus.App
	return w.once(ctx, j, tell)
}
