package ddp

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// A wakeConn calls a function at a set time from within Read, so that one goroutine can wait for the peer and for the clock
// at once. It stays under the WebSocket library, which cannot go on after a read that timed out.
//
// It reads into a large buffer that it holds only while there is something in it: what has come in one piece costs one
// system call, and a connection on which nothing comes costs no buffer.
//
// Before wake is set it is a plain connection with plain deadlines.
type wakeConn struct {
	net.Conn
	wake   func(now time.Time) error // an error ends the read
	at     time.Time                 // of the next wake; zero for never
	set    time.Time                 // the deadline that the connection has
	readAt time.Time                 // when bytes last came

	raw     syscall.RawConn
	whenIn  func(fd uintptr) bool // receive, made once
	buf     *[]byte               // nil while pending is empty
	pending []byte
	err     error // of the last system call
}

// large is a power of two over what a busy socket gathers between two looks.
const large = 32 << 10

var largeBuffers = sync.Pool{New: func() any { b := make([]byte, large); return &b }}

func newWakeConn(conn net.Conn) *wakeConn {
	w := &wakeConn{Conn: conn}
	if s, ok := conn.(syscall.Conn); ok && rawReads {
		if raw, err := s.SyscallConn(); err == nil {
			w.raw, w.whenIn = raw, w.receive
		}
	}
	return w
}

// wakeAt sets the time of the next wake. Only the reading goroutine may call it.
func (w *wakeConn) wakeAt(t time.Time) { w.at = t }

// Read implements io.Reader.
func (w *wakeConn) Read(p []byte) (int, error) {
	for len(w.pending) == 0 {
		if err := w.arm(); err != nil {
			return 0, err
		}
		n, err := w.fill(p)
		if n > 0 {
			w.readAt = time.Now()
			if w.raw == nil {
				return n, nil
			}
			break
		}
		if w.wake == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, err
		}
		if err := w.wake(time.Now()); err != nil {
			return 0, err
		}
	}
	n := copy(p, w.pending)
	if w.pending = w.pending[n:]; len(w.pending) == 0 {
		largeBuffers.Put(w.buf)
		w.buf, w.pending = nil, nil
	}
	return n, nil
}

// fill reads what has come into the large buffer, or into p where the system has no such reads.
func (w *wakeConn) fill(p []byte) (int, error) {
	if w.raw == nil {
		return w.Conn.Read(p)
	}
	if err := w.raw.Read(w.whenIn); err != nil {
		return 0, err
	}
	if w.err == nil && len(w.pending) == 0 {
		return 0, io.EOF
	}
	return len(w.pending), w.err
}

// arm gives the connection its deadline, if that is another than it has.
func (w *wakeConn) arm() error {
	if w.wake == nil || w.at.Equal(w.set) {
		return nil
	}
	w.set = w.at
	return w.Conn.SetReadDeadline(w.at)
}
