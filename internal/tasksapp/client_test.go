package tasksapp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// A pipeListener listens in memory, so that a server and its clients can live in one synctest bubble.
type pipeListener struct {
	conns chan net.Conn
	close func()
	done  chan struct{}
}

func newPipeListener() *pipeListener {
	l := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.done) })
	return l
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.close()
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "pipe"} }

func (l *pipeListener) dial() (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// A running server, and what its Serve returned once stop has been called.
type running struct {
	t    *testing.T
	dial func() (net.Conn, error)
	stop func() error
	over chan struct{} // closed when Serve has returned
}

func start(t *testing.T, app *Server, l net.Listener, dial func() (net.Conn, error)) *running {
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{t: t, dial: dial, over: make(chan struct{})}
	var err error
	go func() {
		defer close(r.over)
		err = app.Serve(ctx, l)
	}()
	r.stop = func() error {
		cancel()
		<-r.over
		return err
	}
	return r
}

// startPipe starts a server in memory.
func startPipe(t *testing.T, opts Options) *running {
	l := newPipeListener()
	return start(t, New(opts), l, l.dial)
}

// startTCP starts a server on the loopback interface.
func startTCP(t *testing.T, opts Options) *running {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return start(t, New(opts), l, func() (net.Conn, error) {
		return new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	})
}

const (
	rawPath    = "/websocket"
	sockjsPath = "/sockjs/000/abcdefgh/websocket"
)

// A client speaks DDP messages over either transport; one goroutine uses it.
type client struct {
	t      testing.TB
	ws     *websocket.Conn
	sockjs bool
}

func (r *running) client(path string, compress bool) *client {
	r.t.Helper()
	d := websocket.Dialer{
		EnableCompression: compress,
		NetDialContext:    func(context.Context, string, string) (net.Conn, error) { return r.dial() },
	}
	ws, _, err := d.DialContext(r.t.Context(), "ws://app"+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return &client{t: r.t, ws: ws, sockjs: strings.HasPrefix(path, "/sockjs/0")}
}

// connected opens a DDP session.
func (r *running) connected(path string, compress bool) *client {
	r.t.Helper()
	c := r.client(path, compress)
	c.send(`{"msg":"connect","version":"1","support":["1","pre2","pre1"]}`)
	if c.sockjs {
		if frame, err := c.frame(); frame != "o" {
			r.t.Fatalf("first frame: got %q, %v, want o", frame, err)
		}
	}
	c.want(`{"msg":"connected",`)
	return c
}

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	text := fmt.Appendf(nil, format, args...)
	if c.sockjs {
		var err error
		if text, err = json.Marshal([]string{string(text)}); err != nil {
			c.t.Fatal(err)
		}
	}
	if err := c.ws.WriteMessage(websocket.TextMessage, text); err != nil {
		c.t.Fatalf("send %s: %v", text, err)
	}
}

func (c *client) call(id, method, argument string) {
	c.t.Helper()
	c.send(`{"msg":"method","method":%q,"params":[%s],"id":%q}`, method, argument, id)
}

func (c *client) frame() (string, error) {
	c.ws.SetReadDeadline(time.Now().Add(patience))
	_, frame, err := c.ws.ReadMessage()
	return string(frame), err
}

// message returns the next DDP message.
func (c *client) message() (string, error) {
	frame, err := c.frame()
	if err != nil || !c.sockjs {
		return frame, err
	}
	var list []string
	if len(frame) == 0 || frame[0] != 'a' || json.Unmarshal([]byte(frame[1:]), &list) != nil || len(list) != 1 {
		return "", fmt.Errorf("frame %q is no message", frame)
	}
	return list[0], nil
}

// want takes the next message, which has to begin as given, and returns it.
func (c *client) want(prefix string) string {
	c.t.Helper()
	got, err := c.message()
	if err != nil || !strings.HasPrefix(got, prefix) {
		c.t.Fatalf("got %s, %v, want it to begin with %s", got, err, prefix)
	}
	return got
}

// until takes messages up to one that begins as given, and returns all before it.
func (c *client) until(prefix string) []string {
	c.t.Helper()
	var before []string
	for {
		got, err := c.message()
		if err != nil {
			c.t.Fatalf("%v after %d messages, want one that begins with %s", err, len(before), prefix)
		}
		if strings.HasPrefix(got, prefix) {
			return before
		}
		before = append(before, got)
	}
}

// wantClosed reads until the connection ends and wants it to end with a close frame.
func (c *client) wantClosed(code int, reason string) {
	c.t.Helper()
	for {
		_, err := c.frame()
		var end *websocket.CloseError
		if errors.As(err, &end) {
			if end.Code != code || end.Text != reason {
				c.t.Fatalf("closed with %d %q, want %d %q", end.Code, end.Text, code, reason)
			}
			return
		}
		if err != nil {
			c.t.Fatalf("got %v, want the connection closed with %d", err, code)
		}
	}
}

// bye closes the connection as a client does.
func (c *client) bye() {
	c.t.Helper()
	c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(patience))
	c.wantClosed(websocket.CloseNormalClosure, "")
	c.ws.Close()
}
