package app

import (
	"bytes"
	"slices"
	"sync"
)

// longest is how many bytes of a line are kept.
const longest = 4096

// A tail keeps the last lines written to it. It may be used from several goroutines.
type tail struct {
	mu    sync.Mutex
	limit int
	lines []string // a ring once it is full
	next  int      // where the next line goes in a full ring
	line  []byte   // begun, not yet ended
	cut   bool     // the line was too long

	marked chan struct{} // closed when endMark has come, which is not kept
}

func newTail(limit int) *tail { return &tail{limit: limit, marked: make(chan struct{})} }

// Write takes output in pieces of any size. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	for {
		before, after, found := bytes.Cut(p, []byte{'\n'})
		room := longest - len(t.line)
		t.cut = t.cut || len(before) > room
		t.line = append(t.line, before[:min(room, len(before))]...)
		if !found {
			return n, nil
		}
		t.end()
		p = after
	}
}

// end closes the line that was begun.
func (t *tail) end() {
	line := t.text()
	t.line, t.cut = t.line[:0], false
	if line == endMark {
		t.mark()
		return
	}
	if len(t.lines) < t.limit {
		t.lines = append(t.lines, line)
		return
	}
	t.lines[t.next] = line
	t.next = (t.next + 1) % t.limit
}

// mark notes that the process has ended. The line break before the mark was the guard's own if it ended nothing.
func (t *tail) mark() {
	select {
	case <-t.marked:
	default:
		close(t.marked)
	}
	newest := (t.next + len(t.lines) - 1) % max(1, len(t.lines))
	if len(t.lines) > 0 && t.lines[newest] == "" {
		t.lines = slices.Concat(t.lines[t.next:], t.lines[:t.next])
		t.lines, t.next = t.lines[:len(t.lines)-1], 0
	}
}

func (t *tail) text() string {
	line := string(bytes.ToValidUTF8(bytes.TrimSuffix(t.line, []byte{'\r'}), []byte("\uFFFD")))
	if t.cut {
		line += "…"
	}
	return line
}

// last returns the last n lines, oldest first, the one that was not ended included.
func (t *tail) last(n int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := slices.Concat(t.lines[t.next:], t.lines[:t.next])
	if len(t.line) > 0 {
		lines = append(lines, t.text())
	}
	return lines[max(0, len(lines)-max(0, n)):]
}
