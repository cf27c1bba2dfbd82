package app

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestTail(t *testing.T) {
	long := strings.Repeat("x", longest)
	tests := []struct {
		name, wrote string
		n           int
		want        []string
	}{
		{"nothing", "", 5, nil},
		{"lines", "a\nb\n", 5, []string{"a", "b"}},
		{"no end", "a\nb", 5, []string{"a", "b"}},
		{"fewer", "a\nb\nc\n", 2, []string{"b", "c"}},
		{"none wanted", "a\n", 0, nil},
		{"negative", "a\n", -1, nil},
		{"more than are kept", "1\n2\n3\n4\n5\n6\n", 9, []string{"3", "4", "5", "6"}},
		{"blank lines", "a\n\nb\n", 5, []string{"a", "", "b"}},
		{"windows", "a\r\nb\r\n", 5, []string{"a", "b"}},
		{"not quite too long", long + "\n", 5, []string{long}},
		{"too long", long + "y\nz\n", 5, []string{long + "…", "z"}},
		{"too long without end", long + "yyy", 5, []string{long + "…"}},
		{"no text", "a\xff\xfeb\n", 5, []string{"a\uFFFDb"}},
		{"ended", "a\n" + "\n" + endMark + "\n", 5, []string{"a"}},
		{"ended in a line", "a\nb" + "\n" + endMark + "\n", 5, []string{"a", "b"}},
		{"ended and full", "1\n2\n3\n4\n5\n" + "\n" + endMark + "\n" + "6\n7\n", 9, []string{"4", "5", "6", "7"}},
		{"ended without a word", "\n" + endMark + "\n", 5, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newTail(4)
			if n, err := o.Write([]byte(tt.wrote)); n != len(tt.wrote) || err != nil {
				t.Errorf("Write: got %d, %v", n, err)
			}
			if got := o.last(tt.n); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			marked := false
			select {
			case <-o.marked:
				marked = true
			default:
			}
			if want := strings.Contains(tt.wrote, endMark); marked != want {
				t.Errorf("got marked %v, want %v", marked, want)
			}
		})
	}
}

// However output comes in pieces, the lines are the same.
func TestTailInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n\r\x00é")), 0, 200, -1).Draw(t, "text")
		limit := rapid.IntRange(1, 9).Draw(t, "limit")
		whole, pieces := newTail(limit), newTail(limit)
		whole.Write([]byte(text))
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			pieces.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		if got, want := pieces.last(20), whole.last(20); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
		lines := strings.Split(text, "\n")
		if n := len(lines) - 1; lines[n] == "" {
			lines = lines[:n]
		}
		for i := range lines {
			lines[i] = strings.TrimSuffix(lines[i], "\r")
		}
		// The limit is on whole lines; one that was begun comes on top.
		if got, want := whole.last(limit), lines[max(0, len(lines)-limit):]; !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestTailFromSeveralGoroutines(t *testing.T) {
	o := newTail(1000)
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 100 {
				fmt.Fprintf(o, "%d %d\n", w, i)
				o.last(3)
			}
		})
	}
	writers.Wait()
	if got := len(o.last(1000)); got != 400 {
		t.Errorf("got %d lines, want 400", got)
	}
}
