package ddp

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// A peer is the server's end of one connection: gorilla/websocket's, which can be told to agree to any extension. It
// compresses what it writes as the extension says, and reads what is not compressed, as the client's frames are not.
type peer struct {
	*websocket.Conn
	deflate    *flate.Writer // nil for none
	compressed bytes.Buffer
	alone      bool // each message is compressed on its own
}

// What servers answer to an offer of permessage-deflate.
const (
	takeover   = "permessage-deflate"
	noTakeover = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
)

// upgrade answers a client's upgrade and agrees to an extension, whatever was offered; "" is none.
func upgrade(w http.ResponseWriter, r *http.Request, extension string) (*peer, error) {
	u := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := u.Upgrade(extending{w, extension}, r, nil)
	if err != nil {
		return nil, err
	}
	p := &peer{Conn: ws, alone: strings.Contains(extension, "server_no_context_takeover")}
	if strings.HasPrefix(extension, "permessage-deflate") {
		p.deflate, err = flate.NewWriter(&p.compressed, flate.DefaultCompression)
	}
	return p, err
}

// write sends a text message.
func (p *peer) write(text string) error {
	if p.deflate == nil {
		return p.WriteMessage(websocket.TextMessage, []byte(text))
	}
	return p.raw(frame(0xc1, p.deflated(text)))
}

// raw sends bytes as they are.
func (p *peer) raw(b []byte) error {
	if err := p.NetConn().SetWriteDeadline(time.Time{}); err != nil { // which a control frame may have left
		return err
	}
	_, err := p.NetConn().Write(b)
	return err
}

// deflated returns a message as it goes over the wire, without its tail.
func (p *peer) deflated(text string) []byte {
	p.compressed.Reset()
	if p.alone {
		p.deflate.Reset(&p.compressed)
	}
	// Writing to a buffer does not fail.
	_, _ = p.deflate.Write([]byte(text))
	_ = p.deflate.Flush()
	return bytes.TrimSuffix(bytes.Clone(p.compressed.Bytes()), tail)
}

// frame is a server's frame with this first byte.
func frame(first byte, payload []byte) []byte {
	b := []byte{first}
	switch n := len(payload); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = append(b, 126, byte(n>>8), byte(n))
	default:
		b = append(b, 127, 0, 0, 0, 0, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append(b, payload...)
}

// extending puts an extension into the answer to an upgrade, which the library leaves to itself.
type extending struct {
	http.ResponseWriter
	extension string
}

func (e extending) Flush() {}

func (e extending) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := e.ResponseWriter.(http.Hijacker).Hijack()
	return &extendingConn{Conn: conn, extension: e.extension}, rw, err
}

type extendingConn struct {
	net.Conn
	extension string // until it has been said
}

func (c *extendingConn) Write(b []byte) (int, error) {
	if c.extension == "" {
		return c.Conn.Write(b)
	}
	line := "Sec-WebSocket-Extensions: " + c.extension + "\r\n\r\n"
	c.extension = ""
	_, err := c.Conn.Write(append(bytes.TrimSuffix(b, []byte("\r\n")), line...))
	return len(b), err
}

// receive reads the next message of the client, unwrapped.
func (p *peer) receive(transport Transport) (string, error) {
	_, b, err := p.ReadMessage()
	if err != nil || transport == WebSocket {
		return string(b), err
	}
	var messages []string
	if err := json.Unmarshal(b, &messages); err != nil || len(messages) != 1 {
		return string(b), nil // as it is, to be found wrong
	}
	return messages[0], nil
}

// send sends one message, wrapped.
func (p *peer) send(transport Transport, message string) error {
	return p.write(wrapped(transport, message))
}

