package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Local is a place on this machine: each job gets a process of its own, which ends with its job, or with this process.
type Local struct {
	// Command starts a worker that reads one job as a line from its standard input, writes lines to its standard output, and
	// ends when its input does: see Serve.
	Command []string
}

// Region is empty: this machine.
func (Local) Region() string { return "" }

// Lead is enough for processes to start on a busy machine.
func (Local) Lead() time.Duration { return 2 * time.Second }

// Limits are none that can be told beforehand.
func (Local) Limits() Limits { return Limits{} }

func (Local) String() string { return "local" }

// Send fails: a process answers the one who started it.
func (Local) Send(context.Context, []byte) error { return ErrNoAnswer }

// Invoke starts a worker. When the context ends it is killed.
func (l Local) Invoke(ctx context.Context, job []byte) (io.ReadCloser, error) {
	cmd := exec.CommandContext(ctx, l.Command[0], l.Command[1:]...)
	p := &process{cmd: cmd}
	cmd.Stderr, cmd.WaitDelay = &p.stderr, endsWithin
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if p.ReadCloser, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	p.stdin = in
	if _, err := in.Write(append(job, '\n')); err != nil {
		return nil, errors.Join(fmt.Errorf("hand a worker its job: %w", err), p.Close())
	}
	return p, nil
}

// A process is a worker that was started here. Closing it ends and waits for it.
type process struct {
	io.ReadCloser
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr tail
}

// endsWithin is how long a worker may take to end when it is asked to.
const endsWithin = 5 * time.Second

// Close ends the worker by ending its input, and waits until it has; one that does not end is killed.
func (p *process) Close() error {
	_ = p.stdin.Close()      // which a worker that has ended may have closed
	_ = p.ReadCloser.Close() // what it still writes nobody reads
	kill := time.AfterFunc(endsWithin, func() { _ = p.cmd.Process.Kill() })
	err := p.cmd.Wait()
	kill.Stop()
	if said := p.stderr.String(); err != nil && said != "" {
		return fmt.Errorf("the worker ended with %w: %s", err, said)
	}
	if err != nil {
		return fmt.Errorf("the worker ended with %w", err)
	}
	return nil
}

// A tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(text []byte) (int, error) {
	const most = 2048
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	t.text = t.text[max(0, len(t.text)-most):]
	return len(text), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(bytes.ToValidUTF8(t.text, nil)))
}
