package ddp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// What a real server answered to an upgrade on each path is what Dial reports of it.
func TestTranscribedUpgrades(t *testing.T) {
	tried := 0
	for _, file := range transcripts(t) {
		for _, s := range scripts(t, file) {
			if !s.isUpgrade() {
				continue
			}
			tried++
			want := s.lines[0]
			t.Run(fmt.Sprintf("%s%s", filepath.Base(file), want.Path), func(t *testing.T) {
				paths := make(chan string, 10)
				hold := make(chan struct{})
				n := overTCP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					paths <- r.URL.Path
					switch want.Status {
					case 0:
						<-hold
					case http.StatusSwitchingProtocols:
						ws, err := upgrade(w, r, takeover)
						if err != nil {
							t.Error(err)
							return
						}
						defer ws.Close()
						transport := WebSocket
						if want.Frame == "o" {
							transport = SockJS
						}
						if err := ws.greet(transport); err != nil {
							t.Error(err)
						}
						ws.drain()
					default:
						w.WriteHeader(want.Status)
					}
				}))
				defer close(hold)
				transport, address := WebSocket, n.address+want.Path
				if strings.HasPrefix(want.Path, "/sockjs/") && want.Path != "/sockjs/websocket" {
					transport, address = SockJS, n.address // Dial makes a path of its own
				}
				o := Options{Transport: transport}
				if want.Status == 0 {
					o.HandshakeTimeout = soon
				}
				c, err := Dial(t.Context(), address, o)
				switch {
				case want.Status == http.StatusSwitchingProtocols:
					if err != nil {
						t.Fatal(err)
					}
					c.Abandon()
				case want.Status == 0 && !endedWith(err, HandshakeStalled), want.Status > 0 && !endedWith(err, UpgradeRefused):
					t.Errorf("got %v, want what status %d means", err, want.Status)
				}
				path := <-paths
				if transport == SockJS && !regexp.MustCompile(`^/sockjs/\d{3}/[a-z0-9]{8}/websocket$`).MatchString(path) {
					t.Errorf("got path %s", path)
				}
				if transport == WebSocket && want.Path == "/websocket/" && path != "/websocket" {
					t.Errorf("got path %s", path)
				}
			})
		}
	}
	if tried != 6 {
		t.Errorf("tried %d paths, want those of the transcript", tried)
	}
}

// A server that speaks another version says which, and is asked again for that one, on a new connection. One that picks
// what it was asked for, or what nobody knows, is given up.
func TestVersions(t *testing.T) {
	for _, tt := range []struct {
		knows, picks string
		asked        []string
		session      bool
	}{
		{"1", "1", []string{"1"}, true},
		{"pre2", "pre2", []string{"1", "pre2"}, true},
		{"pre1", "pre1", []string{"1", "pre1"}, true},
		{"", "1", []string{"1"}, false},
		{"", "2", []string{"1"}, false},
		{"", "pre1", []string{"1", "pre1"}, false},
	} {
		for _, w := range ways() {
			var mu sync.Mutex
			var asked []string
			n := overTCP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				ws, err := upgrade(rw, r, w.extension())
				if err != nil {
					t.Error(err)
					return
				}
				defer ws.Close()
				if w.transport == SockJS {
					_ = ws.write("o") // a client that has gone shows below
				}
				text, err := ws.receive(w.transport)
				var m struct {
					Msg, Version string
					Support      []string
				}
				if err != nil || json.Unmarshal([]byte(text), &m) != nil || m.Msg != "connect" || !slices.Equal(m.Support, []string{"1", "pre2", "pre1"}) {
					t.Errorf("got %s, %v", text, err)
				}
				mu.Lock()
				asked = append(asked, m.Version)
				mu.Unlock()
				answer := fmt.Sprintf(`{"msg":"failed","version":%q}`, tt.picks)
				if m.Version == tt.knows {
					answer = `{"msg":"connected","session":"S1"}`
				}
				if err := ws.send(w.transport, answer); err != nil {
					t.Error(err)
				}
				ws.drain()
			}))
			c, err := Dial(t.Context(), n.address, Options{Transport: w.transport, Compression: w.compression})
			if err == nil {
				c.Abandon()
			}
			if tt.session != (err == nil) || !tt.session && !endedWith(err, VersionRefused) {
				t.Errorf("%v, %+v: got %v", w, tt, err)
			}
			mu.Lock()
			if !slices.Equal(asked, tt.asked) {
				t.Errorf("%v: asked for %q, want %q", w, asked, tt.asked)
			}
			mu.Unlock()
		}
	}
}

func TestParseAddress(t *testing.T) {
	for _, tt := range []struct{ address, hostPort, url string }{
		{"http://localhost", "localhost:80", "ws://localhost/websocket"},
		{"https://app.test", "app.test:443", "wss://app.test/websocket"},
		{"ws://app.test:3000/websocket", "app.test:3000", "ws://app.test:3000/websocket"},
		{"wss://app.test/websocket/", "app.test:443", "wss://app.test/websocket"},
		{"http://app.test:3000/", "app.test:3000", "ws://app.test:3000/websocket"},
		{"http://app.test/under/a/path/?q=1#top", "app.test:80", "ws://app.test/under/a/path/websocket"},
		{"http://user:password@app.test", "app.test:80", "ws://app.test/websocket"},
		{"http://127.0.0.1:3000", "127.0.0.1:3000", "ws://127.0.0.1:3000/websocket"},
		{"http://[::1]:3000", "[::1]:3000", "ws://[::1]:3000/websocket"},
		{"https://[2001:db8::1]", "[2001:db8::1]:443", "wss://[2001:db8::1]/websocket"},
	} {
		if got, err := ParseAddress(tt.address); err != nil || got != tt.hostPort {
			t.Errorf("%s: got %s, %v, want %s", tt.address, got, err, tt.hostPort)
		}
		raw, err := parseAddress(tt.address, WebSocket)
		if err != nil || raw.url != tt.url {
			t.Errorf("%s: got %s, %v, want %s", tt.address, raw.url, err, tt.url)
		}
		sockjs, err := parseAddress(tt.address, SockJS)
		prefix := strings.TrimSuffix(tt.url, "/websocket") + "/sockjs/"
		if err != nil || !strings.HasPrefix(sockjs.url, prefix) || !strings.HasSuffix(sockjs.url, "/websocket") {
			t.Errorf("%s: got %s, %v, want it below %s", tt.address, sockjs.url, err, prefix)
		}
	}
	for _, address := range []string{"", "localhost:3000", "ftp://app.test", "http://", "http:///path", "http://[::1", "mailto:a@b"} {
		if got, err := ParseAddress(address); err == nil {
			t.Errorf("%s: got %s, want an error", address, got)
		}
	}
}

// Each session has a path of its own, so that no proxy or server takes two for one.
func TestSockJSPath(t *testing.T) {
	seen := make(map[string]bool)
	for range 1000 {
		seen[SockJSPath()] = true
	}
	if len(seen) < 999 {
		t.Errorf("got %d different paths of 1000", len(seen))
	}
}
