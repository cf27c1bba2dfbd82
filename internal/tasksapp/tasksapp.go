// Package tasksapp is a DDP server with the tasks app of Meteor's performance suite: four methods on one collection, which
// one publication shows to every subscriber. It answers as Meteor does, over raw WebSocket and SockJS, and can be told to
// misbehave, so that a gate can be tried on a server whose faults are known.
//
// A data message is encoded once per form of wire and its bytes are shared by all subscribers. Each session has a goroutine
// that reads, one that runs its methods one after the other, and one that writes all that is pending in one go.
package tasksapp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// ErrCrashed is what Serve returns after the crash that Options.CrashAt asks for.
var ErrCrashed = errors.New("crashed, as it was told to")

// Options are the faults of a server. The zero value has none.
type Options struct {
	CPU     time.Duration // processor time that each method uses up before it does its work
	Slow    time.Duration // how long each method waits before it does its work
	Leak    int64         // bytes that each session leaves behind in memory
	CrashAt int           // the session, counted from 1, at which the server crashes; 0 for never
	Drop    float64       // share of data messages (added and removed) that are lost on their way, 0 to 1
	Seed    uint64        // decides which data messages are lost
}

// Validate reports every option that is out of its range.
func (o Options) Validate() error {
	var faults []error
	if o.CPU < 0 {
		faults = append(faults, fmt.Errorf("cpu is %v, want 0 or more", o.CPU))
	}
	if o.Slow < 0 {
		faults = append(faults, fmt.Errorf("slow is %v, want 0 or more", o.Slow))
	}
	if o.Leak < 0 {
		faults = append(faults, fmt.Errorf("leak is %d bytes, want 0 or more", o.Leak))
	}
	if o.CrashAt < 0 {
		faults = append(faults, fmt.Errorf("crash-at is %d, want 0 or more", o.CrashAt))
	}
	if !(o.Drop >= 0 && o.Drop <= 1) {
		faults = append(faults, fmt.Errorf("drop is %v, want a share from 0 to 1", o.Drop))
	}
	return errors.Join(faults...)
}

// A Server is the app. It is an http.Handler; Serve runs it to a clean end. It may be used by several goroutines.
type Server struct {
	opts     Options
	tasks    *tasks
	faults   *faults
	deflater *deflater
	routes   http.Handler
	backlog  int           // bytes that a client may fall behind
	crashed  chan struct{} // closed by the crash

	mu       sync.Mutex
	conns    map[*conn]struct{}
	stopping bool
	open     sync.WaitGroup // one for each of conns
}

// New makes a server without tasks. Options that do not hold are reported by Serve.
func New(opts Options) *Server {
	s := &Server{
		opts:     opts,
		tasks:    newTasks(opts),
		faults:   &faults{opts: opts},
		deflater: newDeflater(),
		backlog:  defaultBacklog,
		crashed:  make(chan struct{}),
		conns:    make(map[*conn]struct{}),
	}
	s.routes = routes(s)
	return s
}

// ServeHTTP answers GET / with 200, and both transports where Meteor has them.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.routes.ServeHTTP(w, r) }

// Serve serves the listener until ctx is done, then tells every client that it is going, and returns nil when all are gone.
// It closes the listener in any case and leaves no goroutine behind. After the crash that Options.CrashAt asks for it cuts
// all connections and returns ErrCrashed. It is to be called once.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	if err := s.opts.Validate(); err != nil {
		return errors.Join(err, listener.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	web := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx }, // so that no method outlasts it
	}
	var failed error
	over := make(chan struct{})
	go func() {
		defer close(over)
		failed = web.Serve(listener)
	}()
	end := (*conn).goAway
	select {
	case <-over:
	case <-ctx.Done():
	case <-s.crashed:
		end = (*conn).cut
	}
	s.stop(end)
	cancel()
	web.Close()
	<-over
	s.open.Wait()
	switch {
	case s.isCrashed():
		return ErrCrashed
	case !errors.Is(failed, http.ErrServerClosed):
		return fmt.Errorf("accept connections: %w", failed)
	}
	return nil
}

// crash ends Serve at once; the clients learn of it by their broken connections.
func (s *Server) crash() {
	close(s.crashed)
	s.stop((*conn).cut)
}

func (s *Server) isCrashed() bool {
	select {
	case <-s.crashed:
		return true
	default:
		return false
	}
}

// join takes a connection up; false means that the server is stopping.
func (s *Server) join(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return false
	}
	s.conns[c] = struct{}{}
	s.open.Add(1)
	return true
}

func (s *Server) leave(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.open.Done()
}

// stop takes no more connections and does end to each of those that are open.
func (s *Server) stop(end func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	for c := range s.conns {
		end(c)
	}
}
