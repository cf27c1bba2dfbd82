package ddp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// soon is the time limit of a dial that will not be answered however long it waits.
const soon = 300 * time.Millisecond

// dialAll dials an address in each way and holds the error against its cause.
func dialAll(t *testing.T, address string, o Options, want ConnError) {
	t.Helper()
	var dialing sync.WaitGroup
	for _, w := range ways() {
		o := o
		o.Transport, o.Compression = w.transport, w.compression
		dialing.Go(func() {
			c, err := Dial(t.Context(), address, o)
			if err == nil {
				c.Abandon()
			}
			var conn *ConnError
			if !errors.As(err, &conn) || conn.Kind() != want.Kind() {
				t.Errorf("%v: got %v, want %s", w, err, want.Kind())
			}
		})
	}
	dialing.Wait()
}

func TestRefused(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	address := "http://" + l.Addr().String()
	l.Close()
	dialAll(t, address, Options{}, ConnError{Cause: Refused})
}

// talk serves each TCP connection with a function that has it to itself.
func talk(t *testing.T, f func(net.Conn)) (hostPort string) {
	t.Helper()
	l := listen(t, "127.0.0.1:0")
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f(c)
			c.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-over
	})
	return l.Addr().String()
}

// silence reads and says nothing until the client has gone.
func silence(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// A Meteor server does not answer an upgrade on a path that it does not know.
func TestHandshakeStalled(t *testing.T) {
	o := Options{HandshakeTimeout: soon}
	want := ConnError{Cause: HandshakeStalled}
	dialAll(t, "http://"+talk(t, silence), o, want)
	dialAll(t, "https://"+talk(t, silence), o, want)
	dialAll(t, "http://"+talk(t, func(c net.Conn) {
		fmt.Fprint(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: web") // and no more
		silence(c)
	}), o, want)
}

// ctx ends a dial at once, with its own error and none of ours.
func TestDialCancelled(t *testing.T) {
	for _, w := range ways() {
		ctx, cancel := context.WithCancel(t.Context())
		address := talk(t, func(c net.Conn) {
			cancel()
			silence(c)
		})
		_, err := Dial(ctx, "http://"+address, Options{Transport: w.transport, Compression: w.compression, HandshakeTimeout: time.Hour})
		if err != context.Canceled {
			t.Errorf("%v: got %v, want %v", w, err, context.Canceled)
		}
	}
}

// A proxy that knows no WebSocket answers the upgrade itself.
func TestUpgradeRefused(t *testing.T) {
	for _, status := range []int{200, 301, 403, 404, 502, 503} {
		n := overTCP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, strings.Repeat("<html>", 1000))
		}))
		dialAll(t, n.address, Options{}, ConnError{Cause: UpgradeRefused, Status: status})
	}
	old := talk(t, func(c net.Conn) {
		if _, err := c.Read(make([]byte, 4096)); err != nil {
			t.Error(err)
		}
		fmt.Fprint(c, "HTTP/1.0 503 Service Unavailable\r\nConnection: close\r\n\r\nno server is available\r\n")
	})
	dialAll(t, "http://"+old, Options{}, ConnError{Cause: UpgradeRefused, Status: 503})
	if got, want := (&ConnError{Cause: UpgradeRefused, Status: 403}).Kind(), "upgrade refused with status 403"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What answers an upgrade is not always a web server, and not always one that listens.
func TestNoHandshake(t *testing.T) {
	const answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
	for name, tt := range map[string]struct {
		says string
		want Cause
	}{
		"nothing":         {"", Lost},
		"half an answer":  {"HTTP/1.1 101 Swit", Lost},
		"another service": {"SSH-2.0-OpenSSH_9.6\r\n\r\n", BrokenFraming},
		"a wrong key":     {answer + "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n", BrokenFraming},
	} {
		t.Run(name, func(t *testing.T) {
			address := talk(t, func(c net.Conn) {
				if _, err := c.Read(make([]byte, 4096)); err != nil {
					t.Error(err)
				}
				fmt.Fprint(c, tt.says)
			})
			dialAll(t, "http://"+address, Options{}, ConnError{Cause: tt.want})
		})
	}
}

