package drive

import (
	"fmt"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/ddp"
	"github.com/ddpgate/ddpgate/scenario"
)

// watching is a session of a built-in scenario that has subscribed, and messages about other sessions' documents.
func watching(t testing.TB) (*session, [][]byte) {
	t.Helper()
	sc, err := scenario.Builtin("tasks-reactive")
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLoad(sc, Options{URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	l.t0 = time.Now()
	s := newSession(l, 7, l.t0)
	s.log.subscribing()
	s.log.subscribed(0)
	var messages [][]byte
	for i := range 1000 {
		messages = append(messages,
			fmt.Appendf(nil, `{"msg":"added","collection":"taskCollection","id":"id%d","fields":{"sessionId":"%s-%07d","description":"New Task","createdAt":{"$date":%d}}}`, i, l.name, 8+i%40, i),
			fmt.Appendf(nil, `{"msg":"removed","collection":"taskCollection","id":"id%d"}`, i))
	}
	return s, messages
}

// hear has the session told of one message.
func (s *session) hear(t testing.TB, m *ddp.Message, text []byte) {
	if err := m.Parse(text); err != nil {
		t.Fatal(err)
	}
	m.At = s.t0
	if err := s.Message(m); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkForeignMessage(b *testing.B) {
	s, messages := watching(b)
	b.ReportAllocs()
	var m ddp.Message
	for i := 0; b.Loop(); i++ {
		s.hear(b, &m, messages[i%len(messages)])
	}
}

// Another session's document costs at most an allocation now and then, when the diary grows.
func TestForeignMessageAllocations(t *testing.T) {
	s, messages := watching(t)
	var m ddp.Message
	i := 0
	got := testing.AllocsPerRun(50_000, func() {
		s.hear(t, &m, messages[i%len(messages)])
		i++
	})
	if got > 0 {
		t.Errorf("got %v allocations a message, want 0", got)
	}
	if s.data != int64(i) || len(s.log.periods[0].others) != i {
		t.Errorf("noted %d of %d", len(s.log.periods[0].others), i)
	}
}
