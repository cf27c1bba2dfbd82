package drive

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/ddpgate/ddpgate/internal/tasksapp"
	"github.com/ddpgate/ddpgate/scenario"
)

// tasks runs the embedded tasks app for the test and returns its address.
func tasks(t testing.TB, o tasksapp.Options) string {
	t.Helper()
	return served(t, func(ctx context.Context, l net.Listener) error { return tasksapp.New(o).Serve(ctx, l) })
}

func served(t testing.TB, serve func(context.Context, net.Listener) error) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// parsed is a scenario from YAML: one session over raw WebSocket unless it says something else.
func parsed(t testing.TB, session string, more ...string) scenario.Scenario {
	t.Helper()
	head := "name: test\ntransport: websocket\ncompression: \"off\"\ntimeout: 20s\n"
	if !slices.ContainsFunc(more, func(s string) bool { return strings.HasPrefix(s, "arrivals:") }) {
		head += "arrivals: {rate: 1/s, for: 1s}\n"
	}
	for _, line := range more {
		key, _, _ := strings.Cut(line, ":")
		for _, old := range strings.Split(head, "\n") {
			if strings.HasPrefix(old, key+":") {
				head = strings.Replace(head, old+"\n", "", 1)
			}
		}
		head += line + "\n"
	}
	s, err := scenario.Parse("test.yml", []byte(head+"session:\n"+session))
	if err != nil {
		t.Fatal(err)
	}
	return *s
}

// A message is what an app is told or tells.
type message = map[string]any

// An app is a DDP server that a test writes: what it does with each message of a client. It speaks raw WebSocket.
type app struct {
	t      testing.TB
	answer func(c *client, m message)
	mu     sync.Mutex
	heard  []message // in all, connect messages aside
}

// A client is one client of an app.
type client struct {
	*app
	ws    *websocket.Conn
	index int // in the order of connecting
}

// tell sends messages, each a JSON text.
func (c *client) tell(messages ...string) {
	for _, m := range messages {
		if err := c.ws.WriteMessage(websocket.TextMessage, []byte(m)); err != nil {
			return // the client has left
		}
	}
}

// close ends the connection as a server does.
func (c *client) close(code int, reason string) {
	_ = c.ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason)) // the client may have left
}

// done answers a method call in full.
func (c *client) done(m message, result string) {
	id := m["id"].(string)
	c.tell(`{"msg":"result","id":"`+id+`","result":`+result+`}`, `{"msg":"updated","methods":["`+id+`"]}`)
}

// ready answers a subscription.
func (c *client) ready(m message) { c.tell(`{"msg":"ready","subs":["` + m["id"].(string) + `"]}`) }

// serve runs the app for the test and returns its address.
func (a *app) serve() string {
	clients := 0
	var open sync.WaitGroup
	mux := http.NewServeMux()
	mux.HandleFunc("/websocket", func(w http.ResponseWriter, r *http.Request) {
		ws, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			a.t.Error(err)
			return
		}
		defer ws.Close()
		a.mu.Lock()
		c := &client{a, ws, clients}
		clients++
		a.mu.Unlock()
		c.listen()
	})
	return served(a.t, func(ctx context.Context, l net.Listener) error {
		server := &http.Server{Handler: mux}
		open.Go(func() { _ = server.Serve(l) }) // the error is that it was closed
		<-ctx.Done()
		err := server.Close()
		open.Wait()
		return err
	})
}

func (c *client) listen() {
	for {
		_, b, err := c.ws.ReadMessage()
		if err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(b, &m); err != nil {
			c.t.Errorf("the driver sent %s", b)
			return
		}
		if m["msg"] == "connect" {
			c.tell(`{"msg":"connected","session":"S"}`)
			continue
		}
		c.mu.Lock()
		c.heard = append(c.heard, m)
		c.mu.Unlock()
		c.answer(c, m)
	}
}

// causes returns a part's failures as cause and count.
func causes(p *Part) map[string]int {
	all := make(map[string]int)
	for _, f := range p.Failures {
		all[f.Cause] = f.Count
	}
	return all
}
