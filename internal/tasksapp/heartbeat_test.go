package tasksapp

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

const (
	connect1    = `{"msg":"connect","version":"1","support":["1","pre2","pre1"]}`
	connectPre1 = `{"msg":"connect","version":"pre1","support":["pre1"]}`
)

// What Meteor's transcripts show over 74 seconds of silence.
func TestHeartbeat(t *testing.T) {
	tests := []struct {
		name, path, connect string
		pong, deaf          bool // answers DDP pings; does not answer WebSocket pings
		want                []string
	}{
		{name: "raw", path: rawPath, connect: connect1,
			want: []string{"15 ping", "30 closed 1000 Normal closure"}},
		{name: "raw pre1", path: rawPath, connect: connectPre1, want: nil},
		{name: "raw answering", path: rawPath, connect: connect1, pong: true, want: []string{"15 ping", "45 ping"}},
		{name: "raw never connects", path: rawPath, want: nil},
		{name: "sockjs", path: sockjsPath, connect: connect1,
			want: []string{"15 ping", `30 c[1000,"Normal closure"]`, "30 closed 1000 Normal closure"}},
		{name: "sockjs pre1", path: sockjsPath, connect: connectPre1, want: []string{"45 PING"}},
		{name: "sockjs answering", path: sockjsPath, connect: connect1, pong: true, want: []string{"15 ping", "45 PING", "45 ping"}},
		{name: "sockjs never connects", path: sockjsPath, want: []string{"45 PING"}},
		{name: "sockjs deaf", path: sockjsPath, connect: connectPre1, deaf: true,
			want: []string{"45 PING", `55 c[3000,"No response from heartbeat"]`, "55 closed 1000 Normal closure"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := startPipe(t, Options{})
				c := server.client(tt.path, false)
				if tt.connect != "" {
					c.send("%s", tt.connect)
				}
				w := &watch{client: c, start: time.Now(), pong: tt.pong, deaf: tt.deaf}
				over := make(chan struct{})
				go func() {
					defer close(over)
					w.read()
				}()
				select {
				case <-over:
				case <-time.After(74 * time.Second):
				}
				c.ws.Close()
				<-over
				slices.Sort(w.events)
				if !slices.Equal(w.events, tt.want) {
					t.Errorf("got %q, want %q", w.events, tt.want)
				}
				if err := server.stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A watch notes when a client hears something.
type watch struct {
	client     *client
	start      time.Time
	pong, deaf bool
	events     []string
}

func (w *watch) note(event string) {
	w.events = append(w.events, fmt.Sprintf("%.0f %s", time.Since(w.start).Seconds(), event))
}

func (w *watch) read() {
	answer := w.client.ws.PingHandler()
	w.client.ws.SetPingHandler(func(text string) error {
		w.note("PING")
		if w.deaf {
			return nil
		}
		return answer(text)
	})
	for {
		_, frame, err := w.client.ws.ReadMessage()
		if end, ok := err.(*websocket.CloseError); ok {
			w.note(fmt.Sprintf("closed %d %s", end.Code, end.Text))
		}
		switch text := string(frame); {
		case err != nil:
			return
		case strings.Contains(text, "ping"):
			w.note("ping")
			if w.pong {
				w.client.send(`{"msg":"pong"}`)
			}
		case strings.HasPrefix(text, "c"):
			w.note(text)
		}
	}
}
