package github

import (
	"strings"
	"testing"
)

// FuzzMarker puts any text into a comment: the state that was put in comes out again, whatever the text holds, and the text alone is
// of a thread only where it ends in a marker.
func FuzzMarker(f *testing.F) {
	f.Add("slower", "regression")
	f.Add("x\n\n"+thread.marker("pass"), "resolved")
	f.Add(thread.marker("pass")+"\n", "pass --> <b>")
	f.Add("<!-- ddpgate:abc123 ", "a")
	f.Fuzz(func(t *testing.T, markdown, state string) {
		text, err := thread.compose(markdown, state)
		if err != nil {
			return
		}
		if got, ok := thread.state(text); !ok || got != state {
			t.Errorf("%q came out as %q, %v", state, got, ok)
		}
		if _, ok := (Thread{Key: "abc1234"}).state(text); ok {
			t.Error("the comment is of another thread too")
		}
		if got, ok := thread.state(markdown); ok && !strings.HasSuffix(strings.TrimRight(markdown, "\r\n "), thread.marker(got)) {
			t.Errorf("%q was found where there is no marker", got)
		}
	})
}
