package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

// Options are what a start needs beside the Config. The zero value is the default.
type Options struct {
	// Environ is the environment that processes inherit, as os.Environ has it; nil is this process's own.
	Environ []string
	// Grace is how long processes have between SIGTERM and SIGKILL; 0 is ten seconds.
	Grace time.Duration
	// Header and TLS are what requests to Config.URL are made with; nil for nothing added.
	Header http.Header
	TLS    *tls.Config
	// CPUs are those that the services, the reset and the app are kept on, with all that descends from them; empty is whatever this
	// process may use. Where the system cannot do that, nothing starts.
	CPUs []int
	// Lines is how many lines of output are kept of each process; 0 is 200.
	Lines int
}

func (o Options) withDefaults() Options {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Grace <= 0 {
		o.Grace = 10 * time.Second
	}
	if o.Lines <= 0 {
		o.Lines = 200
	}
	return o
}

// An App is an app that was started, or a URL that answered. Its methods may be called from several goroutines.
// Whoever has one calls Stop.
type App struct {
	url     string
	options Options
	tmp     string     // the temporary directory, empty when nothing wants one
	running []*process // in the order in which they were started
	app     *process   // one of them, nil where the app was not started here
	startup time.Duration

	watching sync.WaitGroup
	done     chan struct{}
	mu       sync.Mutex
	first    *Exit // what ended first, before Stop
	stopping bool

	stop    sync.Once
	stopErr error
}

// A Process is the first process of the app or of a service.
type Process struct {
	// Role is "app", or the service's name.
	Role string
	// PID is the process itself.
	PID int
	// Reaper is the process that inherits, and waits for, what is orphaned below PID; 0 where there is none. It is no part of the app.
	Reaper int
	// Server is, of the app, the process that is the app proper where PID only started it, as npm and meteor run do: the one that
	// listens on the app's port. It is PID otherwise, and 0 where it is not known.
	Server int
	// Groups are the directories of the control groups that hold this process, all that descends from it, and nothing else. They
	// are there until Stop. Empty where that is not allowed, and then Ungrouped says why.
	Groups    []string
	Ungrouped string
}

// Start starts the services, runs the reset, starts the app, and waits until it answers. ctx bounds the start only: an
// app that was started lives until Stop. When anything fails, all that was started is stopped again and the error is a *StartError,
// what Validate says, or ctx's cause.
func Start(ctx context.Context, c Config, o Options) (*App, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Ready == 0 {
		c.Ready = DefaultReady
	}
	a := &App{url: c.URL, options: o.withDefaults(), done: make(chan struct{})}
	failed := a.start(ctx, c)
	if failed == nil {
		a.watch()
		return a, nil
	}
	err := a.halt(context.WithoutCancel(ctx))
	if cause := context.Cause(ctx); cause != nil {
		return nil, errors.Join(cause, err)
	}
	failed.tell()
	return nil, errors.Join(&failed.StartError, err)
}

// A failure is what could not be started, and its process, whose last words are known when it has been stopped.
type failure struct {
	StartError
	process *process
}

func failedAt(what string, p *process, err error) *failure {
	return &failure{StartError{What: what, Err: err}, p}
}

func (f *failure) tell() {
	if f.process == nil {
		return
	}
	f.Output = f.process.output.last(shown)
	if errors.Is(f.Err, ErrDied) {
		f.Err = fmt.Errorf("%w: it %s", f.Err, f.process.exit.how())
	}
}

func (a *App) start(ctx context.Context, c Config) *failure {
	own := command{c.Command, c.Dir, c.Env}
	if err := a.makeTmp(c, own); err != nil {
		return failedAt("temporary directory", nil, err)
	}
	for _, s := range c.Services {
		what := "service " + s.Name
		ready, err := serviceProbe(s.Ready)
		if err != nil {
			return failedAt(what, nil, err)
		}
		p, err := a.launch(ctx, s.Name, command{s.Command, s.Dir, s.Env}, ready, c.Ready)
		if err != nil {
			return failedAt(what, p, err)
		}
	}
	if len(c.Reset) > 0 {
		if p, err := a.reset(ctx, command{c.Reset, "", c.Env}, c.Ready); err != nil {
			return failedAt("reset", p, err)
		}
	}
	ready, err := httpProbe(c.URL)
	ready.header, ready.tls = a.options.Header, a.options.TLS
	if err != nil {
		return failedAt("app", nil, err)
	}
	if len(c.Command) == 0 {
		if err := ready.wait(ctx, c.Ready, nil); err != nil {
			return failedAt("app", nil, fmt.Errorf("%w: %w", ErrUnreachable, err))
		}
		return nil
	}
	p, err := a.launch(ctx, "app", own, ready, c.Ready)
	if err != nil {
		return failedAt("app", p, err)
	}
	a.app, a.startup = p, time.Since(p.started)
	p.server = server(p.pid, ready.port())
	return nil
}

