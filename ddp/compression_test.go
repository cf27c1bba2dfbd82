package ddp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// What is offered decides what a server does and what that costs it: a browser's offer, gorilla/websocket's, none.
func TestOffer(t *testing.T) {
	for _, w := range ways() {
		var offered []string
		n := overTCP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			offered = r.Header.Values("Sec-WebSocket-Extensions")
			rw.WriteHeader(http.StatusTeapot)
		}))
		_, err := Dial(t.Context(), n.address, Options{Transport: w.transport, Compression: w.compression})
		if !endedWith(err, UpgradeRefused) {
			t.Fatalf("%v: got %v", w, err)
		}
		want := map[Compression]string{
			Browser:    "permessage-deflate;client_max_window_bits",
			NoTakeover: "permessage-deflate;server_no_context_takeover;client_no_context_takeover",
		}[w.compression]
		if got := strings.ReplaceAll(strings.Join(offered, ","), " ", ""); got != want {
			t.Errorf("%v: offered %q, want %q", w, got, want)
		}
	}
}

// What a server may answer, and whether the connection can go on with it. The messages repeat, so that a server which keeps
// its context refers back to it.
func TestNegotiation(t *testing.T) {
	for _, tt := range []struct {
		compression Compression
		answer      string
		refused     bool
	}{
		{Browser, "", false},
		{Browser, takeover, false},
		{Browser, noTakeover, false},
		{Browser, "permessage-deflate; client_no_context_takeover", false},
		{Browser, "permessage-deflate; server_no_context_takeover", false},
		{Browser, "permessage-deflate; server_max_window_bits=15; client_max_window_bits=10", false},
		{Browser, "x-webkit-deflate-frame", true},
		{NoTakeover, "", false},
		{NoTakeover, noTakeover, false},
		{NoTakeover, takeover, true}, // which would keep its context
		{Off, "", false},
	} {
		for _, transport := range []Transport{SockJS, WebSocket} {
			t.Run(fmt.Sprintf("%s/%s/%s", tt.compression, tt.answer, transport), func(t *testing.T) {
				n := overTCP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					ws, err := upgrade(rw, r, tt.answer)
					if err != nil {
						t.Error(err)
						return
					}
					defer ws.Close()
					if ws.greet(transport) != nil {
						return // refused
					}
					for i := range 50 {
						if err := ws.send(transport, added(i)); err != nil {
							t.Error(err)
						}
					}
					if err := ws.bye(); err != nil {
						t.Error(err)
					}
				}))
				c, err := Dial(t.Context(), n.address, Options{Transport: transport, Compression: tt.compression})
				if tt.refused {
					if !endedWith(err, BrokenFraming) {
						t.Errorf("got %v, want %s", err, BrokenFraming)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				got := 0
				err = c.Run(t.Context(), told{message: func(m *Message) error {
					if string(m.Raw) != added(got) {
						t.Errorf("got %s, want %s", m.Raw, added(got))
					}
					got++
					return nil
				}})
				if !endedWith(err, Closed) || got != 50 || c.Odd != 0 {
					t.Errorf("got %d messages, %d odd, %v", got, c.Odd, err)
				}
				if extension := strings.ReplaceAll(c.Extensions(), " ", ""); extension != strings.ReplaceAll(tt.answer, " ", "") {
					t.Errorf("got %q, want what the server said: %q", extension, tt.answer)
				}
			})
		}
	}
}

// gorilla/websocket's own server, as it comes.
func TestGorillaServer(t *testing.T) {
	for _, w := range ways() {
		over := make(chan struct{})
		n := overTCP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			defer close(over)
			u := websocket.Upgrader{EnableCompression: true}
			ws, err := u.Upgrade(rw, r, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer ws.Close()
			p := &peer{Conn: ws}
			if err := p.greet(w.transport); err != nil {
				t.Error(err)
			}
			for i := range 50 {
				if err := p.send(w.transport, added(i)); err != nil {
					t.Error(err)
				}
			}
			if err := p.bye(); err != nil {
				t.Error(err)
			}
		}))
		c, err := Dial(t.Context(), n.address, Options{Transport: w.transport, Compression: w.compression})
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		if err := c.Run(t.Context(), told{message: func(*Message) error { got++; return nil }}); !endedWith(err, Closed) || got != 50 {
			t.Errorf("%v: got %d messages, %v", w, got, err)
		}
		want := noTakeover // gorilla's server keeps no context, whoever asks
		if w.compression == Off {
			want = ""
		}
		if extension := strings.ReplaceAll(c.Extensions(), ";", "; "); strings.ReplaceAll(extension, "  ", " ") != want {
			t.Errorf("%v: got %q, want %q", w, c.Extensions(), want)
		}
		<-over
	}
}

// nodeApp starts the JavaScript tasks app, which speaks through the packages that Meteor's server speaks through.
func nodeApp(t *testing.T, compression string) (address string) {
	t.Helper()
	dir := filepath.Join("..", "testdata", "node-tasks")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node on this machine to be the other side; .ci/run says so before the tests")
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		t.Skip("the packages of testdata/node-tasks are not installed: run npm ci there, as .ci/run does")
	}
	app := exec.Command(node, "main.js")
	app.Dir, app.Stderr = dir, os.Stderr
	app.Env = append(os.Environ(), "PORT=0", "SERVER_WEBSOCKET_COMPRESSION="+compression)
	out, err := app.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := app.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := app.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		_, _ = io.Copy(io.Discard, out) // until it has ended
		if err := app.Wait(); err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
}

