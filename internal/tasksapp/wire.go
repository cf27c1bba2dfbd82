package tasksapp

import (
	"bytes"
	"compress/flate"
	"fmt"
	"sync"

	"github.com/gobwas/ws"
	"github.com/gorilla/websocket"

	"github.com/ddpgate/ddpgate/ddp"
)

// A wire is the form that a connection's messages have.
type wire struct {
	sockjs   bool
	deflater *deflater // nil where compression was not agreed on
}

func (w wire) index() int {
	i := 0
	if w.sockjs {
		i = 1
	}
	if w.deflater != nil {
		i += 2
	}
	return i
}

// frame returns text as the bytes of one WebSocket frame.
func (w wire) frame(text []byte) []byte {
	f := ws.NewTextFrame(text)
	if w.deflater != nil {
		f = ws.NewTextFrame(w.deflater.deflate(text))
		f.Header.Rsv = ws.Rsv(true, false, false)
	}
	return ws.MustCompileFrame(f)
}

// A message is one DDP message on its way to any number of connections: it is put into the form of each wire when that
// is first asked for. One goroutine may use it at a time; those of tasks are guarded by the lock of tasks.
type message struct {
	payload []byte
	frames  [4][]byte // by wire.index
}

func messagef(format string, args ...any) *message {
	return &message{payload: fmt.Appendf(nil, format, args...)}
}

func (m *message) frame(w wire) []byte {
	made := &m.frames[w.index()]
	if *made != nil {
		return *made
	}
	text := m.payload
	if w.sockjs {
		text = ddp.AppendSockJS(append(make([]byte, 0, len(text)*5/4+8), 'a'), text)
	}
	*made = w.frame(text)
	return *made
}

// closeFrame returns the bytes of a close frame; a code that may not be sent leaves it empty.
func closeFrame(code int, reason string) []byte {
	return ws.MustCompileFrame(ws.NewCloseFrame(websocket.FormatCloseMessage(code, reason)))
}

// A deflater compresses messages one by one, without context takeover (RFC 7692, section 7.2.1), so that what it makes can
// be shared by connections. It may be used by several goroutines.
type deflater struct {
	mu  sync.Mutex
	w   *flate.Writer
	out bytes.Buffer
}

func newDeflater() *deflater {
	d := new(deflater)
	d.w, _ = flate.NewWriter(&d.out, flate.BestSpeed) // an error only for a level that does not exist
	return d
}

var tail = []byte{0, 0, 0xff, 0xff} // ends each flush, and is left off on the wire

func (d *deflater) deflate(payload []byte) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.out.Reset()
	d.w.Reset(&d.out)
	d.w.Write(payload) // a bytes.Buffer takes everything
	d.w.Flush()
	return bytes.Clone(bytes.TrimSuffix(d.out.Bytes(), tail))
}
