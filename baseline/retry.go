package baseline

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// errMoved says that somebody else changed what was to be changed, since it was read: read it again, and try again.
var errMoved = errors.New("changed by somebody else meanwhile")

const (
	tries   = 200
	longest = 2 * time.Second // pause between two tries
)

// patiently tries until it does not end with errMoved, with pauses that grow and are drawn at random, so that many who began at
// once do not go on at once.
func patiently(ctx context.Context, try func() error) error {
	pause := 20 * time.Millisecond
	for n := 1; ; n++ {
		err := try()
		if !errors.Is(err, errMoved) {
			return err
		}
		if n == tries {
			return fmt.Errorf("given up after %d tries: %w", tries, err)
		}
		if err := wait(ctx, rand.N(pause)); err != nil {
			return err
		}
		pause = min(2*pause, longest)
	}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
