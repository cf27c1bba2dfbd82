package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/ddpgate/ddpgate/runner"
)

// A ticker tells how far long work has come: on a terminal by one line that is written over and over, elsewhere by a plain
// line now and then. Lines that are said stay. It may be used by several goroutines.
type ticker struct {
	w     io.Writer
	live  bool
	width int // of the terminal
	every time.Duration

	mu    sync.Mutex
	shown bool
	last  time.Time
}

// How often a line is written over, and how often a plain one is added.
const (
	liveEvery  = 200 * time.Millisecond
	plainEvery = 30 * time.Second
)

// ticker returns where progress is told: stderr.
func (c *command) ticker() *ticker {
	t := &ticker{w: c.Stderr, every: plainEvery, last: time.Now()}
	if width, ok := terminal(c.Stderr); ok && c.Env("CI") == "" && c.Env("TERM") != "dumb" {
		t.live, t.width, t.every = true, width, liveEvery
	}
	return t
}

// terminal returns the width of the terminal that w is; ok is false if it is none.
func terminal(w io.Writer) (width int, ok bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return 0, false
	}
	width, _, err := term.GetSize(f.Fd())
	if err != nil || width <= 0 {
		width = 80
	}
	return width, true
}

// colour says whether text for w may be coloured.
func (c *command) colour(w io.Writer) bool {
	_, ok := terminal(w)
	return ok && c.Env("NO_COLOR") == "" && c.Env("TERM") != "dumb"
}

// show tells how far a record has come, unless it was told just now.
func (t *ticker) show(p runner.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.last) < t.every {
		return
	}
	t.last = time.Now()
	line := describeProgress(p)
	if !t.live {
		fmt.Fprintln(t.w, line)
		return
	}
	fmt.Fprint(t.w, "\r"+ansi.Truncate(line, t.width-1, "…")+ansi.EraseLineRight)
	t.shown = true
}

// say writes a line that stays.
func (t *ticker) say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wipe()
	fmt.Fprintf(t.w, format+"\n", args...)
	if !t.live {
		t.last = time.Now()
	}
}

// quote writes another program's lines so that they stay, without what a terminal would obey.
func (t *ticker) quote(lines []string) {
	for _, line := range lines {
		t.say("  | %s", strings.Map(func(r rune) rune {
			if unicode.IsPrint(r) {
				return r
			}
			return ' '
		}, line))
	}
}

// clear takes the line that is written over away.
func (t *ticker) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wipe()
}

func (t *ticker) wipe() {
	if t.shown {
		fmt.Fprint(t.w, "\r"+ansi.EraseLineRight)
		t.shown = false
	}
}

// describeProgress is one line: which run of how many, what it is at, how long all will take.
func describeProgress(p runner.Progress) string {
	parts := []string{runName(p), string(p.Phase)}
	if p.Phase == runner.Driving && p.Load.Planned > 0 {
		parts[1] = fmt.Sprintf("%d of %d sessions", p.Load.Over, p.Load.Planned)
		if p.Load.Failed > 0 {
			parts[1] += fmt.Sprintf(", %d failed", p.Load.Failed)
		}
	}
	return strings.Join(append(parts, "about "+roughly(p.Left)+" left"), " · ")
}

// runName names a run, such as "tasks-reactive, head, run 2 of 5".
func runName(p runner.Progress) string {
	name := p.Scenario
	if p.Arms > 1 {
		name += ", " + p.Arm
	}
	if p.Run == 0 {
		return name + ", warm-up"
	}
	return fmt.Sprintf("%s, run %d of %d", name, p.Run, p.Runs)
}

// roughly writes a length of time for people: 8s, 1m20s, 2h05m.
func roughly(d time.Duration) string {
	switch s := int(d.Round(time.Second).Seconds()); {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	default:
		return fmt.Sprintf("%dh%02dm", s/3600, s%3600/60)
	}
}
