package ddp

import (
	"errors"
	"net"
	"os"
	"time"
)

// A wakeConn calls a function at a set time from within Read, so that one goroutine can wait for the peer and for the clock
// at once. It stays under the WebSocket library, which cannot go on after a read that timed out.
//
// Before wake is set it is a plain connection with plain deadlines.
type wakeConn struct {
	net.Conn
	wake   func(now time.Time) error // an error ends the read
	at     time.Time                 // of the next wake; zero for never
	set    time.Time                 // the deadline that the connection has
	readAt time.Time                 // when bytes last came
}

// wakeAt sets the time of the next wake. Only the reading goroutine may call it.
func (w *wakeConn) wakeAt(t time.Time) { w.at = t }

// Read reads what has come. It may return 0 bytes never, as a net.Conn does.
func (w *wakeConn) Read(p []byte) (int, error) {
	for {
		if err := w.arm(); err != nil {
			return 0, err
		}
		n, err := w.Conn.Read(p)
		if n > 0 {
			w.readAt = time.Now()
			return n, nil
		}
		if w.wake == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if err := w.wake(time.Now()); err != nil {
			return 0, err
		}
	}
}

// arm gives the connection its deadline. Setting one costs a timer, so one that is only later than needed waits until it
// strikes: wakes early are harmless.
func (w *wakeConn) arm() error {
	if w.wake == nil || w.at.Equal(w.set) {
		return nil
	}
	w.set = w.at
	return w.Conn.SetReadDeadline(w.at)
}