func TestNodeCompression(t *testing.T) {
	for _, tt := range []struct {
		server string // what SERVER_WEBSOCKET_COMPRESSION says
		agreed map[Compression]string
	}{
		{`{}`, map[Compression]string{Browser: takeover, NoTakeover: noTakeover}},
		{`{"noContextTakeover":true}`, map[Compression]string{Browser: "permessage-deflate; server_no_context_takeover", NoTakeover: noTakeover}},
		{`false`, nil},
	} {
		t.Run(tt.server, func(t *testing.T) {
			address := nodeApp(t, tt.server)
			for _, w := range ways() {
				c, err := Dial(t.Context(), address, Options{Transport: w.transport, Compression: w.compression})
				if err != nil {
					t.Fatal(err)
				}
				if got, want := parameters(c.Extensions()), parameters(tt.agreed[w.compression]); got != want {
					t.Errorf("%v: got %q, want %q", w, got, want)
				}
				insertAndRemove(t, w, c)
			}
		})
	}
}

// parameters writes an extension with its parameters in one order.
func parameters(extension string) string {
	set := make(map[string]bool)
	for p := range strings.SplitSeq(extension, ";") {
		set[strings.TrimSpace(p)] = true
	}
	return fmt.Sprint(set)
}

// insertAndRemove has the tasks app publish more than a window full, and take it back.
func insertAndRemove(t *testing.T, w way, c *Conn) {
	t.Helper()
	const tasks = 40
	if _, err := c.Subscribe("fetchTasks", nil); err != nil {
		t.Fatal(err)
	}
	for i := range tasks {
		if _, err := c.Call("insertTask", fmt.Appendf(nil, `[{"sessionId":"me","description":"%d %s"}]`, i, strings.Repeat("é", 24*i))); err != nil {
			t.Fatal(err)
		}
	}
	there, gone := 0, 0
	err := c.Run(t.Context(), told{message: func(m *Message) error {
		if !json.Valid(m.Raw) {
			t.Errorf("%v: got %q", w, m.Raw)
		}
		switch {
		case m.Kind == Added && bytes.Contains(m.Fields, fmt.Appendf(nil, `"%d %s"`, there, strings.Repeat("é", 24*there))):
			if there++; there == tasks {
				_, err := c.Call("removeAllTasks", []byte(`[{"sessionId":"me"}]`))
				return err
			}
		case m.Kind == Removed:
			if gone++; gone == tasks {
				return errEnough
			}
		}
		return nil
	}})
	if !errors.Is(err, errEnough) {
		t.Errorf("%v: %d tasks came and %d went, then %v", w, there, gone, err)
	}
}

// A session that is compressed as a browser's costs at most 64 KiB more than one that is not.
func TestMemoryOfTakeover(t *testing.T) {
	const sessions, most = 64, 64 << 10
	off, browser := heapOf(t, way{SockJS, Off}, sessions), heapOf(t, way{SockJS, Browser}, sessions)
	if more := (browser - off) / sessions; more > most {
		t.Errorf("a session takes %d bytes more, want at most %d", more, most)
	} else {
		t.Logf("%d bytes more a session", more)
	}
}

// heapOf returns what a number of open sessions takes of the heap and stacks when each has been told more than a window holds.
func heapOf(t *testing.T, w way, sessions int) int64 {
	t.Helper()
	// All sessions are sent the same bytes, so that the server holds no compressor for each.
	canned := new(peer)
	if w.compression == Browser {
		canned.deflate = newDeflater(t).w
		canned.deflate.Reset(&canned.compressed)
	}
	var frames []byte
	const messages = 1000
	for _, text := range append([]string{"o", wrapped(w.transport, `{"msg":"connected","session":"S1"}`)}, many(w, messages)...) {
		if canned.deflate == nil {
			frames = append(frames, frame(0x81, []byte(text))...)
			continue
		}
		frames = append(frames, frame(0xc1, canned.deflated(text))...)
	}
	n := overTCP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ws, err := upgrade(rw, r, w.extension())
		if err != nil {
			t.Error(err)
			return
		}
		defer ws.Close()
		ws.deflate = nil
		if err := ws.raw(frames); err != nil {
			t.Error(err)
		}
		ws.drain()
	}))
	before := inUse()
	all := make([]*Conn, sessions)
	for i := range all {
		c, err := Dial(t.Context(), n.address, Options{Transport: w.transport, Compression: w.compression})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Abandon()
		all[i] = c
		for got := 0; got < messages; {
			if err := c.frame(func(*Message) error { got++; return nil }, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	after := inUse()
	runtime.KeepAlive(all)
	return after - before
}

// inUse returns what of the heap and stacks is in use, pools emptied.
func inUse() int64 {
	for range 3 { // a pool keeps what it holds through one or two
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

func many(w way, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = wrapped(w.transport, added(i))
	}
	return all
}
