package ddp

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

// Every section of the transcripts is played over a port of this machine, in each way to compress.
func TestTranscripts(t *testing.T) {
	for _, file := range transcripts(t) {
		for _, s := range scripts(t, file) {
			if s.isUpgrade() {
				continue // TestTranscribedUpgrades
			}
			for _, c := range []Compression{Browser, NoTakeover, Off} {
				t.Run(fmt.Sprintf("%s/%s/%s", filepath.Base(file), s.name, c), func(t *testing.T) {
					t.Parallel()
					p := &play{t: t, script: s, compression: c, steps: s.steps()}
					p.run(overTCP)
				})
			}
		}
	}
}

// The same as a browser, in the transcripts' own time: a heartbeat's 75 s are over in no time.
func TestTranscriptsInTime(t *testing.T) {
	for _, file := range transcripts(t) {
		for _, s := range scripts(t, file) {
			if s.isUpgrade() {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", filepath.Base(file), s.name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := &play{t: t, script: s, compression: Browser, steps: s.steps(), timed: true}
					p.run(overPipe)
				})
			})
		}
	}
}

// A play is one script played to our client.
type play struct {
	t *testing.T
	script
	compression Compression
	steps       []step
	timed       bool

	start   time.Time
	conn    *Conn
	next    int   // the client's place in steps
	wrote   int64 // bytes of text that the server sent
	pings   int   // of the client's own accord
	serving sync.WaitGroup
}

const patience = 20 * time.Second

func (p *play) run(on func(testing.TB, http.Handler) network) {
	p.serving.Add(1)
	n := on(p.t, http.HandlerFunc(p.serve))
	p.start = time.Now()
	conn, pick, err := p.connect(n)
	switch want := p.answer(); {
	case want == nil:
		var stalled *ConnError
		if !errors.As(err, &stalled) || stalled.Cause != HandshakeStalled {
			p.t.Errorf("connected: got %v, want %s", err, HandshakeStalled)
		}
	case want.text("msg") == "failed":
		if pick != want.text("version") || err != nil {
			p.t.Errorf("got version %q, %v, want the server's pick %q", pick, err, want.text("version"))
		}
	case err != nil:
		p.t.Errorf("connect: %v", err)
	default:
		if got, want := conn.Session, want.text("session"); got != want {
			p.t.Errorf("got session %q, want %q", got, want)
		}
		p.session(conn)
	}
	p.serving.Wait()
}

// answer returns the server's answer to connect, nil if there is none.
func (p *play) answer() *step {
	for i, s := range p.steps {
		if msg := s.text("msg"); s.Dir == "S" && (msg == "connected" || msg == "failed") {
			return &p.steps[i]
		}
	}
	return nil
}

// connect proposes the version that the transcript's client does.
func (p *play) connect(n network) (*Conn, string, error) {
	o := Options{Transport: p.transport, Compression: p.compression, dial: n.dial}
	if p.answer() == nil && !p.timed {
		o.HandshakeTimeout = soon
	}
	o = o.withDefaults()
	version := "1"
	for _, s := range p.steps {
		if s.Dir == "C" && s.text("msg") == "connect" {
			version = s.text("version")
			break
		}
	}
	ctx, cancel := context.WithTimeoutCause(p.t.Context(), o.HandshakeTimeout, context.DeadlineExceeded)
	defer cancel()
	return dialVersion(ctx, n.address, version, o)
}

