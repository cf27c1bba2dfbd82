package ddp

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

func added(id int) string {
	return fmt.Sprintf(`{"msg":"added","collection":"c","id":"%d","fields":{"text":"some that repeats, some that repeats"}}`, id)
}

// A server may compress a message or not as it likes, cut it into fragments where it likes, and put control frames between
// them.
func TestFrames(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.String(), func(t *testing.T) {
			var want []string
			size := int64(len(wrapped(w.transport, `{"msg":"connected","session":"S1"}`)) + len(map[Transport]string{SockJS: "o"}[w.transport]))
			h := converse(t, w, Options{}, func(ws *peer) error {
				for i := range 200 {
					want = append(want, added(i))
					size += int64(len(wrapped(w.transport, added(i))))
					if err := sendSomehow(ws, []byte(wrapped(w.transport, added(i))), i); err != nil {
						return err
					}
				}
				return ws.bye()
			})
			if !endedWith(h.err, Closed) || h.Odd != 0 {
				t.Errorf("got %v, %d odd", h.err, h.Odd)
			}
			if !slices.Equal(h.messages, want) {
				t.Errorf("got %d messages, want %d, or not the same", len(h.messages), len(want))
			}
			if h.Bytes != size {
				t.Errorf("got %d bytes, want %d", h.Bytes, size)
			}
		})
	}
}

// sendSomehow sends a text in the nth of some ways.
func sendSomehow(ws *peer, text []byte, n int) error {
	const compressed = 0x40
	first := byte(1)
	if n%2 == 0 && ws.deflate != nil {
		first, text = first|compressed, ws.deflated(string(text))
	}
	pieces := [][]byte{text}
	if n%3 == 0 {
		pieces = slices.Collect(slices.Chunk(text, 1+n/4))
	}
	if n%5 == 0 {
		pieces = append(pieces, nil) // an empty last fragment
	}
	for i, piece := range pieces {
		b := first
		if i > 0 {
			b = 0
		}
		if i == len(pieces)-1 {
			b |= 0x80
		}
		if err := ws.raw(frame(b, piece)); err != nil {
			return err
		}
		if n%7 == 0 {
			if err := ws.WriteControl(websocket.PongMessage, []byte("unasked"), time.Now().Add(patience)); err != nil {
				return err
			}
		}
	}
	return nil
}

// What is no DDP message is counted and survived.
func TestOdd(t *testing.T) {
	raw := map[string]int64{
		"": 1, " ": 1, "null": 1, "7": 1, `"text"`: 1, "[1,2]": 1, "{": 1, `{"msg"`: 1, `{"msg":"added"} x`: 1, "not json": 1, "\xff\xfe": 1,
		`{}`: 1, `{"msg":"bogus"}`: 1, `{"msg":7}`: 1, `{"server_id":"0"}`: 1,
	}
	sockjs := map[string]int64{
		"": 1, "x": 1, "[]": 1, "a": 1, "a[": 1, "a{}": 1, "a[7]": 1, `a["unfinished`: 1, `a["\q"]`: 1, `a["\ud83"]`: 1, "a[\"\n\"]": 1,
		`a["7","{}"]`: 2, `a["{\"msg\":\"bogus\"}"]`: 1, `m"[]"`: 1,
		"h": 0, "a[]": 0, "o": 0,
	}
	for _, w := range ways() {
		frames := map[Transport]map[string]int64{WebSocket: raw, SockJS: sockjs}[w.transport]
		for text, want := range frames {
			h := converse(t, w, Options{}, func(ws *peer) error {
				for _, s := range []string{text, wrapped(w.transport, added(1))} {
					if err := ws.write(s); err != nil {
						return err
					}
				}
				return ws.bye()
			})
			if !endedWith(h.err, Closed) || h.Odd != want {
				t.Errorf("%v, %q: got %d odd, %v, want %d", w, text, h.Odd, h.err, want)
			}
			if n := len(h.messages); n == 0 || h.messages[n-1] != added(1) {
				t.Errorf("%v, %q: got %q, want the message after it too", w, text, h.messages)
			}
		}
	}
}

