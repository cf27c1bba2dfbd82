package speed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// floor is the least that a client on gorilla/websocket can do and still run the session: it looks at the first bytes of a
// frame, and reads only the answers to its own calls. It keeps no copy, no latency and no count but that of data messages.
func floor(ctx context.Context, j job) report {
	n := int(j.Rate * j.Seconds)
	var ok, data atomic.Int64
	var wg sync.WaitGroup
	begin := time.Now()
	for i := range n {
		select {
		case <-time.After(time.Until(begin.Add(seconds(float64(i) / j.Rate)))):
		case <-ctx.Done():
			return report{}
		}
		wg.Go(func() {
			c := &bare{think: seconds(j.ThinkMS / 1000), name: fmt.Sprintf("floor-%07d", i), told: make(chan string, 8)}
			if err := c.session(strings.Replace(j.URL, "http://", "ws://", 1) + "/websocket"); err == nil {
				ok.Add(1)
			}
			data.Add(c.data)
		})
	}
	wg.Wait()
	return report{OK: int(ok.Load()), Data: data.Load(), Time: time.Since(begin).Seconds()}
}

// A bare is a session of the floor's: one goroutine acts, another reads and tells it what is its own.
type bare struct {
	think time.Duration
	name  string
	ws    *websocket.Conn
	write sync.Mutex
	told  chan string // closed when the connection ends
	data  int64
	calls int
}

func (c *bare) session(url string) (err error) {
	if c.ws, _, err = websocket.DefaultDialer.Dial(url, nil); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.read()
	}()
	defer func() {
		c.ws.Close()
		for range c.told { // lets the reader end
		}
		<-done
	}()
	if err := c.act(); err != nil {
		return err
	}
	return c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""), time.Now().Add(time.Second))
}

func (c *bare) act() error {
	if err := c.ask("connected", `{"msg":"connect","version":"1","support":["1"]}`); err != nil {
		return err
	}
	if err := c.ask("ready", `{"msg":"sub","id":"s","name":"fetchTasks","params":[]}`); err != nil {
		return err
	}
	if _, err := c.call("removeAllTasks", `{"sessionId":%q}`, c.name); err != nil {
		return err
	}
	ids := make([]string, 20)
	for i := range ids {
		var err error
		if ids[i], err = c.call("insertTask", `{"sessionId":%q,"description":"New Task %d"}`, c.name, i+1); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if _, err := c.call("removeTask", `{"taskId":%q}`, id); err != nil {
			return err
		}
	}
	_, err := c.call("removeAllTasks", `{"sessionId":%q}`, c.name)
	return err
}

// call thinks, calls, and waits for the result and, where it changes one document, for the own copy to show it: the embedded app
// sends data between result and updated.
func (c *bare) call(method, params string, args ...any) (string, error) {
	<-time.After(rand.N(c.think))
	c.calls++
	err := c.send(fmt.Sprintf(`{"msg":"method","id":"%d","method":%q,"params":[%s]}`, c.calls, method, fmt.Sprintf(params, args...)))
	if err != nil {
		return "", err
	}
	id, updated, result := "", false, false
	for !updated || !result {
		switch what, ok := <-c.told; {
		case !ok:
			return "", io.ErrUnexpectedEOF
		case what == "updated":
			updated = true
		case strings.HasPrefix(what, "result "):
			id, result = what[len("result "):], true
		}
	}
	return id, nil
}

func (c *bare) ask(answer, message string) error {
	if err := c.send(message); err != nil {
		return err
	}
	for what := range c.told {
		if what == answer {
			return nil
		}
	}
	return io.ErrUnexpectedEOF
}

func (c *bare) send(message string) error {
	c.write.Lock()
	defer c.write.Unlock()
	return c.ws.WriteMessage(websocket.TextMessage, []byte(message))
}

// read tells apart what comes by its first bytes.
func (c *bare) read() {
	defer close(c.told)
	var buf bytes.Buffer
	for {
		_, r, err := c.ws.NextReader()
		if err != nil {
			return
		}
		buf.Reset()
		if _, err := buf.ReadFrom(r); err != nil {
			return
		}
		switch b := buf.Bytes(); {
		case bytes.HasPrefix(b, []byte(`{"msg":"added"`)), bytes.HasPrefix(b, []byte(`{"msg":"removed"`)):
			c.data++
		case bytes.HasPrefix(b, []byte(`{"msg":"result"`)):
			var m struct{ Result any }
			if json.Unmarshal(b, &m) != nil {
				return
			}
			c.told <- fmt.Sprintf("result %v", m.Result)
		case bytes.HasPrefix(b, []byte(`{"msg":"updated"`)):
			c.told <- "updated"
		case bytes.HasPrefix(b, []byte(`{"msg":"ready"`)):
			c.told <- "ready"
		case bytes.HasPrefix(b, []byte(`{"msg":"connected"`)):
			c.told <- "connected"
		case bytes.HasPrefix(b, []byte(`{"msg":"ping"`)):
			if c.send(`{"msg":"pong"}`) != nil {
				return
			}
		}
	}
}
