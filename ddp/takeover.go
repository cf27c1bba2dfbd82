package ddp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/gobwas/httphead"
	"github.com/gobwas/ws"
)

// A takeoverSocket speaks WebSocket as a browser does: it lets the server keep its compression context from message to
// message, which gorilla/websocket refuses. Framing is gobwas/ws's, inflating klauspost/compress's. What it sends is not
// compressed, which the extension leaves to each side.
type takeoverSocket struct {
	conn    net.Conn
	r       *bufio.Reader
	header  []byte
	limit   int64
	timeout time.Duration
	agreed  string
	inflate *inflater // nil without permessage-deflate
	said    bool      // goodbye
}

func dialTakeover(ctx context.Context, address string, o Options, conn net.Conn) (socket, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	offer := httphead.Option{Name: []byte("permessage-deflate")}
	offer.Parameters.Set([]byte("client_max_window_bits"), nil)
	header := o.Header.Clone()
	header.Del("Host")
	d := ws.Dialer{Extensions: []httphead.Option{offer}, Header: ws.HandshakeHeaderHTTP(header), Host: o.Header.Get("Host")}
	answer := &statusLine{Conn: conn}
	br, hs, err := d.Upgrade(answer, u)
	if err != nil {
		return nil, gobwasError(err, answer.status())
	}
	s := &takeoverSocket{conn: conn, limit: o.ReadLimit, timeout: o.WriteTimeout, header: make([]byte, ws.MaxHeaderSize)}
	s.r = bufio.NewReaderSize(afterUpgrade(br, conn), readBufferSize)
	for _, e := range hs.Extensions {
		if string(e.Name) != "permessage-deflate" {
			return nil, &ConnError{Cause: BrokenFraming, Err: fmt.Errorf("server chose extension %q", e.Name)}
		}
		_, alone := e.Parameters.Get("server_no_context_takeover")
		s.inflate = &inflater{alone: alone}
		s.agreed = extension(e)
	}
	return s, nil
}

// extension writes an extension as a header has it.
func extension(e httphead.Option) string {
	var b bytes.Buffer
	// Writing to a buffer does not fail.
	_, _ = httphead.WriteOptions(&b, []httphead.Option{e})
	return b.String()
}

// afterUpgrade returns what is to be read after the upgrade: frames that came with the answer first.
func afterUpgrade(br *bufio.Reader, conn net.Conn) io.Reader {
	if br == nil {
		return conn
	}
	early, _ := br.Peek(br.Buffered())
	early = bytes.Clone(early)
	ws.PutReader(br)
	return io.MultiReader(bytes.NewReader(early), conn)
}

// A statusLine remembers the beginning of what is read: the library does not tell the status of an answer in HTTP/1.0, which
// some proxies give.
type statusLine struct {
	net.Conn
	begin []byte
}

func (l *statusLine) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	l.begin = append(l.begin, p[:min(n, len("HTTP/1.0 503")-len(l.begin))]...)
	return n, err
}

// status returns the status of the answer, 0 if it has none.
func (l *statusLine) status() int {
	var minor, status int
	if n, _ := fmt.Sscanf(string(l.begin), "HTTP/1.%d %d", &minor, &status); n < 2 {
		return 0
	}
	return status
}

func gobwasError(err error, status int) error {
	if status != 0 && status != http.StatusSwitchingProtocols {
		return &ConnError{Cause: UpgradeRefused, Status: status, Err: err}
	}
	return &ConnError{Cause: ioCause(err, HandshakeStalled), Err: err}
}

func (s *takeoverSocket) extensions() string { return s.agreed }

func (s *takeoverSocket) next(buf []byte) ([]byte, error) {
	start := len(buf)
	compressed, begun := false, false
	for {
		h, err := ws.ReadHeaderBuffer(s.r, s.header)
		if err != nil {
			return buf, wrap(Lost, err)
		}
		if h.OpCode.IsControl() {
			if err := s.control(h); err != nil {
				return buf, err
			}
			continue
		}
		if s.misplaced(h, begun) {
			return buf, &ConnError{Cause: BrokenFraming, Err: fmt.Errorf("frame of opcode %d and flags %03b out of place", h.OpCode, h.Rsv)}
		}
		if !begun {
			begun, compressed = true, h.Rsv1()
		}
		if int64(len(buf)-start)+h.Length > s.limit {
			return buf, &ConnError{Cause: TooLarge, Err: errTooLarge(s.limit)}
		}
		if buf, err = readFull(s.r, buf, int(h.Length)); err != nil {
			return buf, wrap(Lost, err)
		}
		if h.Fin {
			break
		}
	}
	if !compressed {
		return buf, nil
	}
	return s.inflated(buf, start)
}