// A SockJS frame may hold several messages, and one without brackets.
func TestSockJSMessages(t *testing.T) {
	h := converse(t, way{SockJS, Browser}, Options{}, func(ws *peer) error {
		three := fmt.Sprintf(` [ %q , %q,%q ] `, added(1), added(2), added(3))
		for _, s := range []string{"a" + three, fmt.Sprintf("m%q", added(4))} {
			if err := ws.write(s); err != nil {
				return err
			}
		}
		return ws.bye()
	})
	if want := []string{added(1), added(2), added(3), added(4)}; !slices.Equal(h.messages, want) || h.Odd != 0 {
		t.Errorf("got %q, %d odd, want %q", h.messages, h.Odd, want)
	}
}

// A result of 5 MB passes with the default limit.
func TestLargeResult(t *testing.T) {
	task := `{"_id":"NR6nGWwDCufNCyjT7","sessionId":"sessA","description":"New Task \"1\"","createdAt":{"$date":1796055775578}}`
	tasks := strings.TrimSuffix(strings.Repeat(task+",", 5<<20/len(task)+1), ",")
	result := `{"msg":"result","id":"1","result":[` + tasks + `]}`
	for _, w := range ways() {
		h := converse(t, w, Options{}, func(ws *peer) error {
			if err := ws.send(w.transport, result); err != nil {
				return err
			}
			return ws.bye()
		})
		if len(result) < 5<<20 || len(h.messages) != 1 || h.messages[0] != result {
			t.Errorf("%v: got %d messages, %v", w, len(h.messages), h.err)
		}
	}
}

// What a handler returns is what Run returns, whether it was told of a message or woken.
func TestHandlerEndsRun(t *testing.T) {
	for _, w := range ways() {
		c, serving := quiet(t, w)
		c.WakeAt(time.Now())
		if err := c.Run(t.Context(), told{wake: func(time.Time) error { return errEnough }}); err != errEnough {
			t.Errorf("%v: woken: got %v, want %v", w, err, errEnough)
		}
		<-serving
		c, serving = quiet(t, w)
		if _, err := c.Call("m", nil); err != nil {
			t.Fatal(err)
		}
		if err := c.Run(t.Context(), told{message: func(*Message) error { return errEnough }}); err != errEnough {
			t.Errorf("%v: told: got %v, want %v", w, err, errEnough)
		}
		<-serving
	}
}

// quiet is a connection to a server that answers each message with one added, and else is quiet.
func quiet(t *testing.T, w way) (c *Conn, serving <-chan struct{}) {
	t.Helper()
	over := make(chan struct{})
	n := overTCP(t, upgraded(t, w, func(ws *peer) {
		defer close(over)
		for {
			if _, err := ws.receive(w.transport); err != nil {
				return
			}
			if err := ws.send(w.transport, added(1)); err != nil {
				return
			}
		}
	}))
	c, err := Dial(t.Context(), n.address, Options{Transport: w.transport, Compression: w.compression})
	if err != nil {
		t.Fatal(err)
	}
	return c, over
}

// Each text that a client can send arrives as it was.
func TestSend(t *testing.T) {
	text := []byte("\x00\x1f \"\\/\n\t\r\b\f é 日本 \U0001f600 </script> \u2028")
	for _, w := range ways() {
		var got []string
		over := make(chan struct{})
		n := overTCP(t, upgraded(t, w, func(ws *peer) {
			defer close(over)
			for {
				message, err := ws.receive(w.transport)
				if err != nil {
					return
				}
				got = append(got, message)
			}
		}))
		c, err := Dial(t.Context(), n.address, Options{Transport: w.transport, Compression: w.compression})
		if err != nil {
			t.Fatal(err)
		}
		params := AppendString([]byte("["), text)
		params = append(params, ']')
		large := append(append([]byte(`["`), bytes.Repeat([]byte("x"), 1<<17)...), `"]`...)
		for _, send := range []func() error{
			func() error { _, err := c.Call(string(text), params); return err },
			func() error { _, err := c.Subscribe(string(text), large); return err },
			func() error { return c.Unsubscribe("2") },
		} {
			if err := send(); err != nil {
				t.Fatal(err)
			}
		}
		c.Close()
		if err := c.Run(t.Context(), told{}); err != nil {
			t.Errorf("%v: got %v, want nil after Close", w, err)
		}
		<-over
		quoted := string(AppendString(nil, text))
		want := []string{
			`{"msg":"method","method":` + quoted + `,"params":` + string(params) + `,"id":"1"}`,
			`{"msg":"sub","id":"2","name":` + quoted + `,"params":` + string(large) + `}`,
			`{"msg":"unsub","id":"2"}`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: got %.300q\nwant %.300q", w, got, want)
		}
	}
}