// session does the client's part of an open session and holds its end against the script.
func (p *play) session(conn *Conn) {
	p.conn = conn
	for p.next < len(p.steps) && p.steps[p.next].text("msg") != "connected" {
		p.next++
	}
	if err := p.act(); err != nil {
		p.t.Errorf("send: %v", err)
	}
	err := conn.Run(p.t.Context(), told{message: p.message})
	p.serving.Wait()
	if p.next < len(p.steps) {
		p.t.Errorf("ended with %v before %+v", err, p.steps[p.next].line)
	}
	if conn.Odd != 0 {
		p.t.Errorf("got %d odd frames, want none", conn.Odd)
	}
	code, reason, byUs := p.end()
	if byUs {
		if err != nil {
			p.t.Errorf("closed by ourselves: got %v, want nil", err)
		}
		return
	}
	var closed *ConnError
	if !errors.As(err, &closed) || closed.Cause != Closed || closed.Code != code || closed.Reason != reason {
		p.t.Errorf("ended with %v, want %s with code %d %q", err, Closed, code, reason)
	}
	if conn.Bytes != p.wrote {
		p.t.Errorf("read %d bytes, want the %d that were sent", conn.Bytes, p.wrote)
	}
}

// over is what the server says at the end of a section that goes on with the next.
const over = "over"

// end returns how the script ends.
func (p *play) end() (code int, reason string, byUs bool) {
	last := p.steps[len(p.steps)-1]
	if last.Dir == "close" {
		return last.Code, last.Reason, last.Reason == ""
	}
	return 1000, over, false
}

// message holds what the client reports against the next frame that it is to report.
func (p *play) message(m *Message) error {
	if p.next >= len(p.steps) || p.steps[p.next].Dir != "S" {
		p.t.Errorf("got %s, which is not in the script", m.Raw)
		return nil
	}
	s := p.steps[p.next]
	p.next++
	if got := string(m.Raw); got != s.message {
		p.t.Errorf("got %s\nwant %s", got, s.message)
	}
	for _, fault := range disagreements(m, s.fields) {
		p.t.Errorf("%s: %s", m.Raw, fault)
	}
	return p.act()
}

// act does what the client does next, up to a frame that it has to wait for. Pings, and what frames the transport, it is
// not told of.
func (p *play) act() error {
	for ; p.next < len(p.steps); p.next++ {
		s := p.steps[p.next]
		msg := s.text("msg")
		switch {
		case s.Dir == "close" && s.Reason == "":
			p.conn.Close()
		case s.Dir == "C" && msg != "pong":
			if err := p.send(s); err != nil {
				return err
			}
		case s.Dir == "S" && !s.bare && msg != "ping" && msg != "pong" && msg != "connected":
			return nil
		}
	}
	return nil
}

// send sends a message: by the method for it if it is one of ours, else as it is.
func (p *play) send(s step) error {
	var id string
	var err error
	switch {
	case s.bare:
		return p.conn.sock.text([]byte(s.message))
	case !s.call:
		return p.conn.send([]byte(s.message))
	case s.text("msg") == "unsub":
		return p.conn.Unsubscribe(s.text("id"))
	case s.text("msg") == "sub":
		id, err = p.conn.Subscribe(s.text("name"), s.fields["params"])
	default:
		id, err = p.conn.Call(s.text("method"), s.fields["params"])
	}
	if want := s.text("id"); id != want {
		p.t.Errorf("got id %q, want %q", id, want)
	}
	return err
}

// serve is the server's side.
func (p *play) serve(w http.ResponseWriter, r *http.Request) {
	defer p.serving.Done()
	extension := map[Compression]string{Browser: p.extension, NoTakeover: noTakeover}[p.compression]
	if p.extension == "" {
		extension = ""
	}
	ws, err := upgrade(w, r, extension)
	if err != nil {
		if p.answer() != nil { // else our client may have given up already
			p.t.Errorf("upgrade: %v", err)
		}
		return
	}
	defer ws.Close()
	in := &incoming{ws: ws, frames: make(chan string, 100), pongs: make(chan struct{}, 1)}
	ws.SetPongHandler(func(string) error {
		in.pongs <- struct{}{}
		return nil
	})
	var reading sync.WaitGroup
	reading.Go(in.read)
	for _, s := range p.steps {
		if !p.step(in, s) {
			break
		}
	}
	if p.answer() != nil {
		p.goodbye(in)
	}
	for range in.frames {
	}
	reading.Wait()
	if len(in.early) > 0 && p.answer() != nil {
		p.t.Errorf("the client sent %q, which is not in the script", in.early)
	}
}

