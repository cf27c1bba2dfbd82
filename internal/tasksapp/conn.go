package tasksapp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobwas/ws"
	"github.com/gorilla/websocket"

	"github.com/ddpgate/ddpgate/ddp"
)

// SockJS's own heartbeat, beneath DDP's: a WebSocket ping this often, and this long for the pong.
const (
	sockjsPing = 45 * time.Second
	sockjsPong = 10 * time.Second
)

// A conn is one client's connection. The goroutine that reads it owns it.
type conn struct {
	server  *Server
	socket  *websocket.Conn
	out     *outbox
	session *session    // nil until the client has connected
	ponged  atomic.Bool // since the last ping of SockJS
}

func newConn(s *Server, socket *websocket.Conn, w wire) *conn {
	c := &conn{server: s, socket: socket, out: newOutbox(socket.NetConn(), w, s.backlog)}
	socket.SetPingHandler(func(text string) error {
		c.out.write(ws.MustCompileFrame(ws.NewPongFrame([]byte(text))))
		return nil
	})
	socket.SetPongHandler(func(string) error {
		c.ponged.Store(true)
		return nil
	})
	socket.SetCloseHandler(func(code int, _ string) error {
		c.out.finish(closeFrame(code, ""))
		return nil
	})
	return c
}

// serve reads the connection until it ends; all that it started has ended when it returns.
func (c *conn) serve(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(c.out.run)
	if c.out.wire.sockjs {
		c.out.write(c.out.wire.frame([]byte("o")))
		group.Go(func() { c.beat(ctx) })
	}
	c.read(ctx, &group)
	cancel()
	c.out.finish()
	group.Wait()
}

func (c *conn) read(ctx context.Context, group *sync.WaitGroup) {
	var scratch []byte
	for {
		_, frame, err := c.socket.ReadMessage()
		if err != nil {
			return
		}
		switch {
		case c.out.ended(): // what comes while the client answers the closing handshake
		case !c.out.wire.sockjs:
			c.receive(ctx, group, frame)
		case len(frame) > 0:
			scratch = c.unwrap(ctx, group, frame, scratch)
		}
	}
}

// unwrap receives the messages of a SockJS frame.
func (c *conn) unwrap(ctx context.Context, group *sync.WaitGroup, frame, scratch []byte) []byte {
	err := errNotJSON
	if json.Valid(frame) {
		scratch, err = ddp.SockJSMessages(frame, scratch, func(m []byte) error {
			c.receive(ctx, group, bytes.Clone(m))
			return nil
		})
	}
	if err != nil {
		c.out.finish(closeFrame(3000, "Broken framing."))
	}
	return scratch
}

var errNotJSON = errors.New("not JSON")

// receive does what comes before the queue: it opens the session, and answers pings without waiting for methods.
func (c *conn) receive(ctx context.Context, group *sync.WaitGroup, text []byte) {
	r, ok := parse(text)
	switch {
	case !ok:
		c.out.send(errorMessage("Bad request", r.offending()))
	case r.Kind == ddp.Connect && c.session != nil:
		c.out.send(errorMessage("Already connected", r.offending()))
	case r.Kind == ddp.Connect:
		c.connect(ctx, group, r)
	case c.session == nil:
		c.out.send(errorMessage("Must connect first", r.offending()))
	default:
		c.session.receive(ctx, r)
	}
}

// versions of DDP, the preferred one first.
var versions = []string{"1", "pre2", "pre1"}

// connect takes the version that the client proposes only if it is the first of the client's own list that is known here.
func (c *conn) connect(ctx context.Context, group *sync.WaitGroup, r request) {
	version, ok := pick(r)
	if !ok {
		c.out.send(failed(version))
		c.close(websocket.CloseNormalClosure, "Normal closure")
		return
	}
	if !c.server.faults.connect() {
		c.server.crash()
		return
	}
	c.session = newSession(c.server, c, version)
	group.Go(func() { c.session.run(ctx) })
}

// beat sends SockJS's heartbeat.
func (c *conn) beat(ctx context.Context) {
	tick := time.NewTicker(sockjsPing)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c.ponged.Store(false)
		c.out.write(ws.MustCompileFrame(ws.NewPingFrame(nil)))
		if wait(ctx, sockjsPong) && !c.ponged.Load() {
			c.close(3000, "No response from heartbeat")
			return
		}
	}
}

// close ends the connection after what is pending, in the way of its transport.
func (c *conn) close(code int, reason string) {
	if !c.out.wire.sockjs {
		c.out.finish(closeFrame(code, reason))
		return
	}
	goodbye := fmt.Appendf(nil, "c[%d,%q]", code, reason)
	c.out.finish(c.out.wire.frame(goodbye), closeFrame(websocket.CloseNormalClosure, "Normal closure"))
}

func (c *conn) goAway() { c.close(websocket.CloseGoingAway, "the server is stopping") }

// cut ends the connection without a word.
func (c *conn) cut() { c.socket.NetConn().Close() }

// wait waits; false means that ctx was done before.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
