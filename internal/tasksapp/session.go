package tasksapp

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/ddpgate/ddpgate/ddp"
)

// heartbeat is how long a client may be silent before it is pinged, and again before it counts as gone.
const heartbeat = 15 * time.Second

// A session is what a connected client has: its subscriptions, and its messages in the order in which they came.
type session struct {
	server *Server
	conn   *conn
	pings  bool // version pre1 knows no ping
	heard  atomic.Bool
	queue  chan request
	subs   map[string]struct{} // of the one publication there is; run owns it
}

func newSession(s *Server, c *conn, version string) *session {
	c.out.send(connected(randomID(nil)))
	return &session{
		server: s,
		conn:   c,
		pings:  version != "pre1",
		queue:  make(chan request, 64),
		subs:   make(map[string]struct{}),
	}
}

// receive takes a message from the reader. A ping is answered at once: a client whose method is slow is not gone.
func (s *session) receive(ctx context.Context, r request) {
	s.heard.Store(true)
	switch {
	case s.pings && r.Kind == ddp.Ping:
		s.conn.out.send(pong(r.rawID))
	case s.pings && r.Kind == ddp.Pong:
	default:
		select {
		case s.queue <- r:
		case <-ctx.Done():
		}
	}
}

// run does what the client asks for, one message after the other, until ctx is done.
func (s *session) run(ctx context.Context) {
	defer s.server.tasks.leave(s.conn.out)
	var tick <-chan time.Time
	if s.pings {
		ticker := time.NewTicker(heartbeat)
		defer ticker.Stop()
		tick = ticker.C
	}
	asked := false
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-s.queue:
			s.handle(ctx, r)
		case <-tick:
			asked = s.beat(asked)
		}
	}
}

// beat pings a client that has been silent for a while, and closes the connection of one that was pinged before.
func (s *session) beat(asked bool) bool {
	if s.heard.Swap(false) {
		return false
	}
	if asked {
		s.conn.close(websocket.CloseNormalClosure, "Normal closure")
	} else {
		s.conn.out.send(messagef(`{"msg":"ping"}`))
	}
	return true
}

func (s *session) handle(ctx context.Context, r request) {
	switch r.Kind {
	case ddp.Sub:
		s.sub(r)
	case ddp.Unsub:
		s.unsub(r)
	case ddp.Method:
		s.method(ctx, r)
	default:
		s.conn.out.send(errorMessage("Bad request", r.offending()))
	}
}

func (s *session) sub(r request) {
	out := s.conn.out
	if r.ID == nil || r.Name == nil || !r.paramsOK() {
		out.send(errorMessage("Malformed subscription", r.offending()))
		return
	}
	if string(r.Name) != "fetchTasks" {
		out.send(nosubUnknown(r.ID, r.Name))
		return
	}
	id := string(r.ID)
	if _, repeated := s.subs[id]; repeated {
		return
	}
	if len(s.subs) == 0 { // a second subscription brings nothing that the first has not brought
		s.server.tasks.join(out)
	}
	s.subs[id] = struct{}{}
	out.send(ready(r.ID))
}

func (s *session) unsub(r request) {
	if _, had := s.subs[string(r.ID)]; had {
		delete(s.subs, string(r.ID))
		if len(s.subs) == 0 {
			s.server.tasks.withdraw(s.conn.out)
		}
	}
	s.conn.out.send(nosub(r.rawID))
}

func (s *session) method(ctx context.Context, r request) {
	out := s.conn.out
	seed, seedOK := r.seed()
	if r.ID == nil || r.Name == nil || !r.paramsOK() || !seedOK {
		out.send(errorMessage("Malformed method invocation", r.offending()))
		return
	}
	body := bodyOf(string(r.Name))
	if body == nil {
		out.send(resultUnknown(r.ID, r.Name))
		out.send(updated(r.ID))
		return
	}
	s.server.faults.method(ctx)
	argument, ok := r.argument()
	s.server.tasks.commit(out, r.ID, func(t *tasks) ([]byte, []*message, error) {
		return body(t, call{argument, ok, seed})
	})
}
