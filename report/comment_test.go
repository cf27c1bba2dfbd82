package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"pgregory.net/rapid"

	"github.com/ddpgate/ddpgate/gate"
)

func commentOf(t testing.TB, c Comparison, o Comment) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := o.Write(&out, c); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestCommentGolden(t *testing.T) {
	inEach(t, func(t *testing.T, name string, c Comparison) {
		golden(t, name+".comment.md", commentOf(t, c, Comment{}))
	})
	linked := Comment{Link: "https://ghe.example/meteor/meteor/actions/runs/99"}
	accepted, resolved := linked, linked
	accepted.Accepted, resolved.Resolved = "by the label perf-accepted, set by @octocat, for as long as it is there", true
	golden(t, "accepted.comment.md", commentOf(t, regressed(), accepted))
	golden(t, "resolved.comment.md", commentOf(t, passed(), resolved))
}

func TestCommentsFirstLine(t *testing.T) {
	all := Comment{Resolved: true, Accepted: "by octocat"}
	for _, tt := range []struct {
		verdict gate.Verdict
		o       Comment
		want    string
	}{
		{gate.Verdict{Outcome: gate.Regression, Reason: "why"}, Comment{}, "### ❌ Regression: why"},
		{gate.Verdict{Outcome: gate.Regression, Reason: "why"}, all, "### ⚠️ Regression, accepted: why"},
		{gate.Verdict{Outcome: gate.Pass, Reason: "why"}, Comment{}, "### ✅ Pass: why"},
		{gate.Verdict{Outcome: gate.Pass, Reason: "why"}, all, "### ✅ Resolved: why"},
		{gate.Verdict{Reason: "why"}, all, "### ❔ Inconclusive: why"},
		{gate.Verdict{Outcome: gate.Unmeasured, Reason: "why"}, all, "### ⚠️ Not measured: why"},
		{gate.Verdict{Outcome: gate.Pass, Reason: "why", Design: gate.Alone}, all, "### Measured: why"},
	} {
		got, _, _ := strings.Cut(string(commentOf(t, Comparison{Verdict: &tt.verdict}, tt.o)), "\n")
		if got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestCommentObeysNothing(t *testing.T) {
	inEach(t, func(t *testing.T, name string, c Comparison) {
		out := commentOf(t, c, Comment{Accepted: evil, Limit: 60000})
		if found, _ := obeyed(out); len(found) > 0 || strings.Contains(string(out), "<!--") {
			t.Errorf("obeyed: %q", found)
		}
	})
}

func TestCommentLinksOnlyToAddresses(t *testing.T) {
	for _, link := range []string{"", "javascript:alert(1)", "//e.vil/x", "https://", "data:text/html,x", "ftp://e.vil/", "https://a b/"} {
		if _, kinds := obeyed(commentOf(t, passed(), Comment{Link: link})); kinds["Link"] > 0 {
			t.Errorf("%q became a link", link)
		}
	}
	out := commentOf(t, passed(), Comment{Link: "https://ghe.example/a>)[x](https://e.vil)"})
	if _, kinds := obeyed(out); kinds["Link"] != 1 || kinds["AutoLink"] > 0 {
		t.Errorf("one link became %d:\n%s", kinds["Link"], out)
	}
}

// crowd is a verdict on many scenarios, with findings that are all to be shown.
func crowd(scenarios, metrics int, o gate.Outcome) Comparison {
	v := &gate.Verdict{Outcome: gate.Regression, Reason: "cpu_seconds of scenario-00 rose by 12.3 % (threshold 5 %)", Design: gate.Pairs, Confidence: 0.99}
	one := regressed().Verdict.Metrics[2]
	for s := range scenarios {
		for m := range metrics {
			f := one
			f.Scenario, f.Metric, f.Outcome, f.Gated = fmt.Sprintf("scenario-%02d", s), fmt.Sprintf("latency.method%02d.p95", m), o, true
			v.Metrics = append(v.Metrics, f)
		}
	}
	return Comparison{Verdict: v}
}

func TestAThirtyByTwelveCommentIsWhole(t *testing.T) {
	for _, o := range []gate.Outcome{gate.Pass, gate.Regression} {
		out := string(commentOf(t, crowd(30, 12, o), Comment{Limit: 60000}))
		if n := utf8.RuneCountInString(out); n > 60000 {
			t.Errorf("%v: %d characters", o, n)
		}
		if strings.Contains(out, "Cut here") || strings.Count(out, "| `latency.method11.p95` |") != 30 {
			t.Errorf("%v: rows are missing", o)
		}
	}
}

func TestALongCommentIsCutBetweenRows(t *testing.T) {
	c := crowd(200, 12, gate.Regression)
	out := commentOf(t, c, Comment{Limit: 60000, Link: "https://ghe.example/runs/1"})
	if n := utf8.RuneCount(out); n > 60000 || n < 59000 {
		t.Errorf("%d characters, want nearly 60000", n)
	}
	for _, want := range []string{"### ❌ Regression: cpu", "**Cut here", "](<https://ghe.example/runs/1>)", "**rule** "} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("no %q in what is left", want)
		}
	}
	whole := strings.Split(string(commentOf(t, c, Comment{})), "\n")
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimRight(line, "\n"); strings.HasPrefix(line, "|") && !slices.Contains(whole, line) {
			t.Errorf("a row was cut: %q", line)
		}
	}
}

func TestTheWorstScenarioComesFirst(t *testing.T) {
	c := crowd(3, 2, gate.Pass)
	c.Verdict.Metrics[2].Outcome, c.Verdict.Metrics[4].Outcome = gate.Inconclusive, gate.Regression
	out := string(commentOf(t, c, Comment{}))
	first, second, third := strings.Index(out, "**`scenario-02`**"), strings.Index(out, "**`scenario-01`**"), strings.Index(out, "**`scenario-00`**")
	if !(0 < first && first < second && second < third) {
		t.Errorf("regression at %d, inconclusive at %d, pass at %d", first, second, third)
	}
}

// TestCutsLeaveNothingOpen cuts at any length: what is left obeys nothing, closes what it opens, and stays within the limit.
func TestCutsLeaveNothingOpen(t *testing.T) {
	all := cases()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"died", "hostile", "regression", "inconclusive", "alone"}).Draw(t, "case")
		limit := rapid.IntRange(150, 9000).Draw(t, "limit")
		var out bytes.Buffer
		if err := (Comment{Limit: limit}).Write(&out, all[name]); err != nil {
			t.Fatal(err)
		}
		if n := utf8.RuneCount(out.Bytes()); n > limit {
			t.Fatalf("%d characters, want at most %d", n, limit)
		}
		source := out.Bytes()
		found, kinds := obeyed(source)
		if len(found) > 0 {
			t.Fatalf("obeyed %q in:\n%s", found, source)
		}
		if opened, closed := bytes.Count(source, []byte("\n<details>")), bytes.Count(source, []byte("\n</details>")); kinds["FencedCodeBlock"] == 0 && opened != closed {
			t.Fatalf("%d opened, %d closed:\n%s", opened, closed, source)
		}
		if last, ok := parse(source).LastChild().(*ast.FencedCodeBlock); ok {
			t.Fatalf("a block of code is not closed before the end: %v:\n%s", last.Lines().Len(), source)
		}
	})
}
