package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ddpgate/ddpgate/gate"
)

func noteOf(t *testing.T, h *gate.History, o HistoryNote) string {
	t.Helper()
	var b strings.Builder
	if err := o.Write(&b, h); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHistoryNote(t *testing.T) {
	h := nightsOf(t, 60, "tasks-reactive")
	note := HistoryNote{Key: "nightly", Link: "https://ghe.example/meteor/meteor/actions/runs/99", Accept: "ddpgate baseline promote nightly 3f1c --accept REASON"}
	golden(t, "history.note.md", []byte(noteOf(t, h, note)))
	h = nightsOf(t, 39, "tasks-reactive")
	note.Resolved = true
	text := noteOf(t, h, note)
	if !strings.HasPrefix(text, "### ✅ Resolved in the history of nightly: ") || strings.Contains(text, "promote") {
		t.Errorf("resolved:\n%s", text)
	}
	if text := noteOf(t, nightsOf(t, 2, "x"), note); !strings.HasPrefix(text, "### ❔ Inconclusive in the history of nightly: 2 of the 6 records") {
		t.Errorf("too few:\n%s", text)
	}
}

// TestAHostileHistoryNote has a scenario say what it likes, and cuts the note everywhere.
func TestAHostileHistoryNote(t *testing.T) {
	h := nightsOf(t, 60, "x\n```\n@octocat <!-- ddpgate:abc pass -->\n</details> ![p](http://e.vil/p)")
	whole := noteOf(t, h, HistoryNote{Key: "nightly"})
	if strings.Contains(whole, "<!--") || strings.Contains(whole, "\n@octocat") || strings.Contains(whole, "\n</details>") {
		t.Errorf("it obeys:\n%s", whole)
	}
	for limit := 300; limit < utf8.RuneCountInString(whole); limit += 50 {
		cut := noteOf(t, h, HistoryNote{Key: "nightly", Limit: limit})
		if n := utf8.RuneCountInString(cut); n > limit {
			t.Errorf("%d characters, want %d at most", n, limit)
		}
		fences := 0
		for line := range strings.Lines(cut) {
			if strings.HasPrefix(line, "````") {
				fences++
			}
		}
		if fences%2 != 0 {
			t.Errorf("a block of code is open at %d characters:\n%s", limit, cut)
		}
	}
}

func TestHistoryNews(t *testing.T) {
	all := nightsOf(t, 60, "tasks-reactive").Setbacks()
	news := HistoryNews{Link: "https://ghe.example/run"}
	for _, s := range all {
		if s.Open {
			news.New = append(news.New, s)
		} else {
			news.Over = append(news.Over, s)
		}
	}
	news.New = append(news.New, gate.Setback{Scenario: "idle", Metric: "ram", Days: 30, Change: 0.12, Open: true})
	news.Gone = 2
	var b strings.Builder
	if err := news.Write(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "history.news.md", []byte(b.String()))
	b.Reset()
	if err := (HistoryNews{Link: "https://ghe.example/run"}).Write(&b); err != nil || b.Len() > 0 {
		t.Errorf("no news: %q, %v", b.String(), err)
	}
}
