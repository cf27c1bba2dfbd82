package ddp

import (
	"context"
	"fmt"
	"time"
)

// lingering is how long a closed connection waits for the peer's close.
const lingering = time.Second

// Run reads until the connection ends, and tells the handler. It returns nil after Close, ctx's error when that ended it, the
// handler's error, or a *ConnError that says why the connection ended. It may be called once; afterwards the connection is
// closed.
func (c *Conn) Run(ctx context.Context, h Handler) error {
	c.handler = h
	if c.version != "pre1" { // which knows no pings
		c.beatAt, c.heard = time.Now().Add(c.options.HeartbeatInterval), false
	}
	c.wake.wake = c.onWake
	c.schedule()
	stop := context.AfterFunc(ctx, func() { c.net.Close() })
	defer c.net.Close()
	defer stop()
	for {
		err := c.frame(c.dispatch, nil)
		switch {
		case err == nil:
			continue
		case c.closing:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case c.woken != nil:
			return c.woken // and not what the WebSocket library made of it
		}
		return err
	}
}

// WakeAt sets when the handler is next woken, in place of the time set before; the zero time is never.
func (c *Conn) WakeAt(t time.Time) {
	c.wakeAt = t
	c.schedule()
}

// Close says goodbye. Run drops what still comes and returns when the server has said goodbye too, or after a second.
func (c *Conn) Close() {
	if c.closing {
		return
	}
	c.closing = true
	c.sock.goodbye(1000)
	c.closeWait = time.Now().Add(lingering)
	c.schedule()
}

// schedule sets the connection's next wake: the handler's, or the next look at the heartbeat.
func (c *Conn) schedule() {
	var at time.Time
	for _, t := range [...]time.Time{c.wakeAt, c.beatAt, c.lostAt} {
		if at.IsZero() || !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	if c.closing {
		at = c.closeWait
	}
	c.wake.wakeAt(at)
}

func (c *Conn) onWake(now time.Time) error {
	c.woken = c.wakeUp(now)
	return c.woken
}

func (c *Conn) wakeUp(now time.Time) error {
	if c.closing {
		if now.Before(c.closeWait) {
			return nil
		}
		return errOver
	}
	if reached(c.wakeAt, now) {
		c.wakeAt = time.Time{}
		if err := c.handler.Wake(now); err != nil {
			return err
		}
	}
	err := c.beat(now)
	c.schedule()
	return err
}

func reached(t, now time.Time) bool { return !t.IsZero() && !now.Before(t) }

// beat is Meteor's heartbeat: each interval it looks whether anything has come since the look before, and pings if nothing
// has. Any message counts as life, an answer to the ping or not.
func (c *Conn) beat(now time.Time) error {
	if c.closing {
		return nil
	}
	if reached(c.lostAt, now) {
		if !c.heard {
			return &ConnError{Cause: HeartbeatLost, Err: fmt.Errorf("nothing came within %v after a ping", c.options.HeartbeatTimeout)}
		}
		c.lostAt = time.Time{}
	}
	if !reached(c.beatAt, now) {
		return nil
	}
	c.beatAt = now.Add(c.options.HeartbeatInterval)
	if c.heard {
		c.heard, c.lostAt = false, time.Time{}
		return nil
	}
	if !c.lostAt.IsZero() {
		return nil // a ping is on its way
	}
	c.lostAt = now.Add(c.options.HeartbeatTimeout)
	return c.send([]byte(`{"msg":"ping"}`))
}

// frame reads one frame and gives its messages to f; opened is called when a SockJS session opens.
func (c *Conn) frame(f func(*Message) error, opened func() error) error {
	p := frames.Get().(*[]byte)
	buf, err := c.sock.next((*p)[:0])
	if err == nil {
		c.heard = true
		c.Bytes += int64(len(buf))
		err = c.messages(buf, f, opened)
	}
	if cap(buf) <= maxPooled {
		*p = buf
	}
	frames.Put(p)
	return err
}

func (c *Conn) messages(buf []byte, f func(*Message) error, opened func() error) error {
	if c.options.Transport == WebSocket {
		return c.message(buf, f)
	}
	kind, body := FrameOf(buf)
	switch kind {
	case OpenFrame:
		if opened != nil {
			return opened()
		}
	case MessageFrame:
		return c.sockJSMessages(body, f)
	case CloseFrame:
		code, reason, err := CloseReason(body)
		if err != nil {
			return &ConnError{Cause: BrokenFraming, Err: err}
		}
		return &ConnError{Cause: Closed, Code: code, Reason: reason}
	case BadFrame:
		c.Odd++
	}
	return nil
}

func (c *Conn) sockJSMessages(body []byte, f func(*Message) error) error {
	p := frames.Get().(*[]byte)
	defer frames.Put(p)
	var failed error
	scratch, err := SockJSMessages(body, *p, func(m []byte) error {
		failed = c.message(m, f)
		return failed
	})
	if cap(scratch) <= maxPooled {
		*p = scratch
	}
	if failed == nil && err != nil {
		c.Odd++
	}
	return failed
}

func (c *Conn) message(b []byte, f func(*Message) error) error {
	m := &c.msg
	if err := m.Parse(b); err != nil {
		c.Odd++
		return nil
	}
	m.At = c.wake.readAt
	if m.Kind == Unknown {
		c.Odd++
	}
	return f(m)
}

func (c *Conn) dispatch(m *Message) error {
	switch {
	case c.closing:
		return nil
	case m.Kind == Ping:
		return c.pong(m.ID)
	case m.Kind == Pong:
		return nil
	}
	return c.handler.Message(m)
}

func (c *Conn) pong(id []byte) error {
	if id == nil {
		return c.send([]byte(`{"msg":"pong"}`))
	}
	c.out = append(c.out[:0], `{"msg":"pong","id":`...)
	c.out = AppendString(c.out, id)
	return c.send(append(c.out, '}'))
}
