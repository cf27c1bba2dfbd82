package tasksapp

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := startPipe(t, Options{Slow: 10 * time.Second})
		c := server.connected(rawPath, false)
		began := time.Now()
		c.call("1", "fetchTasks", "{}")
		c.call("2", "fetchTasks", "{}")
		c.send(`{"msg":"ping","id":"p"}`)
		c.want(`{"msg":"pong","id":"p"}`)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("a ping waited %v for a method", waited)
		}
		for i, want := range []time.Duration{10 * time.Second, 20 * time.Second} {
			c.until(fmt.Sprintf(`{"msg":"result","id":"%d"`, i+1))
			if took := time.Since(began); took != want {
				t.Errorf("method %d ended after %v, want %v: one after the other", i+1, took, want)
			}
		}
		c.bye()
		if err := server.stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestLeak(t *testing.T) {
	const leak, sessions = 4 << 20, 5
	server := startTCP(t, Options{Leak: leak})
	server.connected(rawPath, false).bye()
	before := heap()
	for range sessions {
		server.connected(rawPath, false).bye()
	}
	if grown := heap() - before; grown < sessions*leak-leak/2 || grown > sessions*leak+leak/2 {
		t.Errorf("%d sessions left %d bytes behind, want about %d", sessions, grown, sessions*leak)
	}
	if err := server.stop(); err != nil {
		t.Error(err)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestCrashAt(t *testing.T) {
	server := startTCP(t, Options{CrashAt: 3})
	first, second, third := server.connected(rawPath, false), server.connected(sockjsPath, true), server.client(rawPath, false)
	first.call("1", "fetchTasks", "{}")
	first.until(`{"msg":"result","id":"1"`)
	third.send(connect1)
	<-server.over
	for i, c := range []*client{first, second, third} {
		if frame, err := c.frame(); err == nil || strings.Contains(err.Error(), "1001") {
			t.Errorf("client %d: got %q, %v, want the connection cut", i+1, frame, err)
		}
		c.ws.Close()
	}
	if err := server.stop(); !errors.Is(err, ErrCrashed) {
		t.Errorf("got %v, want %v", err, ErrCrashed)
	}
}

// dropped returns which of the added messages of some inserts a subscriber got.
func dropped(t *testing.T, opts Options, inserts int) (got []bool) {
	server := startPipe(t, opts)
	c := server.connected(rawPath, false)
	c.send(`{"msg":"sub","id":"s","name":"fetchTasks","params":[]}`)
	c.want(`{"msg":"ready","subs":["s"]}`)
	for i := range inserts {
		id := fmt.Sprint(i)
		c.call(id, "insertTask", `{"sessionId":"a","description":"b"}`)
		got = append(got, len(c.until(`{"msg":"updated","methods":["`+id+`"]}`)) == 2) // the result and the data
	}
	c.bye()
	if err := server.stop(); err != nil {
		t.Error(err)
	}
	return got
}

func TestDrop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const inserts = 1000
		share := func(got []bool) float64 {
			lost := 0
			for _, arrived := range got {
				if !arrived {
					lost++
				}
			}
			return float64(lost) / float64(len(got))
		}
		first := dropped(t, Options{Drop: 0.3, Seed: 7}, inserts)
		if got, five := share(first), 5*math.Sqrt(0.3*0.7/inserts); math.Abs(got-0.3) > five {
			t.Errorf("lost %.3f of the data messages, want 0.3 ± %.3f", got, five)
		}
		if again := dropped(t, Options{Drop: 0.3, Seed: 7}, inserts); fmt.Sprint(again) != fmt.Sprint(first) {
			t.Error("the same seed lost other messages")
		}
		if other := dropped(t, Options{Drop: 0.3, Seed: 8}, inserts); fmt.Sprint(other) == fmt.Sprint(first) {
			t.Error("another seed lost the same messages")
		}
		if got := share(dropped(t, Options{Drop: 1}, 20)); got != 1 {
			t.Errorf("lost %v of the data messages, want all", got)
		}
		if got := share(dropped(t, Options{}, 20)); got != 0 {
			t.Errorf("lost %v of the data messages without that fault", got)
		}
	})
}
