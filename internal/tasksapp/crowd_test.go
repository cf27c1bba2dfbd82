package tasksapp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gorilla/websocket"
)

// Fifty clients at once, over all forms of wire: each sees its own writes before they are called updated, and all see all.
func TestCrowd(t *testing.T) {
	const clients, tasks = 52, 2
	server := startTCP(t, Options{})
	seen := make([]map[string]bool, clients)
	var everybodySubscribed, group sync.WaitGroup
	everybodySubscribed.Add(clients)
	for i := range clients {
		path := rawPath
		if i%2 == 0 {
			path = sockjsPath
		}
		c := server.connected(path, i%4 < 2)
		m := &mirror{client: c, own: fmt.Sprintf("session-%d", i), tasks: make(map[string]bool), seen: make(map[string]bool)}
		seen[i] = m.seen
		group.Go(func() {
			c.send(`{"msg":"sub","id":"s","name":"fetchTasks","params":[]}`)
			c.want(`{"msg":"ready","subs":["s"]}`)
			everybodySubscribed.Done()
			everybodySubscribed.Wait()
			if err := m.work(tasks, clients*tasks); err != nil {
				t.Errorf("client %d: %v", i, err)
			}
			c.bye()
		})
	}
	group.Wait()
	for i := range seen {
		if len(seen[i]) != clients*tasks {
			t.Errorf("client %d saw %d tasks, want %d", i, len(seen[i]), clients*tasks)
		}
	}
	if err := server.stop(); err != nil {
		t.Error(err)
	}
}

// A mirror keeps a client's copy of the collection.
type mirror struct {
	client  *client
	own     string
	tasks   map[string]bool
	seen    map[string]bool
	removed int
}

// answer is the part of a server's message that a mirror looks at.
type answer struct {
	Msg, ID    string
	Methods    []string
	Result     json.RawMessage
	Collection string
	Fields     struct{ SessionID string }
}

// work inserts and removes tasks and stays until all that everybody inserts has come and gone.
func (m *mirror) work(tasks, all int) error {
	for i := range tasks {
		var id string
		result, err := m.do(fmt.Sprintf("i%d", i), "insertTask", fmt.Sprintf(`{"sessionId":%q,"description":"é\" %d"}`, m.own, i))
		if err == nil {
			err = json.Unmarshal(result, &id)
		}
		if err != nil {
			return err
		}
		if !m.tasks[id] {
			return fmt.Errorf("task %s was updated before it was added", id)
		}
		if i%2 == 0 {
			continue // removeAllTasks takes it
		}
		if result, err = m.do(fmt.Sprintf("r%d", i), "removeTask", fmt.Sprintf(`{"taskId":%q}`, id)); err != nil || string(result) != "1" {
			return fmt.Errorf("removeTask: got %s, %w, want 1", result, err)
		}
		if m.tasks[id] {
			return fmt.Errorf("task %s was updated before it was removed", id)
		}
	}
	if result, err := m.do("all", "removeAllTasks", fmt.Sprintf(`{"sessionId":%q}`, m.own)); err != nil || string(result) != fmt.Sprint(tasks/2) {
		return fmt.Errorf("removeAllTasks: got %s, %w, want %d", result, err, tasks/2)
	}
	for m.removed < all {
		if _, err := m.next(); err != nil {
			return err
		}
	}
	return nil
}

// do calls a method and waits for both of its answers.
func (m *mirror) do(id, method, argument string) (result json.RawMessage, err error) {
	m.client.call(id, method, argument)
	for updated := false; result == nil || !updated; {
		a, err := m.next()
		switch {
		case err != nil:
			return nil, err
		case a.Msg == "result" && a.ID == id:
			result = a.Result
		case a.Msg == "updated" && slices.Contains(a.Methods, id):
			updated = true
		}
	}
	return result, nil
}

func (m *mirror) next() (a answer, err error) {
	text, err := m.client.message()
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return a, fmt.Errorf("%q: %w", text, err)
	}
	switch a.Msg {
	case "added":
		if m.seen[a.ID] || a.Collection != "taskCollection" {
			return a, fmt.Errorf("added twice, or wrong: %s", text)
		}
		m.tasks[a.ID], m.seen[a.ID] = true, true
	case "removed":
		if !m.tasks[a.ID] {
			return a, fmt.Errorf("removed what was not there: %s", text)
		}
		delete(m.tasks, a.ID)
		m.removed++
	}
	return a, nil
}

// A subscriber that stops reading is cut off and holds up nobody.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, app := newPipeListener(), New(Options{})
		app.backlog = 1 << 20
		server := start(t, app, l, l.dial)
		stuck, writer := server.connected(sockjsPath, false), server.connected(rawPath, false)
		for _, c := range []*client{stuck, writer} {
			c.send(`{"msg":"sub","id":"s","name":"fetchTasks","params":[]}`)
		}
		writer.want(`{"msg":"ready"`)
		text := strings.Repeat("x", 1<<17)
		for i := range app.backlog/len(text) + 2 {
			id := fmt.Sprint(i)
			writer.call(id, "insertTask", fmt.Sprintf(`{"sessionId":"a","description":%q}`, text))
			if got := len(writer.until(`{"msg":"updated","methods":["` + id + `"]}`)); got != 2 {
				t.Fatalf("insert %d: got %d messages before updated, want the result and the data", i, got)
			}
		}
		wantLost(t, stuck)
		writer.bye()
		if err := server.stop(); err != nil {
			t.Error(err)
		}
	})
}

// A client that takes nothing at all is cut off even when there is little to send.
func TestStuckReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := startPipe(t, Options{})
		stuck := server.connected(rawPath, false)
		stuck.send(`{"msg":"ping"}`)
		synctest.Wait()
		wait(t.Context(), writeTimeout+closeTimeout)
		wantLost(t, stuck)
		if err := server.stop(); err != nil {
			t.Error(err)
		}
	})
}

// wantLost reads what came before the connection was cut, and wants it to have been cut without a close frame.
func wantLost(t *testing.T, c *client) {
	t.Helper()
	for {
		_, err := c.frame()
		if _, closed := err.(*websocket.CloseError); closed && !websocket.IsCloseError(err, websocket.CloseAbnormalClosure) {
			t.Fatalf("got %v, want the connection cut", err)
		}
		if err != nil {
			c.ws.Close()
			return
		}
	}
}
