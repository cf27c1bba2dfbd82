package app

import (
	"errors"
	"fmt"
	"strings"
)

// What a StartError may wrap.
var (
	ErrNotFound    = errors.New("command not found")
	ErrPortInUse   = errors.New("port in use")
	ErrNeverReady  = errors.New("never ready")
	ErrDied        = errors.New("died at start")
	ErrUnreachable = errors.New("not reachable")
)

// A StartError says what could not be started and why.
type StartError struct {
	// What is what could not be started: "app", "service db", "reset".
	What string
	// Output is the last lines that it wrote, oldest first.
	Output []string
	// Err is the cause, see the sentinels.
	Err error
}

// shown is how many lines of output an error and an Exit carry.
const shown = 20

// Error names what could not be started and the cause, and has the last lines of output below.
func (e *StartError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v", e.What, e.Err)
	for _, line := range e.Output {
		b.WriteString("\n  | " + line)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

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
func (e Exit) String() string { return e.Role + " " + e.how() }

func (e Exit) how() string {
	if e.Signal != "" {
		return "was killed by " + e.Signal
	}
	return fmt.Sprintf("exited with status %d", e.Code)
}
