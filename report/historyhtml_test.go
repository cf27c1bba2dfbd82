package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
)

func TestHistoryGolden(t *testing.T) {
	for _, name := range []string{"eventful", "paired"} {
		h := histories(t)[name]
		golden(t, "history."+name+".html", historyIn(t, "html", h))
		golden(t, "history."+name+".svg", historyIn(t, "svg", h))
	}
}

func TestHistoryPageObeysNothing(t *testing.T) {
	for name, h := range histories(t) {
		page := historyIn(t, "html", h)
		if found, _ := live(t, page); len(found) > 0 {
			t.Errorf("%s: obeyed: %q", name, found)
		}
		for _, out := range [][]byte{page, historyIn(t, "svg", h)} {
			for _, r := range string(out) {
				if r != '\n' && r != '\u00a0' && !unicode.IsPrint(r) {
					t.Fatalf("%s has a character that does not print: %U", name, r)
				}
			}
		}
		if err := xml.Unmarshal(historyIn(t, "svg", h), new(struct{ XMLName xml.Name })); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHistoryPageKeepsItsShape puts hostile text into names, commits and reasons: the page has the elements that it has with harmless ones.
func TestHistoryPageKeepsItsShape(t *testing.T) {
	page := func(text string) (found []string, elements map[string]int) {
		s := hostileTale(text)
		all := s.levels
		s.levels = func(n int) map[string]float64 {
			return map[string]float64{"time": all(n)["time"], "ram": all(n)["ram"]}
		}
		return live(t, historyIn(t, "html", s.told(t)))
	}
	_, want := page("harmless")
	rapid.Check(t, func(rt *rapid.T) {
		s := "x" + nasty(rt)
		found, got := page(s)
		if len(found) > 0 || !maps.Equal(got, want) {
			rt.Fatalf("%q: obeyed %q; the page has %v, want %v", s, found, got, want)
		}
	})
}

// TestHistoryPageTells looks for what must be read on a page.
func TestHistoryPageTells(t *testing.T) {
	all := histories(t)
	for name, want := range map[string][]string{
		"eventful": {"Regression", "time of tasks-reactive changed by +12.4\u00a0% between a72b20062ec2 and b7103ca278a7", "main · 100 records, 2026-01-01 to 2026-04-10",
			"2026-01-26 +22.2\u00a0% with the machine", "30 records since, OPEN", "1 machine +22.2\u00a0%", "2 +12.4\u00a0% open", "accepted: the new driver keeps its buffers", "+16.5\u00a0% accepted",
			"left out: another load than the newest record's", "left out: no run may be judged: the driver used 91\u00a0% of its processors", "spike: ram", "AMD EPYC 7763, 4 cores, linux, amd64",
			"A triangle at the foot is where the machines changed.", "An arrow is a value beyond the axis.", "Not gated: 1", "and 1 other metric, not shown"},
		"paired":   {"head as a ratio to base", "held against", "3.0.4", "reference -8.2\u00a0%", "the builds to hold against changed"},
		"fleet":    {"The machines come and go: values are drawn as they would be with the newest.", "The machines changed"},
		"creeping": {"+10.3\u00a0% in 90 days", "The shaded nights were held against each other."},
		"quiet":    {"no gated metric is worse than it was", "No change of level."},
		"short":    {"3 of the 6 records that it takes to say anything"},
		"none":     {"there is no night with a gated metric"},
		"hostile":  {`@octocat #12 <img src=x onerror=y> <!-- ddpgate -->`},
	} {
		doc, err := html.Parse(bytes.NewReader(historyIn(t, "html", all[name])))
		if err != nil {
			t.Fatal(err)
		}
		page := strings.ReplaceAll(wordsOf(doc), " %", "\u00a0%")
		for _, s := range want {
			if !strings.Contains(strings.ToLower(page), strings.ToLower(s)) {
				t.Errorf("%s does not say %q:\n%.4000s", name, s, page)
			}
		}
	}
}

// TestHistoryChartsHaveWords looks at each chart: an alternative text with what happened, and its figures in the table of nights.
func TestHistoryChartsHaveWords(t *testing.T) {
	doc, err := html.Parse(bytes.NewReader(historyIn(t, "html", histories(t)["eventful"])))
	if err != nil {
		t.Fatal(err)
	}
	var alts, headers []string
	cells := 0
	for n := range doc.Descendants() {
		switch {
		case n.Data == "svg" && n.Type == html.ElementNode:
			alts = append(alts, attribute(n, "aria-label"))
		case n.Data == "th" && attribute(n.Parent.Parent.Parent.Parent.Parent, "class") == "nights":
			headers = append(headers, wordsOf(n))
		case n.Data == "td" && attribute(n.Parent.Parent.Parent.Parent.Parent, "class") == "nights":
			cells++
		}
	}
	if len(alts) != 6 || !slices.ContainsFunc(alts, func(s string) bool {
		return strings.HasPrefix(s, "time of tasks-reactive, 100 records") && strings.Contains(s, "now at 137 s") && strings.Contains(s, "2  2026-03-12  +12.4 % between a72b20062e and b7103ca278")
	}) {
		t.Errorf("alternative texts are %q", alts)
	}
	want := []string{"date", "commit", "note", "time", "session.wait.p50", "cpu_seconds", "ram", "ok", "startup", "version", "machine"}
	if !slices.Equal(headers, want) || cells != 100*len(want) {
		t.Errorf("%d figures under %q, want those of 100 nights under %q", cells, headers, want)
	}
}

// TestLinksToCommits are there for names that GitHub can have, and for nothing else.
func TestLinksToCommits(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	for _, tt := range []struct{ repository, commit, want string }{
		{"meteor/meteor", b, "https://github.com/meteor/meteor/compare/" + a + "..." + b},
		{"some-one/my.app_2", b, "https://github.com/some-one/my.app_2/compare/" + a + "..." + b},
		{"", b, ""}, {"meteor", b, ""}, {"meteor/", b, ""}, {"/meteor", b, ""}, {"meteor/..", b, ""}, {"meteor/.", b, ""}, {"../meteor", b, ""}, {"meteor/meteor/x", b, ""},
		{"meteor/meteor?x", b, ""}, {"meteor/meteor#x", b, ""}, {"me teor/meteor", b, ""}, {"meteor/meteor\n", b, ""}, {"evil.com/x@meteor", b, ""},
		{"meteor/meteor", a, ""}, {"meteor/meteor", "main", ""}, {"meteor/meteor", "../../x", ""}, {"meteor/meteor", strings.ToUpper(b), ""}, {"meteor/meteor", "", ""},
	} {
		got := comparison(gate.Night{Repository: tt.repository, Commit: a}, gate.Night{Repository: tt.repository, Commit: tt.commit})
		if got != tt.want {
			t.Errorf("%q, %q: got %q, want %q", tt.repository, tt.commit, got, tt.want)
		}
	}
	if got := comparison(gate.Night{Repository: "meteor/meteor", Commit: a}, gate.Night{Repository: "other/meteor", Commit: b}); got != "" {
		t.Errorf("of two repositories: got %q", got)
	}
	page := string(historyIn(t, "html", histories(t)["eventful"]))
	if n := strings.Count(page, `href="https://github.com/meteor/meteor/commit/`); n != 100 {
		t.Errorf("%d nights have links, want 100", n)
	}
}

// TestLongHistoryIsSmall shows a thousand nights of twelve metrics and the share of sessions.
func TestLongHistoryIsSmall(t *testing.T) {
	h := long(1000).told(t)
	var out bytes.Buffer
	if err := HistoryHTML(&out, "main", h, HistoryOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	if n := strings.Count(page, "<svg "); n != 13 || len(page) > 2<<20 {
		t.Errorf("%d charts take %d bytes", n, len(page))
	}
	if !strings.Contains(page, "Of marks that fall on one another one is drawn.") {
		t.Error("the page does not say that it leaves dots out")
	}
	out.Reset()
	if err := HistoryHTML(&out, "main", long(1200).told(t), HistoryOptions{Metrics: []string{"ram"}}); err != nil {
		t.Fatal(err)
	}
	if page := out.String(); strings.Count(page, "<tr><td>") != mostNights || !strings.Contains(page, "The newest 1000 of 1200 nights") || strings.Count(page, "<svg ") != 1 {
		t.Errorf("%d nights are listed beside %d charts", strings.Count(page, "<tr><td>"), strings.Count(page, "<svg "))
	}
}

// TestValuesOfOtherMachines are drawn as they were measured where a machine came for good, and as on the newest where machines come and go.
func TestValuesOfOtherMachines(t *testing.T) {
	for name, far := range map[string]bool{"eventful": true, "fleet": false} {
		for _, trend := range histories(t)[name].Trends {
			if trend.Metric != "time" {
				continue
			}
			c := newTrendChart(trend, histories(t)[name])
			first := c.chart.Points[0].Median
			if c.fleet == far || far != (first < 105 && first > 95) && name == "eventful" {
				t.Errorf("%s: fleet %v, the first night at %v", name, c.fleet, first)
			}
			for i, p := range c.chart.Points {
				if ratio := p.Median / p.Level; !p.Spike && (ratio < 0.94 || ratio > 1.06) {
					t.Errorf("%s: night %d at %v is drawn on a level of %v", name, i, p.Median, p.Level)
				}
			}
		}
	}
}

// TestDriftIsSaidOutside a page, where no headline says it.
func TestDriftIsSaidOutside(t *testing.T) {
	if got := string(historyIn(t, "svg", histories(t)["creeping"])); !strings.Contains(got, ">drift of +10.3 % in 90 days<") {
		t.Error("the picture does not say that there is a drift")
	}
}

func TestHistorySVGFiles(t *testing.T) {
	files, err := HistorySVGFiles(hostileTale("../../etc/<x>").told(t), HistoryOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*\.svg$`)
	for _, f := range files {
		if !name.MatchString(f.Name) || !bytes.HasPrefix(f.Content, []byte("<svg ")) {
			t.Errorf("file %q: %.40s", f.Name, f.Content)
		}
	}
	if len(files) != 7 {
		t.Errorf("%d files, want one a metric", len(files))
	}
	files, err = HistorySVGFiles(histories(t)["eventful"], HistoryOptions{Metrics: []string{"ram"}})
	if err != nil || len(files) != 1 || files[0].Name != "tasks-reactive-history-ram.svg" || !bytes.Contains(files[0].Content, []byte("accepted: the new driver keeps its buffers")) {
		t.Errorf("got %d files: %v", len(files), err)
	}
}

// TestManyScenarios shows each under its own name.
func TestManyScenarios(t *testing.T) {
	s := eventful()
	tame := s.change
	s.change = func(n int, r *record.Record) {
		tame(n, r)
		more := r.Scenarios[0]
		more.Name = "connect"
		r.Scenarios = append(r.Scenarios, more)
	}
	page := string(historyIn(t, "html", s.told(t)))
	for i, name := range []string{"connect", "tasks-reactive"} {
		if !strings.Contains(page, fmt.Sprintf(`id="scenario-%d"`, i)) || !strings.Contains(page, "<h2>"+name+"</h2>") {
			t.Errorf("no section of %s", name)
		}
	}
}
