package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/ddpgate/ddpgate/gate"
)

// noteWidth is how wide the text of a history is, in columns, where GitHub shows it without a bar to move it by.
const noteWidth = 100

// A HistoryNote is the history of a key in GitHub's Markdown: for a job's summary, or the issue that is kept on it.
type HistoryNote struct {
	Key      string
	Limit    int    // most characters; 0 for no limit
	Link     string // where all of the newest night can be seen, an http or https address; empty for nowhere
	Accept   string // the command that takes what is worse as it is; empty where it is not to be shown
	Resolved bool   // what was complained of is gone, if the history passes
}

// Write writes the verdict, what became worse since which commit, and the trends as text. Where it is cut, that is between two lines.
func (o HistoryNote) Write(w io.Writer, h *gate.History) error {
	var table strings.Builder
	if err := History(&table, o.Key, h, HistoryOptions{Options: Options{Width: noteWidth}}); err != nil {
		return err
	}
	at := Comment{Limit: o.Limit, Link: o.Link}
	head, body, tail := new(markdown), new(markdown), new(markdown)
	head.block("### " + o.title(h) + ": " + prose(h.Reason))
	head.list(setbacks(h.Setbacks()))
	if link := at.link("The newest night, with its record and report"); link != "" {
		head.block(link)
	}
	body.out.WriteString(fenced(strings.Split(strings.TrimRight(table.String(), "\n"), "\n")) + "\n")
	if o.Accept != "" && h.Outcome == gate.Regression {
		tail.block("It is closed once no gated metric is worse than it was. To take what is worse as it is: " + code(o.Accept))
	}
	_, err := io.WriteString(w, at.fit(head.out.String(), body.out.String(), tail.out.String()))
	return err
}

func (o HistoryNote) title(h *gate.History) string {
	word := called(h.Outcome)
	if o.Resolved && h.Outcome.Passed() {
		word = "resolved"
	}
	return signs[h.Outcome] + " " + strings.ToUpper(word[:1]) + word[1:] + " in the history of " + prose(o.Key)
}

// setbacks are items of a list: what became worse and stands, and what was accepted.
func setbacks(all []gate.Setback) []string {
	var items []string
	for _, s := range all {
		if s.Open || s.Accepted != "" {
			items = append(items, setback(s))
		}
	}
	return items
}

func setback(s gate.Setback) string {
	text := "**" + prose(s.Metric) + "** of " + prose(s.Scenario) + ": " + percent(s.Change)
	switch {
	case s.Days > 0:
		text += fmt.Sprintf(" in %d days, without one step that large", s.Days)
	case s.From != "" && s.To != "":
		text += " between " + prose(s.From) + " and " + prose(s.To)
		fallthrough
	default:
		text += fmt.Sprintf(", since %s, %s", s.Since.Format(gate.Day), plural(s.Nights, "record"))
	}
	switch {
	case s.Accepted != "":
		text += ", accepted: " + prose(s.Accepted)
	case !s.Open:
		text += ", made good since"
	}
	return text
}

// A HistoryNews is what changed about a history since it was last told, in GitHub's Markdown.
type HistoryNews struct {
	Lead string         // what is said first
	New  []gate.Setback // that came up
	Over []gate.Setback // that were accepted or made good
	Gone int            // others that are no longer seen
	Link string         // as in HistoryNote
}

// Write writes the news. It writes nothing where there is none.
func (o HistoryNews) Write(w io.Writer) error {
	m := new(markdown)
	if o.Lead != "" {
		m.block(prose(o.Lead))
	}
	for _, part := range []struct {
		title string
		all   []gate.Setback
	}{{"Worse since the last time:", o.New}, {"Over:", o.Over}} {
		if len(part.all) == 0 {
			continue
		}
		m.block(part.title)
		items := make([]string, len(part.all))
		for i, s := range part.all {
			items[i] = setback(s)
		}
		m.list(items)
	}
	if o.Gone > 0 {
		m.block("No longer seen: " + plural(o.Gone, "change") + " for the worse.")
	}
	if link := (Comment{Link: o.Link}).link("The newest night"); link != "" && m.out.Len() > 0 {
		m.block(link)
	}
	_, err := io.WriteString(w, m.out.String())
	return err
}
