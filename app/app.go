package app

import (
	"context"
	"errors"
	"time"
)

// Options are what a start needs beside the Config. The zero value is the default.
type Options struct {
	// Environ is the environment that processes inherit, as os.Environ has it; nil is this process's own.
	Environ []string
	// Grace is how long processes have between SIGTERM and SIGKILL; 0 is ten seconds.
	Grace time.Duration
	// Lines is how many lines of output are kept of each process; 0 is 200.
	Lines int
}

// An App is an app that was started, or a URL that answered. Its methods may be called from several goroutines.
// Whoever has one calls Stop.
type App struct{}

// A Process is the first process of the app or of a service.
type Process struct {
	// Role is "app", or the service's name.
	Role string
	// PID is the process itself.
	PID int
	// Reaper is the process that inherits, and waits for, what is orphaned below PID; 0 where there is none. It is no part of the app.
	Reaper int
}

// An Exit is how a process ended.
type Exit struct {
	// Role is "app", or the name of the service that ended.
	Role string
	// Code is the exit status, -1 when a signal ended the process.
	Code int
	// Signal is the signal's name, such as SIGKILL, empty when the process exited by itself.
	Signal string
	// Output is the last lines of its output, oldest first.
	Output []string
}

// String says how the process ended in words: "app exited with status 3", "db was killed by SIGKILL".
func (e Exit) String() string { return e.Role }

// A StartError says what could not be started and why.
type StartError struct {
	// What is what could not be started: "app", "service db", "reset".
	What string
	// Output is the last lines that it wrote, oldest first.
	Output []string
	// Err is the cause, see the sentinels.
	Err error
}

// Error names what could not be started and the cause, and has the last lines of output below.
func (e *StartError) Error() string { return e.What }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// What a StartError may wrap.
var (
	ErrNotFound    = errors.New("command not found")
	ErrPortInUse   = errors.New("port in use")
	ErrNeverReady  = errors.New("never ready")
	ErrDied        = errors.New("died at start")
	ErrUnreachable = errors.New("not reachable")
)

// Validate returns all that is wrong with the Config, joined.
func (c Config) Validate() error { return errors.New("not written yet") }

// Start starts the services, runs the reset, starts the app, and waits until it answers. ctx bounds the start only: an
// app that was started lives until Stop. When anything fails, all that was started is stopped again and the error is a *StartError,
// or ctx's.
func Start(ctx context.Context, c Config, o Options) (*App, error) {
	return nil, errors.New("not written yet")
}

// Guard, called first in main, turns a process that Start made of this same executable into the guard of an app, which starts it, hands
// on how it ends, and kills all that descends from it when the program that called Start is gone. Then ok is true and main must exit
// with the code. In any other process it does nothing.
//
//	if code, ok := app.Guard(os.Args); ok {
//		os.Exit(code)
//	}
func Guard(args []string) (code int, ok bool) { return 0, false }

// URL returns the app's URL, as configured.
func (a *App) URL() string { return "" }

// Processes returns the app's process first, where it was started here, then the services in order.
func (a *App) Processes() []Process { return nil }

// Startup returns how long the app took from its start until it answered; ok is false where it was not started here.
func (a *App) Startup() (seconds float64, ok bool) { return 0, false }

// Done returns a channel that is closed when the app's process, or a service's, has ended, by itself or by Stop.
func (a *App) Done() <-chan struct{} { return nil }

// Exit returns how the process that ended first ended; ok is false while none has, and where Stop came before.
func (a *App) Exit() (e Exit, ok bool) { return Exit{}, false }

// Output returns the last n lines that the app wrote to stdout and stderr, oldest first.
func (a *App) Output(n int) []string { return nil }

// Stop stops the app, then the services: SIGTERM to the process group, SIGKILL after the grace, or at once when ctx is done,
// to all that descends from it. It returns when they are gone and their temporary directory is. Further calls wait for the
// first and return the same.
func (a *App) Stop(ctx context.Context) error { return nil }

// Resolve returns the text, or the first line that the command prints, run as the app's command would be.
func (v Version) Resolve(ctx context.Context, c Config, o Options) (string, error) {
	return "", errors.New("not written yet")
}
