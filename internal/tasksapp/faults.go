package tasksapp

import (
	"context"
	"sync"
)

// faults misbehave as the options say. They may be used by several goroutines.
type faults struct {
	opts Options

	mu       sync.Mutex
	sessions int
	leaked   [][]byte
}

const page = 4096

// connect counts a session and leaks for it; false means that the server is to crash.
func (f *faults) connect() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sessions++
	if f.opts.Leak > 0 {
		leak := make([]byte, f.opts.Leak)
		for i := 0; i < len(leak); i += page {
			leak[i] = 1 // memory that was never touched is not resident
		}
		f.leaked = append(f.leaked, leak)
	}
	return f.sessions != f.opts.CrashAt
}

// method delays a method.
func (f *faults) method(ctx context.Context) {
	if f.opts.CPU > 0 {
		burn(f.opts.CPU)
	}
	if f.opts.Slow > 0 {
		wait(ctx, f.opts.Slow)
	}
}

// spin is a few microseconds of work that the compiler cannot leave out.
//
//go:noinline
func spin() uint32 {
	x := uint32(2463534242)
	for range 2000 {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
	}
	return x
}
