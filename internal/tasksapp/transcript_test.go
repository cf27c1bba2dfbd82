package tasksapp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// A line is one step of a transcript of a real Meteor server: a client connects, sends or receives a frame, or the
// connection is closed, by the client where no reason is given.
type line struct {
	Section string
	Client  string
	Open    string
	Send    *string
	Recv    *string
	Closed  int
	Reason  string
}

func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/meteor-*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		for _, compress := range []bool{false, true} {
			name := fmt.Sprintf("%s, compress %v", strings.TrimSuffix(filepath.Base(file), ".jsonl"), compress)
			t.Run(name, func(t *testing.T) {
				server := httptest.NewServer(New(Options{}))
				defer server.Close()
				p := newPlayer(t, server.URL, compress)
				for _, id := range seeded {
					p.ours[id] = id
				}
				p.playAll(readLines(t, file))
			})
		}
	}
}

func readLines(t testing.TB, file string) []line {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var lines []line
	scanner := bufio.NewScanner(bytes.NewReader(text))
	for scanner.Scan() {
		var l line
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			t.Fatalf("%s: line %d: %v", file, len(lines)+1, err)
		}
		lines = append(lines, l)
	}
	if scanner.Err() != nil {
		t.Fatal(scanner.Err())
	}
	return lines
}

// A player plays the client's side of a transcript and holds the server's answers against it.
type player struct {
	t        *testing.T
	url      string
	dialer   websocket.Dialer
	conns    map[string]*websocket.Conn
	ours     map[string]string   // the transcript's ids, and those that the server made for them
	loose    bool                // a result may come late, and a randomSeed need not decide an id
	wanted   map[string][]string // frames that a client has yet to receive
	section  string
	received int
}

func newPlayer(t *testing.T, url string, compress bool) *player {
	return &player{
		t:      t,
		url:    "ws" + strings.TrimPrefix(url, "http"),
		dialer: websocket.Dialer{EnableCompression: compress},
		conns:  make(map[string]*websocket.Conn),
		ours:   make(map[string]string),
		wanted: make(map[string][]string),
	}
}

// seeded are the ids that a randomSeed decides: our server has to make the same.
var seeded = []string{"iseTSDk3mFmiJionC", "gWYDDEGav5gM98RhY", "weXwieq83hDSPJS2i"}

func (p *player) playAll(lines []line) {
	p.t.Helper()
	defer func() {
		for _, c := range p.conns {
			c.Close()
		}
	}()
	for _, l := range lines {
		p.play(l)
	}
	p.receiveAll()
	if p.received < 100 {
		p.t.Errorf("compared %d frames, want a whole transcript", p.received)
	}
}

func (p *player) play(l line) {
	p.t.Helper()
	if l.Recv == nil {
		p.receiveAll()
	}
	switch {
	case l.Section != "":
		p.section = l.Section
		if p.loose && strings.Contains(l.Section, "randomSeed") {
			delete(p.ours, seeded[0]) // the transcript makes it once for each transport
		}
	case l.Open != "":
		p.open(l)
	case l.Send != nil:
		frame := idPattern.ReplaceAllStringFunc(*l.Send, func(id string) string {
			if own, known := p.ours[id]; known {
				return own
			}
			return id
		})
		if err := p.conns[l.Client].WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
			p.t.Fatalf("%s: send %s: %v", p.section, frame, err)
		}
	case l.Recv != nil:
		p.wanted[l.Client] = append(p.wanted[l.Client], *l.Recv)
	default:
		p.closed(l)
	}
}

func (p *player) open(l line) {
	p.t.Helper()
	ws, response, err := p.dialer.Dial(p.url+l.Open, nil)
	if err != nil {
		p.t.Fatalf("%s: %v", p.section, err)
	}
	agreed := strings.HasPrefix(response.Header.Get("Sec-WebSocket-Extensions"), "permessage-deflate")
	if agreed != p.dialer.EnableCompression {
		p.t.Fatalf("%s: compression agreed on: got %v, want %v", p.section, agreed, p.dialer.EnableCompression)
	}
	if old := p.conns[l.Client]; old != nil {
		old.Close()
	}
	p.conns[l.Client] = ws
}

