package main

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/github"
	"github.com/ddpgate/ddpgate/report"
)

// A watch is a history on its way to the issue that is kept on it.
type watch struct {
	history    *gate.History
	key, store string
	link       string // where the newest night is
}

// An issue's state is stateResolved, or stateWorse and an id of each setback that is open, so that a night is told from the one before.
const (
	stateWorse = "worse"
	stateSep   = "."
	mostIDs    = 30 // so that a state is not too long
)

// edit is what becomes of the issue. Who closes it by hand has seen what it says: it stays closed, and is kept up to date, until
// something else gets worse. What is not settled changes nothing.
func (w watch) edit(found github.Issue) github.Edit {
	before, live := told(found.State)
	switch {
	case w.history.Outcome == gate.Regression:
		return w.worse(found, before, live)
	case w.history.Outcome.Passed() && live:
		return w.resolved(found, before)
	}
	return github.Edit{}
}

// told returns the ids that a state keeps; live is false for the state of what is over, and for none.
func told(state string) (ids []string, live bool) {
	parts := strings.Split(state, stateSep)
	return parts[1:], parts[0] == stateWorse
}

// worse writes what is worse. It is told once: in a new issue, or below one that is open.
func (w watch) worse(found github.Issue, before []string, live bool) github.Edit {
	all, gone := w.setbacks(before)
	news, state := report.HistoryNews{Link: w.link}, []string{stateWorse}
	for _, s := range all {
		if !s.Open || len(state) > mostIDs {
			continue
		}
		state = append(state, s.ids[0])
		if !s.told {
			news.New = append(news.New, s.Setback)
		}
	}
	edit := github.Edit{
		Title: w.title(), State: strings.Join(state, stateSep),
		Body: note(report.HistoryNote{Key: w.key, Limit: mostComment, Link: w.link, Accept: w.accept()}, w.history),
		New:  !found.Open && (!live || len(news.New) > 0),
	}
	if found.Open {
		news.Over, news.Gone = over(all), gone
		edit.Comment = written(news)
	}
	return edit
}

// resolved closes the issue.
func (w watch) resolved(found github.Issue, before []string) github.Edit {
	edit := github.Edit{
		Close: true, State: stateResolved,
		Body: note(report.HistoryNote{Key: w.key, Limit: mostComment, Link: w.link, Resolved: true}, w.history),
	}
	if found.Open {
		all, gone := w.setbacks(before)
		edit.Comment = written(report.HistoryNews{Lead: "Resolved: " + w.history.Reason + ".", Link: w.link, Over: over(all), Gone: gone})
	}
	return edit
}

// A knownSetback is one that may have been told before.
type knownSetback struct {
	gate.Setback
	ids  []string // its own, and others that it may have had
	told bool
}

// setbacks returns what became worse, and how many were told before, by the ids, that are no longer seen. One that is placed on another night now is known by the
// nearest that it may have been placed on.
func (w watch) setbacks(before []string) (all []knownSetback, gone int) {
	most := 0
	for _, s := range w.history.Setbacks() {
		k := knownSetback{Setback: s, ids: setbackIDs(s)}
		all, most = append(all, k), max(most, len(k.ids))
	}
	left := make(map[string]bool)
	for _, id := range before {
		left[id] = true
	}
	for near := range most {
		for i := range all {
			if k := &all[i]; !k.told && near < len(k.ids) && left[k.ids[near]] {
				k.told = true
				delete(left, k.ids[near])
			}
		}
	}
	return all, len(left)
}

// over returns, of the setbacks that were told before, those that were accepted or made good.
func over(all []knownSetback) []gate.Setback {
	var over []gate.Setback
	for _, s := range all {
		if s.told && !s.Open {
			over = append(over, s.Setback)
		}
	}
	return over
}

// setbackIDs names a setback by its metric and the records that it may begin with, the most likely first.
func setbackIDs(s gate.Setback) []string {
	records := s.Records
	if len(records) == 0 {
		records = []string{"drift"}
	}
	var ids []string
	for _, id := range records {
		ids = append(ids, shortHash(3, fmt.Sprintf("%s\x00%s\x00%s", s.Scenario, s.Metric, id)))
	}
	return ids
}

// title is text and no Markdown.
func (w watch) title() string {
	return "Performance of " + w.key + ": " + strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, w.history.Reason)
}

// accept is the command that takes the newest night as it is that says anything of what is worse: another might not be taken.
func (w watch) accept() string {
	newest := 0
	for _, t := range w.history.Trends {
		if t.Gated && t.Outcome == gate.Regression {
			newest = max(newest, t.Points[len(t.Points)-1].Night)
		}
	}
	s := fmt.Sprintf("ddpgate baseline promote %s %.19s --accept REASON", w.key, w.history.Nights[newest].ID)
	if w.store != "" {
		s += " --store " + w.store
	}
	return s
}

// note returns a history's Markdown.
func note(o report.HistoryNote, h *gate.History) string {
	var out strings.Builder
	_ = o.Write(&out, h) // a strings.Builder takes everything
	return out.String()
}

func written(news report.HistoryNews) string {
	var out strings.Builder
	_ = news.Write(&out)
	return out.String()
}
