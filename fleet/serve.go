package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// errAlone is why a worker on this machine stops when the coordinator is gone.
var errAlone = errors.New("the coordinator is gone")

// Serve does the one job that comes as the first line of in, and writes lines to out. The load ends when in does, since whoever wrote the job
// keeps it open: a worker does not outlive its coordinator. The goroutine that waits for that ends with in, which is the process's
// own standard input.
func (h *Host) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	r := bufio.NewReader(in)
	job, err := r.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		_, _ = io.Copy(io.Discard, r)
		cancel(errAlone)
	}()
	return h.Work(ctx, job, out)
}
