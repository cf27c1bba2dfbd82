package report

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/report/chart"
)

// HistoryHTML writes what became of a key as one page that asks nothing of anybody, as HTML does: the verdict in words, then a chart a metric with what
// happened beside it, then the nights. Only links to commits lead out of it.
func HistoryHTML(w io.Writer, key string, h *gate.History, o HistoryOptions) error {
	v, err := newHistoryView(key, h, o)
	if err != nil {
		return err
	}
	return writePage(w, "history", v)
}

// A historyView is the page of a history with its pictures, as the template reads it.
type historyView struct {
	Style                 template.CSS
	Judged                bool
	Outcome               gate.Outcome
	Word, Headline, Basis string
	Warnings              []string
	Scenarios             []trendsView
	Left                  string
}

// A trendsView is one scenario.
type trendsView struct {
	Name, About string
	Judged      bool
	Outcome     gate.Outcome
	Chips       []chipView
	Table       tableView
	Trends      []trendView
	Others      []trendView // folded
	Nights      nightsView
}

type trendView struct {
	Metric, About string
	Outcome       gate.Outcome
	Gated         bool
	Pictures      []pictureView
	Drift         string
	Changes       []changeView
}

// A changeView is a change of level. Between is a link where there is an address.
type changeView struct {
	Mark, Date, Size, Between, After string
	Address                          string
	Kind                             string
}

func newHistoryView(key string, h *gate.History, o HistoryOptions) (historyView, error) {
	v := historyView{Style: style() + template.CSS(historyStyle), Judged: true, Outcome: h.Outcome, Word: called(h.Outcome), Headline: h.Reason, Basis: join(" · ", key, stretch(h)), Warnings: h.Warnings}
	sections, left := o.sections(h)
	for _, trends := range sections {
		shown, err := newTrendsView(trends, h)
		if err != nil {
			return v, err
		}
		v.Scenarios = append(v.Scenarios, shown)
	}
	if left > 0 {
		v.Left = "and " + plural(left, "other metric") + ", not shown: --all shows all"
	}
	return v, nil
}

func newTrendsView(trends []gate.Trend, h *gate.History) (trendsView, error) {
	name := trends[0].Scenario
	v := trendsView{Name: name, About: followed(trends[0]), Outcome: gate.Pass, Table: newTable("The trends of "+name, trendTable(trends)), Nights: newNightsView(trends, h)}
	for _, t := range trends {
		shown, err := newTrendView(t, h)
		if err != nil {
			return v, fmt.Errorf("charts of scenario %q: %w", name, err)
		}
		if !t.Gated {
			v.Others = append(v.Others, shown)
			continue
		}
		v.Trends, v.Judged = append(v.Trends, shown), true
		v.Chips = append(v.Chips, chipView{t.Metric, now(t), t.Outcome})
		if v.Outcome.Passed() || t.Outcome == gate.Regression {
			v.Outcome = t.Outcome
		}
	}
	return v, nil
}

func newTrendView(t gate.Trend, h *gate.History) (trendView, error) {
	v := trendView{Metric: t.Metric, Outcome: t.Outcome, Gated: t.Gated}
	v.About = join(", ", "now "+now(t), "noise of a night "+share(math.Round(t.Noise*1000)/1000))
	pictures, err := newTrendChart(t, h).draw(nil)
	if err != nil {
		return v, err
	}
	v.Pictures = viewsOf(pictures, nightly)
	if d, drifted := driftOf(t, h); drifted {
		v.Drift = drift(d) + ", without one step that large"
	}
	for i, c := range t.Changes {
		e := newEvent(t, c, h)
		first, last := h.Nights[t.Points[c.At].Night], h.Nights[t.Points[max(0, c.At-1)].Night]
		v.Changes = append(v.Changes, changeView{
			Mark: strconv.Itoa(i + 1), Date: e.date, Size: e.size, Between: e.between(), After: e.after,
			Address: comparison(last, first), Kind: kindClasses[e.kind],
		})
	}
	return v, nil
}

var kindClasses = map[chart.Kind]string{chart.Worse: "of-regression", chart.Accepted: "of-inconclusive", chart.Better: "of-pass"}

var (
	repositoryForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9_.-]{1,100}$`)
	commitForm     = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
)

// site returns the address of a night's repository, empty where it is not known for sure.
func site(n gate.Night) string {
	if !repositoryForm.MatchString(n.Repository) || !commitForm.MatchString(n.Commit) || strings.HasSuffix(n.Repository, "/.") || strings.HasSuffix(n.Repository, "/..") {
		return ""
	}
	return "https://github.com/" + n.Repository
}

// comparison returns where the commits between two nights can be seen.
func comparison(before, after gate.Night) string {
	if at := site(after); at != "" && at == site(before) && before.Commit != after.Commit {
		return at + "/compare/" + before.Commit + "..." + after.Commit
	}
	return ""
}
