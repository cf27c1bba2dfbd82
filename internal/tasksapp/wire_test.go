package tasksapp

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gobwas/ws"
	"pgregory.net/rapid"

	"github.com/ddpgate/ddpgate/ddp"
)

// unframe takes the first frame off b and returns its text as a client would see it.
func unframe(w wire, b []byte) (text, rest []byte, err error) {
	r := bytes.NewReader(b)
	h, err := ws.ReadHeader(r)
	if err != nil || h.Length > int64(r.Len()) {
		return nil, nil, errors.Join(err, io.ErrUnexpectedEOF)
	}
	text = make([]byte, h.Length)
	if _, err = io.ReadFull(r, text); err != nil {
		return nil, nil, err
	}
	if h.Rsv1() {
		text, err = io.ReadAll(flate.NewReader(io.MultiReader(bytes.NewReader(text), bytes.NewReader(tail), strings.NewReader("\x01\x00\x00\xff\xff"))))
	}
	if err == nil && w.sockjs && h.OpCode == ws.OpText {
		var list []string
		if err = json.Unmarshal(bytes.TrimPrefix(text, []byte("a")), &list); err == nil && len(list) == 1 {
			text = []byte(list[0])
		}
	}
	return text, b[len(b)-r.Len():], err
}

func wires() []wire {
	d := newDeflater()
	return []wire{{}, {sockjs: true}, {deflater: d}, {sockjs: true, deflater: d}}
}

func TestFramesCarryTheMessage(t *testing.T) {
	all := wires()
	rapid.Check(t, func(t *rapid.T) {
		// Lengths about where the header grows, and texts that need escapes.
		text := rapid.String().Draw(t, "text")
		if n := rapid.SampledFrom([]int{0, 1, 125, 126, 65535, 65536}).Draw(t, "length"); len(text) > 0 {
			text = strings.Repeat(text, n/len(text)+1)
		}
		m := &message{payload: []byte(text)}
		for i, w := range all {
			frame := m.frame(w)
			got, rest, err := unframe(w, frame)
			if err != nil || string(got) != text || len(rest) != 0 {
				t.Fatalf("wire %d: got %d bytes, %d left, %v, want %d bytes", i, len(got), len(rest), err, len(text))
			}
			if again := m.frame(w); &again[0] != &frame[0] {
				t.Fatalf("wire %d: encoded twice", i)
			}
		}
	})
}

func TestOffersDeflate(t *testing.T) {
	tests := []struct {
		offers []string
		want   bool
	}{
		{nil, false},
		{[]string{""}, false},
		{[]string{"permessage-deflate"}, true},
		{[]string{"permessage-deflate; client_max_window_bits"}, true},
		{[]string{"x-webkit-deflate-frame, permessage-deflate; server_no_context_takeover"}, true},
		{[]string{"x-webkit-deflate-frame", "permessage-deflate"}, true},
		{[]string{"x-permessage-deflate"}, false},
	}
	for _, tt := range tests {
		h := http.Header{"Sec-Websocket-Extensions": tt.offers}
		if got := offersDeflate(h); got != tt.want {
			t.Errorf("%q: got %v, want %v", tt.offers, got, tt.want)
		}
	}
}

// FuzzReceive feeds a session with anything: it answers with whole messages only, and quotes only what is JSON.
func FuzzReceive(f *testing.F) {
	for _, l := range readLines(f, "testdata/meteor-3.0.4.jsonl") {
		if l.Send != nil && !strings.HasPrefix(*l.Send, "[\"") {
			f.Add([]byte(*l.Send))
		}
	}
	f.Add([]byte(`{"msg":"method","method":"insertTask","params":[{"sessionId":{"$date":1},"description":null}],"id":"\u00e9"}`))
	f.Add([]byte(`{"msg":"sub","id":"","name":"fetchTasks","params":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		server := New(Options{})
		client, socket := net.Pipe()
		defer client.Close()
		defer socket.Close()
		c := &conn{server: server, out: newOutbox(socket, wire{}, defaultBacklog)}
		c.session = newSession(server, c, "1")
		c.receive(t.Context(), nil, text)
		for len(c.session.queue) > 0 {
			c.session.handle(t.Context(), <-c.session.queue)
		}
		c.session.handle(t.Context(), request{Message: ddp.Message{Kind: ddp.Method, ID: []byte("f"), Name: []byte("fetchTasks")}})
		for out := c.out.pending; len(out) > 0; {
			message, rest, err := unframe(wire{}, out)
			var m struct{ Msg string }
			if err != nil || json.Unmarshal(message, &m) != nil || m.Msg == "" {
				t.Fatalf("answered %q with %q, %v", text, message, err)
			}
			out = rest
		}
	})
}
