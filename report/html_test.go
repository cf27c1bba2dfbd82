package report

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// pageElements are those that a page is made of. None of them loads or runs anything.
var pageElements = strings.Fields(`html head meta link title style body header p span h1 b nav a main details summary h2 h3 div figure figcaption
	table thead tbody tr th td ul ol li section code pre dl dt dd svg g path text rect`)

// live returns what a page does beside showing, and how many elements of each kind it has.
func live(t testing.TB, page []byte) (found []string, count map[string]int) {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	count = make(map[string]int)
	for n := range doc.Descendants() {
		if n.Type == html.CommentNode {
			found = append(found, "comment "+n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		count[n.Data]++
		if !slices.Contains(pageElements, n.Data) {
			found = append(found, "element "+n.Data)
		}
		for _, a := range n.Attr {
			if !inertAttribute(n.Data, a) {
				found = append(found, fmt.Sprintf("%s of %s: %s", a.Key, n.Data, a.Val))
			}
		}
	}
	return found, count
}

var (
	inside  = regexp.MustCompile(`^#scenario-\d+$`)
	commits = regexp.MustCompile(`^https://github\.com/meteor/meteor/(commit/[0-9a-f]{40}|compare/[0-9a-f]{40}\.\.\.[0-9a-f]{40})$`)
	inertly = strings.Fields(`lang charset name content class id open tabindex role scope aria-hidden aria-label aria-labelledby viewBox viewbox d transform x y
		fill fill-opacity stroke-opacity stroke-width stroke-dasharray stroke-dashoffset font-size font-weight`)
)

func inertAttribute(element string, a html.Attribute) bool {
	switch a.Key {
	case "href":
		return element == "a" && (inside.MatchString(a.Val) || commits.MatchString(a.Val)) || element == "link" && a.Val == "data:,"
	case "rel":
		return a.Val == "icon" || element == "a" && a.Val == "noopener noreferrer"
	case "http-equiv":
		return a.Val == "Content-Security-Policy"
	}
	return slices.Contains(inertly, a.Key)
}

func TestPageObeysNothing(t *testing.T) {
	inEach(t, func(t *testing.T, name string, c Comparison) {
		if found, _ := live(t, in(t, "html", c)); len(found) > 0 {
			t.Errorf("obeyed: %q", found)
		}
	})
	if found, _ := live(t, []byte(evil)); len(found) < 3 {
		t.Errorf("the test sees only %q in the raw text", found)
	}
}

// TestPageKeepsItsShape puts hostile text into all names: the page has the elements that it has with harmless names.
func TestPageKeepsItsShape(t *testing.T) {
	latency := encoded(t)
	_, want := live(t, in(t, "html", named("harmless", latency)))
	rapid.Check(t, func(rt *rapid.T) {
		s := "x" + nasty(rt)
		found, got := live(t, in(t, "html", named(s, latency)))
		if len(found) > 0 || !maps.Equal(got, want) {
			rt.Fatalf("%q: obeyed %q; the page has %v, want %v", s, found, got, want)
		}
	})
}

func wordsOf(n *html.Node) string {
	var out strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && d.Parent.Data != "style" {
			out.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// TestPageTells looks for what must be read on a page.
func TestPageTells(t *testing.T) {
	for name, want := range map[string][]string{
		"regression":   {"regression", "cpu_seconds of tasks-reactive rose by 12.3 % (threshold 5 %)", "base 3.0.4 → head 3.1.0-rc.2", "AMD EPYC 7763", "+8.1 … +16.7"},
		"inconclusive": {"12 runs a side would settle it", "the driver used 91 % of its processors", "these runs could have shown a change of 17.0 %"},
		"pass":         {"a change of 12 % is accepted until 2027-03-01: driver upgrade", "rests on 10 runs of base and 9 of head"},
		"died":         {"FATAL ERROR: Reached heap limit", "the app died in 2", "114 sessions: the app died"},
		"unjudged":     {"measured", "the record of head was interrupted", "median"},
		"hostile":      {`@octocat #12 <img src=x onerror=y> <!-- ddpgate -->`},
	} {
		doc, err := html.Parse(bytes.NewReader(in(t, "html", cases()[name])))
		if err != nil {
			t.Fatal(err)
		}
		page := wordsOf(doc)
		for _, s := range want {
			if !strings.Contains(page, s) {
				t.Errorf("%s does not say %q:\n%.3000s", name, s, page)
			}
		}
	}
}

// TestChartsHaveWordsAndFigures looks at each chart of a page: an alternative text beside it, and a table of figures.
func TestChartsHaveWordsAndFigures(t *testing.T) {
	c := drawable(t, regressed())
	doc, err := html.Parse(bytes.NewReader(in(t, "html", c)))
	if err != nil {
		t.Fatal(err)
	}
	titles := make(map[string]bool)
	for n := range doc.Descendants() {
		if n.Data != "figure" || n.Type != html.ElementNode {
			continue
		}
		var alt string
		tables := 0
		beside := n
		if n.Parent.Data == "div" && attribute(n.Parent, "class") == "pair" || n.Parent.Parent.Data == "details" {
			beside = n.Parent.Parent // the table stands beside the figure
		}
		for d := range n.Descendants() {
			switch d.Data {
			case "svg":
				alt = attribute(d, "aria-label")
			case "figcaption":
				titles[wordsOf(d)] = true
			}
		}
		for d := range beside.Descendants() {
			if d.Data == "td" {
				tables++
			}
		}
		if len(alt) < 20 || tables == 0 {
			t.Errorf("%s: alternative text %q, %d figures", wordsOf(n), alt, tables)
		}
	}
	for _, want := range []string{"Change against the limit", "cpu_seconds of each run", "CPU of app over time", "RAM of app over time", "CPU of db over time",
		"Sessions under way over time", "insertTask until its result", "insertTask until updated", "Length of a session", "Waiting of a session for the app"} {
		if !titles[want] {
			t.Errorf("no chart %q among %v", want, slices.Sorted(maps.Keys(titles)))
		}
	}
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// TestDifferencesAreMarked holds two records of different machines against each other.
func TestDifferencesAreMarked(t *testing.T) {
	c := passed()
	c.Base.Environment.CPU, c.Base.Environment.Calibration = "Intel Xeon", []float64{0.41, 0.43}
	doc, err := html.Parse(bytes.NewReader(in(t, "html", c)))
	if err != nil {
		t.Fatal(err)
	}
	var marked, all []string
	for n := range doc.Descendants() {
		if n.Data != "tr" || n.Parent.Parent.Data != "table" || attribute(n.Parent.Parent, "class") != "traits" {
			continue
		}
		all = append(all, wordsOf(n))
		if attribute(n, "class") == "differs" {
			marked = append(marked, wordsOf(n))
		}
	}
	if len(marked) != 1 || marked[0] != "processor differs Intel Xeon AMD EPYC 7763 64-Core Processor" {
		t.Errorf("marked are %q, want the processor", marked)
	}
	if !slices.Contains(all, "calibration load 420 ms of CPU -") {
		t.Errorf("the calibration load is not in %q", all)
	}
}

func TestManyScenariosAreFolded(t *testing.T) {
	c := regressed()
	for i := range 29 {
		s := c.Head.Scenarios[0]
		s.Name = fmt.Sprintf("settled-%d", i)
		c.Head.Scenarios = append(c.Head.Scenarios, s)
		for _, f := range passed().Verdict.Metrics {
			f.Scenario = s.Name
			c.Verdict.Metrics = append(c.Verdict.Metrics, f)
		}
	}
	page := in(t, "html", c)
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var open []string
	folded := 0
	for n := range doc.Descendants() {
		if n.Data == "details" && attribute(n, "class") == "scenario" {
			if slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "open" }) {
				open = append(open, attribute(n, "id"))
			} else {
				folded++
			}
		}
	}
	if len(open) != 1 || open[0] != "scenario-0" || folded != 29 {
		t.Errorf("open are %v, %d are folded; want the one that regressed", open, folded)
	}
	if len(page) > 4<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
}