// incoming is what comes from the client.
type incoming struct {
	ws     *peer
	frames chan string // closed at the end
	early  []string    // that came while the server had still to speak
	err    error       // why it ended
	pongs  chan struct{}
}

func (in *incoming) read() {
	defer close(in.frames)
	for {
		_, b, err := in.ws.ReadMessage()
		if err != nil {
			in.err = err
			return
		}
		in.frames <- string(b)
	}
}

// step does one step of the server; false ends the script.
func (p *play) step(in *incoming, s step) bool {
	switch s.Dir {
	case "C":
		return p.hear(in, s)
	case "S":
		p.wait(in, s.T)
		if err := p.say(in, s); err != nil {
			p.t.Errorf("send %s: %v", s.message, err)
			return false
		}
		return s.text("msg") != "failed" // our client is gone by now
	case "ping":
		if p.answer() == nil {
			return true // our client has given up by then
		}
		p.wait(in, s.T)
		if err := in.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(patience)); err != nil {
			p.t.Errorf("ping: %v", err)
		}
		select {
		case <-in.pongs:
		case <-time.After(patience):
			p.t.Error("no answer to a ping frame")
		}
	}
	return true
}

// say sends a frame; a compressed one that was recorded, byte for byte where the client asked for that.
func (p *play) say(in *incoming, s step) error {
	text := s.Frame
	if !s.bare {
		text = s.message
		if p.transport == SockJS {
			text = wrapped(SockJS, s.message)
		}
	}
	p.wrote += int64(len(text))
	if s.Wire == "" || p.compression != Browser {
		return in.ws.write(text)
	}
	b, err := hex.DecodeString(s.Wire)
	if err != nil {
		return err
	}
	return in.ws.raw(b)
}

// hear holds the client's next frame against the script.
func (p *play) hear(in *incoming, want step) bool {
	asked := time.Now()
	got, err := in.next(func(frame string) bool {
		own := p.isPing(frame) && want.text("msg") != "ping"
		if own {
			p.pong(in)
		}
		return own
	})
	if err != nil {
		p.t.Errorf("got no frame (%v), want %s", err, want.message)
		return false
	}
	if fault := p.differs(got, want); fault != "" {
		p.t.Errorf("the client sent %s, want %s: %s", got, want.message, fault)
		return false
	}
	if late := time.Since(asked); p.timed && want.text("msg") == "pong" && late != 0 {
		p.t.Errorf("a ping was answered %v later", late)
	}
	return true
}

// next returns the client's next frame but those that are dealt with already.
func (in *incoming) next(dealtWith func(string) bool) (string, error) {
	if len(in.early) > 0 {
		frame := in.early[0]
		in.early = in.early[1:]
		return frame, nil
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case frame, more := <-in.frames:
			if !more {
				return "", in.err
			}
			if !dealtWith(frame) {
				return frame, nil
			}
		case <-timer.C:
			return "", errors.New("the client is silent")
		}
	}
}

func (p *play) isPing(frame string) bool { return frame == p.client(`{"msg":"ping"}`) }

// pong answers a ping of the client's own.
func (p *play) pong(in *incoming) {
	p.pings++
	text := wrapped(p.transport, `{"msg":"pong"}`)
	p.wrote += int64(len(text))
	if err := in.ws.write(text); err != nil {
		p.t.Errorf("pong: %v", err)
	}
}

