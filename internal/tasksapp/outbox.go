package tasksapp

import (
	"net"
	"sync"
	"time"
)

const (
	// defaultBacklog is how many bytes a client may fall behind before it is cut off. A new subscriber is that far behind by
	// all tasks there are.
	defaultBacklog = 64 << 20
	// writeTimeout is how long a client may take nothing at all.
	writeTimeout = 30 * time.Second
	// closeTimeout is how long a client has for its half of the closing handshake.
	closeTimeout = time.Second
	// keepBuffer is the largest buffer, in bytes, that is kept for the next write.
	keepBuffer = 64 << 10
)

// An outbox holds what a connection has still to send. To send never blocks: run writes, everything that is pending at
// once, so a client that keeps up gets a write a message and one that lags gets fewer, larger ones. A client that falls
// behind too far is cut off, so that it costs the others nothing.
type outbox struct {
	socket  net.Conn
	wire    wire
	backlog int           // bytes that may be pending
	wake    chan struct{} // holds one token while there is something to do

	mu       sync.Mutex
	pending  []byte
	finished bool // pending is the last that will be written
}

func newOutbox(socket net.Conn, w wire, backlog int) *outbox {
	return &outbox{socket: socket, wire: w, backlog: backlog, wake: make(chan struct{}, 1)}
}

func (o *outbox) send(m *message) { o.write(m.frame(o.wire)) }

// write adds whole frames.
func (o *outbox) write(frames ...[]byte) {
	o.mu.Lock()
	o.add(frames)
	o.mu.Unlock()
	o.poke()
}

// finish adds the last frames; after it nothing more can be sent. What is pending has to be taken, and the client's half of
// the closing handshake to come, within closeTimeout.
func (o *outbox) finish(frames ...[]byte) {
	o.mu.Lock()
	if !o.finished {
		o.add(frames)
		o.finished = true
		o.socket.SetDeadline(time.Now().Add(closeTimeout))
	}
	o.mu.Unlock()
	o.poke()
}

func (o *outbox) add(frames [][]byte) {
	for _, f := range frames {
		if o.finished {
			return
		}
		if len(o.pending)+len(f) > o.backlog {
			o.finished = true
			o.socket.Close()
			return
		}
		o.pending = append(o.pending, f...)
	}
}

// ended tells whether nothing more can be sent.
func (o *outbox) ended() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.finished
}

func (o *outbox) poke() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run writes until the outbox is finished or the socket fails.
func (o *outbox) run() {
	var spare []byte
	for range o.wake {
		o.mu.Lock()
		batch, last := o.pending, o.finished
		o.pending = spare[:0]
		if !last {
			o.socket.SetWriteDeadline(time.Now().Add(writeTimeout))
		}
		o.mu.Unlock()
		if len(batch) > 0 {
			if _, err := o.socket.Write(batch); err != nil {
				o.finish()
				o.socket.Close()
				return
			}
		}
		if last {
			return
		}
		if spare = batch; cap(spare) > keepBuffer {
			spare = nil
		}
	}
}