// misplaced tells whether a data frame may not come here: behind a message's first one if begun.
func (s *takeoverSocket) misplaced(h ws.Header, begun bool) bool {
	compressed := h.Rsv1()
	switch {
	case h.Masked, h.Rsv2(), h.Rsv3(), compressed && (begun || s.inflate == nil):
		return true
	case begun:
		return h.OpCode != ws.OpContinuation
	}
	return h.OpCode != ws.OpText && h.OpCode != ws.OpBinary
}

// readFull appends n bytes, growing as they come: a length is only the peer's word.
func readFull(r io.Reader, buf []byte, n int) ([]byte, error) {
	for n > 0 {
		step := min(n, 1<<20)
		at := len(buf)
		buf = append(buf, make([]byte, step)...)
		if _, err := io.ReadFull(r, buf[at:]); err != nil {
			return buf[:at], err
		}
		n -= step
	}
	return buf, nil
}

// inflated replaces the compressed message behind start by its content.
func (s *takeoverSocket) inflated(buf []byte, start int) ([]byte, error) {
	p := frames.Get().(*[]byte)
	defer frames.Put(p)
	*p = append(append((*p)[:0], buf[start:]...), tail...)
	out, err := s.inflate.message(buf[:start], *p, s.limit)
	if err != nil {
		return out, wrap(BrokenFraming, err)
	}
	return out, nil
}

func (s *takeoverSocket) control(h ws.Header) error {
	var payload [ws.MaxControlFramePayloadSize]byte
	if h.Length > ws.MaxControlFramePayloadSize || !h.Fin || h.Masked || h.Rsv != 0 {
		return &ConnError{Cause: BrokenFraming, Err: errors.New("control frame that is none")}
	}
	body := payload[:h.Length]
	if _, err := io.ReadFull(s.r, body); err != nil {
		return wrap(Lost, err)
	}
	switch h.OpCode {
	case ws.OpPing:
		return s.write(ws.NewPongFrame(body))
	case ws.OpPong:
		return nil
	case ws.OpClose:
		return s.closed(body)
	}
	return &ConnError{Cause: BrokenFraming, Err: fmt.Errorf("control frame of opcode %d", h.OpCode)}
}

// closed answers a close, unless it is itself the answer to ours.
func (s *takeoverSocket) closed(body []byte) error {
	code, reason, answer := ws.StatusNoStatusRcvd, "", []byte(nil)
	if len(body) >= 2 {
		code, reason, answer = ws.StatusCode(uint16(body[0])<<8|uint16(body[1])), string(body[2:]), bytes.Clone(body[:2])
	}
	if !s.said {
		// The connection ends whether or not the answer arrives.
		_ = s.write(ws.NewCloseFrame(answer))
	}
	return &ConnError{Cause: Closed, Code: int(code), Reason: reason}
}

func (s *takeoverSocket) text(payload []byte) error { return s.write(ws.NewTextFrame(payload)) }

func (s *takeoverSocket) goodbye(code int) {
	s.said = true
	// A peer that does not read is left without one.
	_ = s.write(ws.NewCloseFrame(ws.NewCloseFrameBody(ws.StatusCode(code), "")))
}

// write masks the frame in place and sends it in one piece.
func (s *takeoverSocket) write(f ws.Frame) error {
	p := frames.Get().(*[]byte)
	defer frames.Put(p)
	b := bytes.NewBuffer((*p)[:0])
	// Writing to a buffer does not fail.
	_ = ws.WriteFrame(b, ws.MaskFrameInPlace(f))
	*p = b.Bytes()
	if err := s.conn.SetWriteDeadline(time.Now().Add(s.timeout)); err != nil {
		return wrap(Lost, err)
	}
	_, err := s.conn.Write(*p)
	return sendError(err)
}
