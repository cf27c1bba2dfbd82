package ddp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

// A beating is how a test's server deals with one open connection in a bubble's time.
type beating struct {
	t         *testing.T
	transport Transport
	ws        *peer
	start     time.Time
	pinged    []time.Duration // when the client sent pings
	ponged    int
}

// listen notes the client's pings and answers them, until the connection ends.
func (b *beating) listen(answer func() error) {
	for {
		message, err := b.ws.receive(b.transport)
		switch {
		case err != nil:
			return
		case message == `{"msg":"ping"}`:
			b.pinged = append(b.pinged, time.Since(b.start))
			if err := answer(); err != nil {
				b.t.Errorf("answer a ping: %v", err)
			}
		case message == `{"msg":"pong"}`:
			b.ponged++
		default:
			b.t.Errorf("got %s", message)
		}
	}
}

// beats runs a connection in a bubble for as long as the server keeps it, at most for the given time.
func beats(t *testing.T, version string, limit time.Duration, server func(b *beating)) (err error) {
	t.Helper()
	for _, transport := range []Transport{SockJS, WebSocket} {
		t.Run(string(transport), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var serving sync.WaitGroup
				serving.Add(1)
				n := overPipe(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					defer serving.Done()
					ws, err := upgrade(w, r, takeover)
					if err != nil {
						t.Error(err)
						return
					}
					defer ws.Close()
					if err := ws.greet(transport); err != nil {
						t.Error(err)
					}
					server(&beating{t: t, transport: transport, ws: ws, start: time.Now()})
				}))
				c, _, failed := dialVersion(t.Context(), n.address, version, Options{Transport: transport, dial: n.dial}.withDefaults())
				if failed != nil {
					t.Fatal(failed)
				}
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				err = c.Run(ctx, told{})
				serving.Wait()
			})
		})
	}
	return err
}

// As Meteor's client: a ping after 17.5 s of silence, and the end 15 s later.
func TestHeartbeatLost(t *testing.T) {
	err := beats(t, "1", time.Hour, func(b *beating) {
		b.listen(func() error { return nil })
		if want := []time.Duration{17500 * time.Millisecond}; !slices.Equal(b.pinged, want) {
			b.t.Errorf("got pings at %v, want %v", b.pinged, want)
		}
		if lasted := time.Since(b.start); lasted != 32500*time.Millisecond {
			b.t.Errorf("the client gave up after %v, want 32.5s", lasted)
		}
	})
	var conn *ConnError
	if !errors.As(err, &conn) || conn.Cause != HeartbeatLost {
		t.Errorf("got %v, want %s", err, HeartbeatLost)
	}
}

