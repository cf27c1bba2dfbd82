package ddp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/gorilla/websocket"
)

// A socket carries text frames. It is used by one goroutine.
type socket interface {
	// next appends the payload of the next text frame to buf. Control frames are answered on the way.
	next(buf []byte) ([]byte, error)
	// text sends a frame. payload is the socket's to change.
	text(payload []byte) error
	// goodbye sends a close frame and leaves the connection open for the peer's.
	goodbye(code int)
	// extensions returns what the server agreed to, as it said it.
	extensions() string
}

// frames pools the buffers that messages are read into, so that an idle session holds none.
var frames = sync.Pool{New: func() any { return new([]byte) }}

// maxPooled is the largest buffer that goes back into the pool.
const maxPooled = 1 << 20

// gorillaSocket speaks WebSocket by gorilla/websocket, uncompressed or with each message compressed on its own.
type gorillaSocket struct {
	ws      *websocket.Conn
	limit   int64
	timeout time.Duration
	agreed  string
}

// writeBuffers is shared by all sockets: a session seldom writes.
var writeBuffers sync.Pool

// readBufferSize is small: a wakeConn reads ahead.
const readBufferSize = 512

func dialGorilla(ctx context.Context, url string, o Options, conn net.Conn) (socket, error) {
	had := func(context.Context, string, string) (net.Conn, error) { return conn, nil }
	d := websocket.Dialer{
		NetDialContext: had, NetDialTLSContext: had,
		HandshakeTimeout:  o.HandshakeTimeout,
		ReadBufferSize:    readBufferSize,
		WriteBufferPool:   &writeBuffers,
		EnableCompression: o.Compression == NoTakeover,
	}
	ws, resp, err := d.DialContext(ctx, url, o.Header)
	if err != nil {
		return nil, upgradeError(resp, err)
	}
	ws.SetReadLimit(o.ReadLimit)
	ws.EnableWriteCompression(false)
	return &gorillaSocket{ws, o.ReadLimit, o.WriteTimeout, resp.Header.Get("Sec-Websocket-Extensions")}, nil
}

func upgradeError(resp *http.Response, err error) error {
	if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
		return &ConnError{Cause: UpgradeRefused, Status: resp.StatusCode, Err: err}
	}
	return &ConnError{Cause: ioCause(err, HandshakeStalled), Err: err}
}

// ioCause names an error of a read: the network's if it is that, else the peer's who does not speak WebSocket as agreed.
func ioCause(err error, timeout Cause) Cause {
	var network net.Error
	switch {
	case errors.As(err, &network) && network.Timeout():
		return timeout
	case errors.As(err, &network), errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrClosedPipe), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF):
		return Lost
	}
	return BrokenFraming
}

func (s *gorillaSocket) next(buf []byte) ([]byte, error) {
	_, r, err := s.ws.NextReader()
	if err != nil {
		return buf, s.failure(err)
	}
	buf, err = readAll(r, buf, s.limit)
	if err != nil {
		return buf, s.failure(err)
	}
	return buf, nil
}

// readAll appends all of r to buf, up to limit bytes.
func readAll(r io.Reader, buf []byte, limit int64) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > limit {
			return buf, &ConnError{Cause: TooLarge, Err: errTooLarge(limit)}
		}
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}

func (s *gorillaSocket) failure(err error) error {
	var known *ConnError
	var closed *websocket.CloseError
	switch {
	case errors.As(err, &known):
		return err
	case err == io.ErrUnexpectedEOF: // the library's word for an end in the middle is a CloseError
		return &ConnError{Cause: BrokenFraming, Err: fmt.Errorf("inflate: %w", err)}
	case errors.Is(err, websocket.ErrReadLimit):
		return &ConnError{Cause: TooLarge, Err: errTooLarge(s.limit)}
	case errors.As(err, &closed) && closed.Code == websocket.CloseAbnormalClosure:
		return &ConnError{Cause: Lost, Err: err}
	case errors.As(err, &closed):
		return &ConnError{Cause: Closed, Code: closed.Code, Reason: closed.Text, Err: err}
	}
	return &ConnError{Cause: ioCause(err, Lost), Err: err}
}

func (s *gorillaSocket) text(payload []byte) error {
	if err := s.ws.SetWriteDeadline(time.Now().Add(s.timeout)); err != nil {
		return wrap(Lost, err)
	}
	return sendError(s.ws.WriteMessage(websocket.TextMessage, payload))
}

func (s *gorillaSocket) goodbye(code int) {
	// A peer that does not read is left without one.
	_ = s.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(s.timeout))
}

func (s *gorillaSocket) extensions() string { return s.agreed }

func sendError(err error) error {
	if err == nil {
		return nil
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return wrap(SendStalled, err)
	}
	return wrap(Lost, err)
}

func dialCause(err error) Cause {
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.EADDRNOTAVAIL):
		return Exhausted
	case errors.As(err, &timeout) && timeout.Timeout():
		return HandshakeStalled
	}
	return Refused
}

// dialNet opens the TCP connection, and TLS on it for a secure address.
func dialNet(ctx context.Context, secure bool, address, host string, o Options) (net.Conn, *wakeConn, error) {
	dial := o.dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	tcp, err := dial(ctx, "tcp", address)
	if err != nil {
		return nil, nil, wrap(dialCause(err), err)
	}
	wake := newWakeConn(tcp)
	if !secure {
		return wake, wake, nil
	}
	conn := tls.Client(wake, clientTLS(o.TLS, host))
	if err := conn.HandshakeContext(ctx); err != nil {
		tcp.Close()
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, nil, wrap(HandshakeStalled, err)
		}
		return nil, nil, wrap(NotTrusted, err)
	}
	return conn, wake, nil
}
