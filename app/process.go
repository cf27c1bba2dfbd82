package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/ddpgate/ddpgate/internal/cgroup"
)

// A process is the app's, a service's or the reset's, seen from this side of its guard.
type process struct {
	role    string
	pid     int
	groups  groups
	server  int // see Process.Server
	guard   *exec.Cmd
	started time.Time
	control io.WriteCloser
	output  *tail
	ended   chan struct{} // closed when the process has ended; how is in exit
	exit    Exit
	empty   chan struct{} // closed when nothing is left below it either
	gone    chan struct{} // closed when the guard has ended
}

// Guards answer at once; one that does not is no guard.
const (
	hello   = 20 * time.Second
	farGone = 10 * time.Second // from the last SIGKILL until the system must have taken all away
)

var errNoGuard = errors.New("this program does not call app.Guard first in main, so nothing would stop an app when it is killed")

// start starts a process under a guard of its own.
func start(ctx context.Context, role string, s spec, lines int) (*process, error) {
	if os.Args[0] == guardName {
		return nil, errNoGuard // this is a guard that does not know it; another one would do the same
	}
	exe, err := self()
	if err != nil {
		return nil, fmt.Errorf("find this program's own file: %w", err)
	}
	p := &process{
		role:   role,
		guard:  &exec.Cmd{Path: exe, Args: []string{guardName}, SysProcAttr: guardAttr()},
		output: newTail(lines),
		ended:  make(chan struct{}), empty: make(chan struct{}), gone: make(chan struct{}),
	}
	out, err := p.launch()
	if err != nil {
		return nil, fmt.Errorf("start the guard: %w", err)
	}
	first := make(chan event, 1)
	go p.follow(first, out.events, out.text)
	if err := p.introduce(ctx, s, first); err != nil {
		_ = p.guard.Process.Kill()
		_ = p.control.Close()
		<-p.gone
		return nil, err
	}
	return p, nil
}

func (p *process) process() Process {
	return Process{
		Role: p.role, PID: p.pid, Reaper: p.reaper(),
		Server: p.server,
		Groups: slices.Clone(p.groups.Directories), Ungrouped: p.groups.Why,
	}
}

// outputs are the ends from which this process reads.
type outputs struct {
	events io.Reader
	text   *os.File // what the process writes
}

func (p *process) launch() (outputs, error) {
	text, write, err := os.Pipe()
	if err != nil {
		return outputs{}, err
	}
	defer write.Close()
	p.guard.Stderr = write
	events, err := p.guard.StdoutPipe()
	if err == nil {
		p.control, err = p.guard.StdinPipe()
	}
	if err == nil {
		err = p.guard.Start()
	}
	if err != nil {
		return outputs{}, errors.Join(err, text.Close())
	}
	return outputs{events, text}, nil
}

// introduce tells the guard what to start and waits for its answer.
func (p *process) introduce(ctx context.Context, s spec, first <-chan event) error {
	if err := json.NewEncoder(p.control).Encode(s); err != nil {
		return errNoGuard
	}
	late := time.NewTimer(hello)
	defer late.Stop()
	select {
	case e, ok := <-first:
		switch {
		case !ok || e.Started == 0 && e.Failed == "":
			return errNoGuard
		case e.Failed != "":
			return fmt.Errorf("run %s: %s", s.Path, e.Failed)
		}
		p.pid, p.groups, p.started = e.Started, e.Groups, time.Now()
		return nil
	case <-late.C:
		return errNoGuard
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// follow reads what the guard and the process say until both are gone.
func (p *process) follow(first chan<- event, events io.Reader, text *os.File) {
	defer close(p.gone)
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(p.output, text) // ends when the last writer is gone, or at the deadline below
	}()
	root, own := p.listen(first, events, read)
	_ = p.guard.Wait()
	select {
	case <-p.empty:
	default:
		if root > 0 {
			killGroup(root) // the guard was killed before its time
		}
	}
	_ = cgroup.End(own.Directories, time.Second) // the guard did that, unless it was killed
	// Where orphans cannot be found, one may still hold the pipe.
	_ = text.SetReadDeadline(time.Now().Add(time.Second))
	<-read
	_ = text.Close()
	p.end(ended{Code: -1, Signal: "SIGKILL"})
}

// listen takes the guard's events until there are no more, and returns the process's id and its groups.
func (p *process) listen(first chan<- event, events io.Reader, read <-chan struct{}) (root int, own groups) {
	defer close(first)
	in := json.NewDecoder(events)
	for n := 0; ; n++ {
		var e event
		if err := in.Decode(&e); err != nil {
			return root, own
		}
		if n == 0 {
			root, own = e.Started, e.Groups
			first <- e
		}
		if e.Exited != nil {
			select {
			case <-p.output.marked:
			case <-read:
			}
			p.end(*e.Exited)
		}
		if e.Empty {
			close(p.empty)
		}
	}
}

// end notes how the process ended; what was noted first stays. Only follow and what it calls may call it.
func (p *process) end(e ended) {
	select {
	case <-p.ended:
	default:
		p.exit = Exit{Role: p.role, Code: e.Code, Signal: e.Signal}
		close(p.ended)
	}
}

// stop ends the process and all below it: SIGTERM, and SIGKILL when the grace is over or ctx is done.
func (p *process) stop(ctx context.Context, grace time.Duration) error {
	orders := json.NewEncoder(p.control)
	if ctx.Err() == nil {
		_ = orders.Encode(order{orderTerm}) // a guard that is gone has nothing left to stop
		p.wait(ctx, grace)
	}
	_ = orders.Encode(order{orderEnd})
	_ = p.control.Close()
	late := time.NewTimer(farGone)
	defer late.Stop()
	select {
	case <-p.gone:
		return nil
	case <-late.C:
		_ = p.guard.Process.Kill()
		<-p.gone
		return fmt.Errorf("%s (process %d) could not be killed within %v", p.role, p.pid, farGone)
	}
}

// wait waits until nothing is left, at most for the grace.
func (p *process) wait(ctx context.Context, grace time.Duration) {
	over := time.NewTimer(grace)
	defer over.Stop()
	select {
	case <-p.empty:
	case <-p.gone:
	case <-over.C:
	case <-ctx.Done():
	}
}