// Any message counts as life, not only the answer to a ping. A look that has heard something sends no ping.
func TestHeartbeatKept(t *testing.T) {
	every := 2 * 17500 * time.Millisecond
	for name, answer := range map[string]string{
		"pong":  `{"msg":"pong"}`,
		"added": `{"msg":"added","collection":"c","id":"1","fields":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			err := beats(t, "1", 5*time.Minute, func(b *beating) {
				b.listen(func() error { return b.ws.send(b.transport, answer) })
				var want []time.Duration // 17.5 s; not 35 s, as the answer came since; 52.5 s and so on
				for at := 17500 * time.Millisecond; at < 5*time.Minute; at += every {
					want = append(want, at)
				}
				if !slices.Equal(b.pinged, want) {
					b.t.Errorf("got pings at %v, want %v", b.pinged, want)
				}
			})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want the connection to last", err)
			}
		})
	}
}

// An answer at the last moment keeps the connection, one a moment later does not.
func TestHeartbeatAtTheLastMoment(t *testing.T) {
	for late, want := range map[time.Duration]Cause{14999 * time.Millisecond: "", 15001 * time.Millisecond: HeartbeatLost} {
		t.Run(late.String(), func(t *testing.T) {
			err := beats(t, "1", 34*time.Second, func(b *beating) {
				b.listen(func() error {
					time.AfterFunc(late, func() { _ = b.ws.send(b.transport, `{"msg":"pong"}`) }) // the client may be gone
					return nil
				})
			})
			var conn *ConnError
			if errors.As(err, &conn) != (want != "") || conn != nil && conn.Cause != want {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

// Version pre1 knows no pings: Meteor takes one for a malformed message.
func TestHeartbeatPre1(t *testing.T) {
	err := beats(t, "pre1", 5*time.Minute, func(b *beating) {
		b.listen(func() error { return nil })
		if len(b.pinged) > 0 {
			b.t.Errorf("got pings at %v, want none", b.pinged)
		}
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the connection to last", err)
	}
}

// The server's pings are answered at once: in the middle of a publication's thousands of messages, and between the fragments
// of one large message.
func TestPingAnsweredWhileReading(t *testing.T) {
	for _, transport := range []Transport{SockJS, WebSocket} {
		for _, compression := range []Compression{Browser, NoTakeover, Off} {
			t.Run(string(transport)+"/"+string(compression), func(t *testing.T) {
				var serving sync.WaitGroup
				serving.Add(1)
				n := overTCP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					defer serving.Done()
					ws, err := upgrade(w, r, map[Compression]string{Browser: takeover, NoTakeover: noTakeover}[compression])
					if err != nil {
						t.Error(err)
						return
					}
					defer ws.Close()
					if err := pingWhileWriting(ws, transport); err != nil {
						t.Error(err)
					}
				}))
				c, err := Dial(t.Context(), n.address, Options{Transport: transport, Compression: compression})
				if err != nil {
					t.Fatal(err)
				}
				got := 0
				err = c.Run(t.Context(), told{message: func(*Message) error { got++; return nil }})
				var conn *ConnError
				if !errors.As(err, &conn) || conn.Cause != Closed || got != 4001 || c.Odd != 0 {
					t.Errorf("got %d messages, %d odd, %v", got, c.Odd, err)
				}
				serving.Wait()
			})
		}
	}
}

// pingWhileWriting publishes, and goes on only when its pings have been answered.
func pingWhileWriting(ws *peer, transport Transport) error {
	if err := ws.greet(transport); err != nil {
		return err
	}
	for i := range 4000 {
		if i == 2000 {
			if err := ws.send(transport, `{"msg":"ping","id":"mid"}`); err != nil {
				return err
			}
			if pong, err := ws.receive(transport); err != nil || pong != `{"msg":"pong","id":"mid"}` {
				return errors.Join(errors.New("got no pong but "+pong), err)
			}
		}
		if err := ws.send(transport, `{"msg":"added","collection":"c","id":"1","fields":{"a":"some text"}}`); err != nil {
			return err
		}
	}
	if err := pingBetweenFragments(ws, transport); err != nil {
		return err
	}
	return ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""))
}

var errEnough = errors.New("enough")

func pingBetweenFragments(ws *peer, transport Transport) error {
	large := `{"msg":"result","id":"1","result":"` + string(slices.Repeat([]byte("abcdefgh"), 5<<17)) + `"}`
	payload, first := []byte(wrapped(transport, large)), byte(1)
	if ws.deflate != nil {
		payload, first = ws.deflated(string(payload)), 0x41
	}
	half := len(payload) / 2
	if err := ws.raw(frame(first, payload[:half])); err != nil {
		return err
	}
	if err := ws.WriteControl(websocket.PingMessage, []byte("are you there"), time.Now().Add(patience)); err != nil {
		return err
	}
	var answer string
	ws.SetPongHandler(func(text string) error {
		answer = text
		return errEnough
	})
	if _, err := ws.receive(transport); !errors.Is(err, errEnough) || answer != "are you there" {
		return errors.Join(errors.New("got no pong frame but "+answer), err)
	}
	return ws.raw(frame(0x80, payload[half:]))
}