func TestClosed(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.String(), func(t *testing.T) {
			h := converse(t, w, Options{}, func(ws *peer) error {
				return ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1012, "restart"))
			})
			if got, want := fmt.Sprint(h.err), `closed with code 1012 "restart"`; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			h = converse(t, w, Options{}, func(ws *peer) error { return ws.WriteMessage(websocket.CloseMessage, nil) })
			if got, want := fmt.Sprint(h.err), "closed with code 1005"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if w.transport != SockJS {
				return
			}
			h = converse(t, w, Options{}, func(ws *peer) error { return ws.write(`c[3000,"Go away!"]`) })
			if got, want := fmt.Sprint(h.err), `closed with code 3000 "Go away!"`; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// The client answers a server's close with the same code, once.
func TestCloseIsAnswered(t *testing.T) {
	for _, w := range ways() {
		var got error
		converse(t, w, Options{}, func(ws *peer) error {
			if err := ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1001, "")); err != nil {
				return err
			}
			_, _, got = ws.ReadMessage()
			return nil
		})
		if !websocket.IsCloseError(got, 1001) {
			t.Errorf("%v: got %v, want the code 1001 back", w, got)
		}
	}
}

func TestLost(t *testing.T) {
	for _, w := range ways() {
		for name, hangUp := range map[string]func(*net.TCPConn) error{
			"reset": func(c *net.TCPConn) error { return errors.Join(c.SetLinger(0), c.Close()) },
			"end":   func(c *net.TCPConn) error { return c.Close() },
		} {
			h := converse(t, w, Options{}, func(ws *peer) error {
				return hangUp(ws.NetConn().(*extendingConn).Conn.(*net.TCPConn))
			})
			if !endedWith(h.err, Lost) {
				t.Errorf("%v, %s: got %v, want %s", w, name, h.err, Lost)
			}
			half := frame(0x81, bytes.Repeat([]byte("x"), 1000))[:500]
			h = converse(t, w, Options{}, func(ws *peer) error {
				return errors.Join(ws.raw(half), hangUp(ws.NetConn().(*extendingConn).Conn.(*net.TCPConn)))
			})
			if !endedWith(h.err, Lost) {
				t.Errorf("%v, %s within a frame: got %v, want %s", w, name, h.err, Lost)
			}
		}
	}
}

func TestReadLimit(t *testing.T) {
	const limit = 100_000
	message := func(size int) string {
		empty := `{"msg":"result","id":"1","result":""}`
		return strings.Replace(empty, `""`, `"`+strings.Repeat("x", size-len(empty))+`"`, 1)
	}
	for _, w := range ways() {
		t.Run(w.String(), func(t *testing.T) {
			overhead := len(wrapped(w.transport, message(1000))) - 1000
			h := converse(t, w, Options{ReadLimit: limit}, func(ws *peer) error {
				for range 3 {
					if err := ws.send(w.transport, message(limit-overhead)); err != nil {
						return err
					}
				}
				return ws.bye()
			})
			if !endedWith(h.err, Closed) || len(h.messages) != 3 {
				t.Errorf("at the limit: got %d messages, %v", len(h.messages), h.err)
			}
			h = converse(t, w, Options{ReadLimit: limit}, func(ws *peer) error {
				err := ws.send(w.transport, message(limit-overhead+1))
				ws.drain()
				return err
			})
			if got, want := fmt.Sprint(h.err), "message too large: over the read limit of 100000 bytes"; got != want {
				t.Errorf("over the limit: got %q, want %q", got, want)
			}
		})
	}
}

