package ddp

import (
	"fmt"
	"runtime"
	"testing"
)

// flood is a connection to a server that publishes without end.
func flood(t testing.TB, w way) (c *Conn, size int64) {
	t.Helper()
	texts := make([]string, 256)
	for i := range texts {
		texts[i] = wrapped(w.transport, fmt.Sprintf(
			`{"msg":"added","collection":"taskCollection","id":"id%015d","fields":{"sessionId":"session-%04d","description":"New Task %d","createdAt":{"$date":%d}}}`,
			i*7919, i%40, i%20, 1796055775578+i*13))
		size += int64(len(texts[i]))
	}
	n := overTCP(t, upgraded(t, w, func(ws *peer) {
		if ws.deflate != nil {
			ws.deflate.Reset(&ws.compressed) // what is sent again and again must not refer to before itself
		}
		var stream []byte
		for _, text := range texts {
			if ws.deflate == nil {
				stream = append(stream, frame(0x81, []byte(text))...)
				continue
			}
			stream = append(stream, frame(0xc1, ws.deflated(text))...)
		}
		for ws.raw(stream) == nil {
		}
	}))
	c, err := Dial(t.Context(), n.address, Options{Transport: w.transport, Compression: w.compression})
	if err != nil {
		t.Fatal(err)
	}
	return c, size / int64(len(texts))
}

// read runs the connection until it has been told of n messages.
func read(t testing.TB, c *Conn, n int) {
	t.Helper()
	seen := 0
	err := c.Run(t.Context(), told{message: func(m *Message) error {
		if m.Kind != Added {
			t.Errorf("got %s", m.Raw)
		}
		if seen++; seen == n {
			return errEnough
		}
		return nil
	}})
	if err != errEnough {
		t.Fatalf("after %d messages: %v", seen, err)
	}
}

// One data message from the socket to the handler.
func BenchmarkDispatch(b *testing.B) {
	for _, w := range ways() {
		b.Run(w.String(), func(b *testing.B) {
			c, size := flood(b, w)
			b.SetBytes(size)
			b.ReportAllocs()
			b.ResetTimer()
			read(b, c, b.N)
		})
	}
}

// Reading a message that nobody keeps allocates nothing as a browser's connection, and as often as gorilla/websocket does by
// the other two.
func TestAllocations(t *testing.T) {
	for _, w := range ways() {
		most := map[Compression]float64{Browser: 0.5, Off: 1.5, NoTakeover: 5.5}[w.compression] + spare
		c, _ := flood(t, w)
		const messages = 10_000
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		read(t, c, messages)
		runtime.ReadMemStats(&after)
		if got := float64(after.Mallocs-before.Mallocs) / messages; got > most {
			t.Errorf("%v: got %.2f allocations a message, want at most %v", w, got, most)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	text := []byte(added(1))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var m Message
	for b.Loop() {
		if err := m.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
