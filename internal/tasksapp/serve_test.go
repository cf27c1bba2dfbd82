package tasksapp

import (
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

func TestPaths(t *testing.T) {
	server := httptest.NewServer(New(Options{}))
	defer server.Close()
	tests := []struct {
		path   string
		status int
		body   string
	}{
		{"/", 200, "tasks\n"},
		{"/sockjs/info", 200, `{"websocket":true,"origins":["*:*"],"cookie_needed":false,"entropy":`},
		{"/nope", 404, ""},
		{"/websocket", 400, ""},
		{"/sockjs/a.b/x/websocket", 404, ""},
		{"/sockjs/000/abcdefgh/xhr", 404, ""},
	}
	for _, tt := range tests {
		resp, err := server.Client().Get(server.URL + tt.path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != tt.status || !strings.HasPrefix(string(body), tt.body) {
			t.Errorf("GET %s: got %d %q, %v, want %d %q", tt.path, resp.StatusCode, body, err, tt.status, tt.body)
		}
	}
	server.Client().CloseIdleConnections()
}

func TestUpgradePaths(t *testing.T) {
	server := startTCP(t, Options{})
	for _, path := range []string{"/websocket", "/websocket/", "/sockjs/websocket", "/sockjs/0/x/websocket", sockjsPath} {
		server.connected(path, false).bye()
	}
	if err := server.stop(); err != nil {
		t.Error(err)
	}
}

func TestServeStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := startPipe(t, Options{Slow: time.Hour})
		raw, sockjs := server.connected(rawPath, false), server.connected(sockjsPath, true)
		raw.call("1", "fetchTasks", "{}") // is under way when the server stops
		synctest.Wait()
		deaf := server.connected(rawPath, false) // never reads again
		stopped := time.Now()
		ends := make(chan struct{})
		go func() {
			raw.wantClosed(websocket.CloseGoingAway, "the server is stopping")
			sockjs.wantClosed(websocket.CloseNormalClosure, "Normal closure")
			close(ends)
		}()
		if err := server.stop(); err != nil {
			t.Errorf("got %v, want nil after a stop", err)
		}
		if took := time.Since(stopped); took > closeTimeout {
			t.Errorf("stopping took %v, want at most %v", took, closeTimeout)
		}
		<-ends
		for _, c := range []*client{raw, sockjs, deaf} {
			c.ws.Close()
		}
		if _, err := server.dial(); err == nil {
			t.Error("the listener was left open")
		}
	})
}

func TestServeRefusesOptions(t *testing.T) {
	server := startPipe(t, Options{CPU: -1, Slow: -1, Leak: -1, CrashAt: -1, Drop: math.NaN()})
	<-server.over
	err := server.stop()
	for _, name := range []string{"cpu", "slow", "leak", "crash-at", "drop"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want it to name %s", err, name)
		}
	}
}

func TestServeLosesListener(t *testing.T) {
	l := newPipeListener()
	server := start(t, New(Options{}), l, l.dial)
	l.Close()
	<-server.over
	if err := server.stop(); err == nil || errors.Is(err, http.ErrServerClosed) {
		t.Errorf("got %v, want the listener's error", err)
	}
}