// Uncompressed fragments that are too large together, and a length that no message has.
func TestReadLimitOfFragments(t *testing.T) {
	for _, w := range ways() {
		h := converse(t, w, Options{ReadLimit: 1000}, func(ws *peer) error {
			err := errors.Join(ws.raw(frame(1, make([]byte, 600))), ws.raw(frame(0x80, make([]byte, 600))))
			ws.drain()
			return err
		})
		if !endedWith(h.err, TooLarge) {
			t.Errorf("%v: got %v, want %s", w, h.err, TooLarge)
		}
		h = converse(t, w, Options{}, func(ws *peer) error {
			err := ws.raw([]byte{0x81, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
			ws.drain()
			return err
		})
		if !endedWith(h.err, TooLarge) {
			t.Errorf("%v: a length of 2^63-1: got %v, want %s", w, h.err, TooLarge)
		}
	}
	if got, want := (Options{}).withDefaults().ReadLimit, int64(64<<20); got != want {
		t.Errorf("got a default limit of %d, want %d", got, want)
	}
}

func TestBrokenFraming(t *testing.T) {
	masked := []byte{0x81, 0x82, 1, 2, 3, 4, 'h', 'i'}
	for name, raw := range map[string][]byte{
		"masked":                  masked,
		"reserved bit":            frame(0xa1, []byte("a[]")),
		"reserved opcode":         frame(0x83, []byte("a[]")),
		"reserved control opcode": frame(0x8b, nil),
		"continuation of nothing": frame(0x80, []byte("a[]")),
		"text within a text":      append(frame(0x01, []byte("a[")), frame(0x81, []byte("a[]"))...),
		"fragmented control":      frame(0x09, nil),
		"long control":            frame(0x89, make([]byte, 200)),
	} {
		for _, w := range ways() {
			h := converse(t, w, Options{}, func(ws *peer) error {
				err := ws.raw(raw)
				ws.drain()
				return err
			})
			if !endedWith(h.err, BrokenFraming) {
				t.Errorf("%v, %s: got %v, want %s", w, name, h.err, BrokenFraming)
			}
		}
	}
}

func TestBrokenDeflate(t *testing.T) {
	for _, w := range ways() {
		for name, payload := range map[string][]byte{
			"no blocks":     {0xff, 0xff, 0xff, 0xff, 0xff},
			"half a block":  {0xaa, 0x56, 0xca, 0x2d},
			"far reference": {0x4b, 0x4c, 0x04, 0xff, 0xff},
		} {
			h := converse(t, w, Options{}, func(ws *peer) error {
				err := ws.raw(frame(0xc1, payload))
				ws.drain()
				return err
			})
			if !endedWith(h.err, BrokenFraming) {
				t.Errorf("%v, %s: got %v, want %s", w, name, h.err, BrokenFraming)
			}
		}
	}
}

func TestBrokenSockJSClose(t *testing.T) {
	for _, closing := range []string{`c`, `c[`, `c["x",1]`, `c{}`} {
		h := converse(t, way{SockJS, Browser}, Options{}, func(ws *peer) error {
			err := ws.write(closing)
			ws.drain()
			return err
		})
		if !endedWith(h.err, BrokenFraming) {
			t.Errorf("%s: got %v, want %s", closing, h.err, BrokenFraming)
		}
	}
}

// A server that does not read holds a session up, and then it has failed.
func TestSendStalled(t *testing.T) {
	for _, w := range ways() {
		release := make(chan struct{})
		n := overTCP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			ws, err := upgrade(rw, r, w.extension())
			if err == nil {
				defer ws.Close()
				err = ws.greet(w.transport)
			}
			if err != nil {
				t.Error(err)
			}
			<-release
		}))
		c, err := Dial(t.Context(), n.address, Options{Transport: w.transport, Compression: w.compression, WriteTimeout: soon})
		if err != nil {
			t.Fatal(err)
		}
		params := []byte(`["` + strings.Repeat("x", 1<<20) + `"]`)
		for range 100 {
			if _, err = c.Call("m", params); err != nil {
				break
			}
		}
		if !endedWith(err, SendStalled) {
			t.Errorf("%v: got %v, want %s", w, err, SendStalled)
		}
		c.Abandon()
		close(release)
	}
}

func TestDialCause(t *testing.T) {
	for err, want := range map[error]Cause{
		syscall.EMFILE:        Exhausted,
		syscall.ENFILE:        Exhausted,
		syscall.EADDRNOTAVAIL: Exhausted, // no port is left
		syscall.ECONNREFUSED:  Refused,
		syscall.EHOSTUNREACH:  Refused,
		syscall.ETIMEDOUT:     HandshakeStalled,
	} {
		wrapped := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", err)}
		if got := dialCause(wrapped); got != want {
			t.Errorf("%v: got %s, want %s", err, got, want)
		}
	}
}

// A deadline of the caller's own is the caller's, and no fault of the server.
func TestDialDeadline(t *testing.T) {
	address := "http://" + talk(t, silence)
	for _, w := range ways() {
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		_, err := Dial(ctx, address, Options{Transport: w.transport, Compression: w.compression})
		cancel()
		if err != context.DeadlineExceeded {
			t.Errorf("%v: got %v, want %v", w, err, context.DeadlineExceeded)
		}
	}
}