// wrapped frames a server's message for the transport.
func wrapped(transport Transport, message string) string {
	if transport == WebSocket {
		return message
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// A list of texts can be encoded.
	_ = e.Encode([]string{message})
	return "a" + strings.TrimSpace(b.String())
}

// greet does the server's part of a connection's beginning.
func (p *peer) greet(transport Transport) error {
	if transport == SockJS {
		if err := p.write("o"); err != nil {
			return err
		}
	}
	if _, err := p.receive(transport); err != nil {
		return err
	}
	return p.send(transport, `{"msg":"connected","session":"S1"}`)
}

// A network is where a test's server and client meet: this machine's, or a pipe in memory.
type network struct {
	address string
	dial    func(ctx context.Context, network, address string) (net.Conn, error) // nil for the machine's
}

// serve runs a server until the test ends.
func serve(t testing.TB, l net.Listener, handler http.Handler) {
	t.Helper()
	server := &http.Server{Handler: handler}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) }) // the error is that it was closed
	t.Cleanup(func() {
		server.Close()
		serving.Wait()
	})
}

// overTCP runs a server on a port of this machine.
func overTCP(t testing.TB, handler http.Handler) network {
	t.Helper()
	l := listen(t, "127.0.0.1:0")
	serve(t, l, handler)
	return network{address: "http://" + l.Addr().String()}
}

func listen(t testing.TB, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// overPipe runs a server that is reached in memory, so that all of it can stand in a bubble whose time is not ours.
func overPipe(t testing.TB, handler http.Handler) network {
	t.Helper()
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	serve(t, l, handler)
	return network{"http://app.test", l.dial}
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A told is a Handler that hands on what it is told.
type told struct {
	message func(*Message) error // nil: nothing
	wake    func(time.Time) error
}

func (h told) Message(m *Message) error {
	if h.message == nil {
		return nil
	}
	return h.message(m)
}

func (h told) Wake(now time.Time) error {
	if h.wake == nil {
		return nil
	}
	return h.wake(now)
}

// A way is how a connection is made: by which transport, and compressed how.
type way struct {
	transport   Transport
	compression Compression
}

// ways are all of them.
func ways() []way {
	var all []way
	for _, transport := range []Transport{SockJS, WebSocket} {
		for _, compression := range []Compression{Browser, NoTakeover, Off} {
			all = append(all, way{transport, compression})
		}
	}
	return all
}

func (w way) String() string { return string(w.transport) + "/" + string(w.compression) }

// extension is what a server answers.
func (w way) extension() string {
	return map[Compression]string{Browser: takeover, NoTakeover: noTakeover}[w.compression]
}

// A heard is all that came of a connection.
type heard struct {
	*Conn
	messages []string
	err      error // of Run
}

// converse opens a connection to a server that does its part after the greeting, and runs it to its end.
func converse(t *testing.T, w way, o Options, server func(ws *peer) error) heard {
	t.Helper()
	over := make(chan struct{})
	n := overTCP(t, upgraded(t, w, func(ws *peer) {
		defer close(over)
		if err := server(ws); err != nil {
			t.Errorf("server: %v", err)
		}
	}))
	o.Transport, o.Compression = w.transport, w.compression
	c, err := Dial(t.Context(), n.address, o)
	if err != nil {
		t.Fatal(err)
	}
	h := heard{Conn: c}
	h.err = c.Run(t.Context(), told{message: func(m *Message) error {
		h.messages = append(h.messages, string(m.Raw))
		return nil
	}})
	<-over
	return h
}

// bye closes the connection as a server does, and reads until the client has gone too.
func (p *peer) bye() error {
	err := p.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, "bye"), time.Now().Add(patience))
	p.drain()
	return err
}

// drain reads until the client is gone.
func (p *peer) drain() {
	for {
		if _, _, err := p.ReadMessage(); err != nil {
			return
		}
	}
}

// endedWith tells whether an error has this cause.
func endedWith(err error, cause Cause) bool {
	var conn *ConnError
	return errors.As(err, &conn) && conn.Cause == cause
}

// upgraded serves connections from behind their greeting.
func upgraded(t testing.TB, w way, server func(ws *peer)) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ws, err := upgrade(rw, r, w.extension())
		if err != nil {
			t.Errorf("upgrade: %v", err)
			return
		}
		defer ws.Close()
		if err := ws.greet(w.transport); err != nil {
			t.Errorf("greet: %v", err)
			return
		}
		server(ws)
	})
}