func (p *player) receiveAll() {
	p.t.Helper()
	for _, client := range slices.Sorted(maps.Keys(p.wanted)) {
		p.receive(client)
	}
}

// receive compares the frames that come to a client with those that are wanted.
func (p *player) receive(client string) {
	p.t.Helper()
	wanted := p.wanted[client]
	got := make([]string, len(wanted))
	for i, want := range wanted {
		var err error
		if got[i], err = readFrame(p.conns[client]); err != nil {
			p.t.Fatalf("%s: got %v, want %s", p.section, err, want)
		}
	}
	if p.loose {
		slices.SortStableFunc(got, resultLast)
		slices.SortStableFunc(wanted, resultLast)
	}
	for i, want := range wanted {
		p.learn(got[i], want)
		if got, want := p.plain(got[i], false), p.plain(want, true); got != want {
			p.t.Fatalf("%s: got  %s\nwant %s", p.section, got, want)
		}
	}
	p.received += len(got)
	delete(p.wanted, client)
}

var resultPattern = regexp.MustCompile(`^(a\[")?\{\\?"msg\\?":\\?"result`)

func resultLast(a, b string) int {
	rank := map[bool]int{true: 1}
	return rank[resultPattern.MatchString(a)] - rank[resultPattern.MatchString(b)]
}

func (p *player) closed(l line) {
	p.t.Helper()
	ws := p.conns[l.Client]
	if l.Reason == "" {
		message := websocket.FormatCloseMessage(l.Closed, "")
		if err := ws.WriteControl(websocket.CloseMessage, message, time.Now().Add(patience)); err != nil {
			p.t.Fatalf("%s: close: %v", p.section, err)
		}
	}
	got, err := readFrame(ws)
	var end *websocket.CloseError
	if !errors.As(err, &end) {
		p.t.Fatalf("%s: got %s, %v, want the connection closed", p.section, got, err)
	}
	if end.Code != l.Closed || end.Text != l.Reason {
		p.t.Fatalf("%s: closed with %d %q, want %d %q", p.section, end.Code, end.Text, l.Closed, l.Reason)
	}
}

var (
	idPattern   = regexp.MustCompile(`\b[0-9A-Za-z]{17}\b`)
	datePattern = regexp.MustCompile(`(\$date\\?"):(\d+)`)
)

// learn takes the ids of a frame for those that stand at the same places in the transcript.
func (p *player) learn(got, want string) {
	ours, theirs := idPattern.FindAllString(got, -1), idPattern.FindAllString(want, -1)
	if len(ours) != len(theirs) {
		return // the comparison will show it
	}
	taken := make(map[string]bool)
	for _, id := range p.ours {
		taken[id] = true
	}
	for i, id := range theirs {
		if _, known := p.ours[id]; !known && !taken[ours[i]] {
			p.ours[id], taken[ours[i]] = ours[i], true
		}
	}
}

// plain takes out what may differ: dates, which need only be of today, and ids, which are put into our server's terms.
func (p *player) plain(frame string, transcript bool) string {
	frame = datePattern.ReplaceAllStringFunc(frame, func(date string) string {
		parts := datePattern.FindStringSubmatch(date)
		if age := time.Since(millis(p.t, parts[2])); !transcript && (age < -time.Minute || age > time.Hour) {
			return date
		}
		return parts[1] + ":TODAY"
	})
	if !transcript {
		return frame
	}
	return idPattern.ReplaceAllStringFunc(frame, func(id string) string { return p.ours[id] })
}

func millis(t *testing.T, digits string) time.Time {
	t.Helper()
	var ms int64
	if _, err := fmt.Sscan(digits, &ms); err != nil {
		t.Fatal(err)
	}
	return time.UnixMilli(ms)
}

// patience is how long a test waits for what must come.
const patience = time.Minute

func readFrame(ws *websocket.Conn) (string, error) {
	ws.SetReadDeadline(time.Now().Add(patience))
	_, frame, err := ws.ReadMessage()
	return string(frame), err
}