// makeTmp makes the temporary directory if one is wanted.
func (a *App) makeTmp(c Config, own command) error {
	wanted := own.wantsTmp() || command{words: c.Reset}.wantsTmp()
	for _, s := range c.Services {
		wanted = wanted || command{s.Command, s.Dir, s.Env}.wantsTmp()
	}
	if !wanted {
		return nil
	}
	var err error
	a.tmp, err = os.MkdirTemp("", "ddpgate-")
	return err
}

// launch starts a process and waits until it is ready. The process is there also when the error is not nil, once it was
// started.
func (a *App) launch(ctx context.Context, role string, c command, ready probe, limit time.Duration) (*process, error) {
	s, err := c.resolve(a.options.Environ, a.tmp)
	if err != nil {
		return nil, err
	}
	s.CPUs = a.options.CPUs
	if err := ready.taken(ctx); err != nil {
		return nil, err
	}
	p, err := start(ctx, role, s, a.options.Lines)
	if err != nil {
		return nil, err
	}
	a.running = append(a.running, p)
	return p, ready.wait(ctx, limit, p.ended)
}

// reset runs a command to its end. What it leaves behind is stopped too.
func (a *App) reset(ctx context.Context, c command, limit time.Duration) (*process, error) {
	s, err := c.resolve(a.options.Environ, a.tmp)
	if err != nil {
		return nil, err
	}
	s.CPUs = a.options.CPUs
	p, err := start(ctx, "reset", s, a.options.Lines)
	if err != nil {
		return nil, err
	}
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-p.ended:
		if p.exit.Code != 0 {
			err = fmt.Errorf("it %s", p.exit.how())
		}
	case <-late.C:
		err = fmt.Errorf("it did not end within %v", limit)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return p, errors.Join(err, p.stop(context.WithoutCancel(ctx), a.options.Grace))
}

// watch notes which process ends first.
func (a *App) watch() {
	for _, p := range a.running {
		a.watching.Go(func() {
			<-p.ended
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.first != nil {
				return
			}
			if !a.stopping {
				e := p.exit
				e.Output = p.output.last(shown)
				a.first = &e
				close(a.done)
			}
		})
	}
}

// Stop stops the app, then the services: SIGTERM to the process group, SIGKILL after the grace, or at once when ctx is done,
// to all that descends from it. It returns when they are gone and their temporary directory is. Further calls wait for the
// first and return the same.
func (a *App) Stop(ctx context.Context) error {
	a.stop.Do(func() {
		a.mu.Lock()
		a.stopping = true
		if a.first == nil {
			close(a.done)
		}
		a.mu.Unlock()
		a.stopErr = a.halt(ctx)
		a.watching.Wait()
	})
	return a.stopErr
}

// halt stops what is running, the last first.
func (a *App) halt(ctx context.Context) error {
	var faults []error
	for i := len(a.running) - 1; i >= 0; i-- {
		faults = append(faults, a.running[i].stop(ctx, a.options.Grace))
	}
	if a.tmp != "" {
		faults = append(faults, os.RemoveAll(a.tmp))
	}
	return errors.Join(faults...)
}

// URL returns the app's URL, as configured.
func (a *App) URL() string { return a.url }

// Processes returns the app's process first, where it was started here, then the services in order.
func (a *App) Processes() []Process {
	var all []Process
	if a.app != nil {
		all = append(all, a.app.process())
	}
	for _, p := range a.running {
		if p != a.app {
			all = append(all, p.process())
		}
	}
	return all
}

// Startup returns how long the app took from its start until it answered; ok is false where it was not started here.
func (a *App) Startup() (seconds float64, ok bool) { return a.startup.Seconds(), a.app != nil }

// Done returns a channel that is closed when the app's process, or a service's, has ended, or at the latest when Stop is
// called.
func (a *App) Done() <-chan struct{} { return a.done }

// Exit returns how the process that ended first ended; ok is false while none has, and where Stop came before.
func (a *App) Exit() (e Exit, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.first == nil {
		return Exit{}, false
	}
	return *a.first, true
}

// Output returns the last n lines that the app wrote to stdout and stderr, oldest first.
func (a *App) Output(n int) []string {
	if a.app == nil {
		return nil
	}
	return a.app.output.last(n)
}
