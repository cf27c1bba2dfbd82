package ddp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A line of testdata/meteor-*.jsonl is one step of a transcript of a real Meteor server, in the server's own bytes.
type line struct {
	Section    string
	Client     string  // A or B where there are two
	Dir        string  // open, C (from the client), S (from the server), ping (a control frame), close, path or upgrade
	T          float64 // ms since the client began
	Path       string
	Extensions string // that the server agreed to
	Frame      string
	Wire       string // the frame as it went over the wire, in hex
	Code       int
	Reason     string // of the server; the client closes without one
	Status     int    // of an upgrade; 0 for no answer
}

// A script is one connection of a section.
type script struct {
	name      string
	transport Transport
	extension string
	lines     []line
}

// scripts reads all sections of a file.
func scripts(t testing.TB, file string) []script {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []script
	var section string
	places := make(map[string]int) // of this section's scripts, by client
	for in := bufio.NewScanner(f); in.Scan(); {
		var l line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v: %s", file, err, in.Bytes())
		}
		if l.Section != "" {
			section, places = l.Section, make(map[string]int)
			continue
		}
		i, begun := places[l.Client]
		if !begun {
			i = len(all)
			places[l.Client] = i
			all = append(all, script{name: strings.TrimSpace(section + " " + l.Client)})
		}
		all[i].lines = append(all[i].lines, l)
	}
	if len(all) < 80 {
		t.Fatalf("%s: got %d scripts only", file, len(all))
	}
	for i := range all {
		all[i].prepare()
	}
	return all
}

// prepare finds out the transport and what was negotiated, and gives a section that goes on with an open session its beginning.
func (s *script) prepare() {
	first := s.lines[0]
	s.transport, s.extension = WebSocket, takeover
	if strings.Count(first.Path, "/") > 3 || strings.HasPrefix(first.Frame, "[") || strings.HasPrefix(first.Frame, `a["`) {
		s.transport = SockJS
	}
	if first.Dir == "upgrade" {
		s.transport = WebSocket // the paths are given as they are
		return
	}
	if first.Dir == "open" {
		s.extension = first.Extensions
		s.lines = s.lines[1:]
		s.await()
		return
	}
	if first.Dir == "path" {
		s.lines = s.lines[1:]
	}
	begin := []line{{Dir: "C", Frame: s.client(connectOne)}, {Dir: "S", Frame: wrapped(s.transport, connectedOne)}}
	if s.transport == SockJS {
		begin = append([]line{{Dir: "S", Frame: "o"}}, begin...)
	}
	s.lines = append(begin, s.lines...)
}

// await puts the server's o before the client's first frame. The transcripts' client did not wait for it; a browser does.
func (s *script) await() {
	spoken := slices.IndexFunc(s.lines, func(l line) bool { return l.Dir == "C" })
	opened := slices.IndexFunc(s.lines, func(l line) bool { return l.Frame == "o" })
	if spoken < 0 || opened < spoken {
		return
	}
	o := s.lines[opened]
	s.lines = slices.Insert(slices.Delete(s.lines, opened, opened+1), spoken, o)
}

func (s *script) isUpgrade() bool { return len(s.lines) > 0 && s.lines[0].Dir == "upgrade" }

const (
	connectOne   = `{"msg":"connect","version":"1","support":["1","pre2","pre1"]}`
	connectedOne = `{"msg":"connected","session":"hCLmD4pCMK2wh8LjD"}`
)

// client frames a client's message.
func (s *script) client(message string) string {
	return strings.TrimPrefix(wrapped(s.transport, message), "a")
}

// unwrapped returns the one message of a frame of either side; ok is false for a frame that is not as ours are.
func (s *script) unwrapped(frame string) (message string, ok bool) {
	if s.transport == WebSocket {
		return frame, true
	}
	var messages []string
	if json.Unmarshal([]byte(strings.TrimPrefix(frame, "a")), &messages) != nil || len(messages) != 1 {
		return frame, false
	}
	return messages[0], true
}

// A step is a line of a script, put into our client's terms.
type step struct {
	line
	message string // unwrapped; of a frame that is not as ours are, the frame
	bare    bool   // such a frame
	fields  map[string]json.RawMessage
	call    bool // a message that our client sends by a method of its own
}

func (s *step) text(field string) string {
	var text string
	if json.Unmarshal(s.fields[field], &text) != nil {
		return ""
	}
	return text
}

// steps gives the subscriptions and calls of a script the ids that our client gives them, one after the other. It leaves
// out what a client sends before it has connected, which ours never does, and adds the pong where the transcript's client
// kept silent to see what happens.
func (s *script) steps() []step {
	ours := make(map[string]string)
	var all []step
	connected := false
	for _, l := range s.lines {
		st := step{line: l}
		var whole bool
		if st.message, whole = s.unwrapped(l.Frame); !whole {
			st.bare = true
		}
		_ = json.Unmarshal([]byte(st.message), &st.fields) // what is no object has no fields
		if l.Dir == "C" {
			connected = connected || st.text("msg") == "connect"
			if !connected {
				continue
			}
			st.number(ours)
		}
		if (l.Dir == "C" || l.Dir == "S") && l.Wire == "" && !st.bare {
			st.message = renamed(st.message, st.text("msg"), ours)
			_ = json.Unmarshal([]byte(st.message), &st.fields)
		}
		if n := len(all); n > 0 && all[n-1].Dir == "S" && all[n-1].text("msg") == "ping" && st.text("msg") != "pong" {
			all = append(all, s.pong())
		}
		all = append(all, st)
	}
	return all
}

func (s *script) pong() step {
	const pong = `{"msg":"pong"}`
	return step{line: line{Dir: "C", Frame: s.client(pong)}, message: pong, fields: map[string]json.RawMessage{"msg": []byte(`"pong"`)}}
}

// number finds out whether our client can send the message, and which id it will have.
func (s *step) number(ours map[string]string) {
	id := s.text("id")
	_, used := ours[id]
	params := s.fields["params"]
	isList := params == nil || bytes.HasPrefix(params, []byte("["))
	switch s.text("msg") {
	case "sub":
		s.call = id != "" && !used && s.text("name") != "" && isList
	case "method":
		s.call = id != "" && !used && s.text("method") != "" && isList
	case "unsub":
		s.call = true
		return
	}
	if s.call {
		ours[id] = strconv.Itoa(len(ours) + 1)
	}
}

// renamed puts our ids into a message: of subscriptions and calls, not of documents or pings.
func renamed(message, kind string, ours map[string]string) string {
	field := map[string]string{"sub": `"id":`, "method": `"id":`, "unsub": `"id":`, "result": `"id":`, "nosub": `"id":`,
		"ready": `"subs":[`, "updated": `"methods":[`}[kind]
	if field == "" {
		return message
	}
	var pairs []string
	for theirs, id := range ours {
		pairs = append(pairs, field+strconv.Quote(theirs), field+strconv.Quote(id))
	}
	return strings.NewReplacer(pairs...).Replace(message)
}

func transcripts(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/meteor-*.jsonl")
	if err != nil || len(files) != 2 {
		t.Fatalf("transcripts %q, %v", files, err)
	}
	return files
}