// differs compares a client's frame with the transcript's. The versions that a client supports, a seed that it gives and
// the session that it had before are its own business.
func (p *play) differs(got string, want step) string {
	if want.bare {
		if got != want.Frame {
			return "not the same"
		}
		return ""
	}
	message, ok := p.unwrapped(got)
	if !ok {
		return "not framed as it should be"
	}
	if want.fields == nil {
		if message != want.message {
			return "not the same"
		}
		return ""
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(message), &fields); err != nil {
		return err.Error()
	}
	expected := make(map[string]string)
	for name, value := range want.fields {
		expected[name] = string(value)
	}
	if _, has := expected["params"]; want.call && !has && want.text("msg") == "method" {
		expected["params"] = "[]"
	}
	for _, free := range []string{"support", "randomSeed", "session"} {
		delete(expected, free)
		delete(fields, free)
	}
	for name, value := range fields {
		if expected[name] != string(value) {
			return fmt.Sprintf("%s is %s, not %s", name, value, expected[name])
		}
		delete(expected, name)
	}
	if len(expected) > 0 {
		return fmt.Sprintf("without %v", expected)
	}
	return ""
}

// wait lets the time of the script come, and answers the client's own pings meanwhile.
func (p *play) wait(in *incoming, ms float64) {
	if !p.timed {
		return
	}
	timer := time.NewTimer(time.Until(p.start.Add(time.Duration(ms * float64(time.Millisecond)))))
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return
		case got, more := <-in.frames:
			switch {
			case !more:
				return // the next step will say so
			case p.isPing(got):
				p.pong(in)
			default:
				in.early = append(in.early, got)
			}
		}
	}
}

// goodbye ends the connection as the script does, and waits for the client's close if that is to come first.
func (p *play) goodbye(in *incoming) {
	code, reason, byClient := p.end()
	last := p.steps[len(p.steps)-1]
	if last.text("msg") == "failed" || p.answer().text("msg") == "failed" {
		return
	}
	if byClient {
		for range in.frames {
		}
		var closed *websocket.CloseError
		if !errors.As(in.err, &closed) || closed.Code != code {
			p.t.Errorf("the client left with %v, want code %d", in.err, code)
		}
		return
	}
	at := last.T
	if strings.Contains(p.name, "75 s idle") && last.Dir != "close" {
		at = 75_000
	}
	p.wait(in, at)
	// A client that was told by SockJS is gone.
	_ = in.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), time.Now().Add(patience))
}

// disagreements holds a message against what encoding/json reads of it.
func disagreements(m *Message, fields map[string]json.RawMessage) []string {
	var faults []string
	check := func(what string, got []byte, want string, has bool) {
		if string(got) != want || (got != nil) != has {
			faults = append(faults, fmt.Sprintf("%s: got %q, want %q", what, got, want))
		}
	}
	text := func(what string, got []byte, field string) {
		var want *string
		if json.Unmarshal(fields[field], &want) != nil || want == nil {
			check(what, got, "", false)
			return
		}
		check(what, got, *want, true)
	}
	raw := func(what string, got []byte, field string) {
		check(what, got, string(fields[field]), fields[field] != nil)
	}
	var kind string
	_ = json.Unmarshal(fields["msg"], &kind) // another type is no kind
	if kindOf([]byte(kind)) != m.Kind {
		faults = append(faults, fmt.Sprintf("kind: got %q, want %q", m.Kind, kind))
	}
	text("id", m.ID, "id")
	text("collection", m.Collection, "collection")
	text("session", m.Session, "session")
	text("version", m.Version, "version")
	text("reason", m.Reason, "reason")
	raw("fields", m.Fields, "fields")
	raw("params", m.Params, "params")
	raw("result", m.Result, "result")
	raw("error", m.Error, "error")
	if name := only(fields, "name", "method"); name != "" {
		text("name", m.Name, name)
	}
	if list := only(fields, "subs", "methods", "support", "cleared"); list != "" {
		raw("list", m.List, list)
	}
	return faults
}

// only returns the one of some names that there is; "" if there are more, of which a message keeps the last.
func only(fields map[string]json.RawMessage, names ...string) (found string) {
	for _, n := range names {
		if _, has := fields[n]; has {
			if found != "" {
				return ""
			}
			found = n
		}
	}
	if found == "" {
		return names[0]
	}
	return found
}
