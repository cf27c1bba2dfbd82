package report

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s has changed; if it should, run go test ./report -update (-want +got):\n%s", path, diff)
	}
}

func textOf(t testing.TB, c Comparison, o Options) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Text(&out, c, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func markdownOf(t testing.TB, c Comparison) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Markdown(&out, c); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// inEach runs a test for each case, in order.
func inEach(t *testing.T, test func(t *testing.T, name string, c Comparison)) {
	all := cases()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) { test(t, name, all[name]) })
	}
}

func TestGolden(t *testing.T) {
	inEach(t, func(t *testing.T, name string, c Comparison) {
		golden(t, name+".txt", textOf(t, c, Options{}))
		golden(t, name+".md", markdownOf(t, c))
	})
	golden(t, "regression.ansi", textOf(t, regressed(), Options{Color: true}))
	golden(t, "regression.brief", textOf(t, regressed(), Options{Brief: true}))
	golden(t, "unjudged.brief", textOf(t, unjudged(), Options{Brief: true}))
}

func TestBriefReportOfMuchThatMoved(t *testing.T) {
	c := regressed()
	for i := range 30 {
		c.Verdict.Metrics = append(c.Verdict.Metrics, finding(fmt.Sprintf("latency.m%02d.p95", i), gate.Regression, 0.001, 0.002, 0.9, 1.1, 0.10))
	}
	text := string(textOf(t, c, Options{Brief: true}))
	if n := strings.Count(text, " worse"); n != 10 {
		t.Errorf("%d metrics that moved are shown, want the first 10:\n%s", n, text)
	}
	if !strings.Contains(text, "and 27 other metrics") {
		t.Errorf("the others are not counted:\n%s", text)
	}
}

func TestFirstLine(t *testing.T) {
	for _, tt := range []struct {
		verdict        *gate.Verdict
		text, markdown string
	}{
		{&gate.Verdict{Reason: "why"}, "INCONCLUSIVE  why", "### ❔ Inconclusive: why"},
		{&gate.Verdict{Outcome: gate.Pass, Reason: "why"}, "PASS  why", "### ✅ Pass: why"},
		{&gate.Verdict{Outcome: gate.Improvement, Reason: "why"}, "PASS  why", "### ✅ Pass: why"},
		{&gate.Verdict{Outcome: gate.Unmeasured, Reason: "why"}, "NOT MEASURED  why", "### ⚠️ Not measured: why"},
		{&gate.Verdict{Outcome: gate.Regression, Reason: "why"}, "REGRESSION  why", "### ❌ Regression: why"},
		{&gate.Verdict{Outcome: gate.Pass, Reason: "why", Design: gate.Alone}, "MEASURED  why", "### Measured: why"},
		{&gate.Verdict{Reason: "why", Design: gate.Alone}, "INCONCLUSIVE  why", "### ❔ Inconclusive: why"},
		{nil, "MEASURED  0 scenarios, 0 runs", "### Measured: 0 scenarios, 0 runs"},
	} {
		c := Comparison{Verdict: tt.verdict}
		if got, _, _ := strings.Cut(string(textOf(t, c, Options{})), "\n"); got != tt.text {
			t.Errorf("text: got %q, want %q", got, tt.text)
		}
		if got, _, _ := strings.Cut(string(markdownOf(t, c)), "\n"); got != tt.markdown {
			t.Errorf("markdown: got %q, want %q", got, tt.markdown)
		}
	}
}

func TestTextFits(t *testing.T) {
	all := cases()
	all["wide"] = regressed()
	for i := range all["wide"].Verdict.Metrics {
		all["wide"].Verdict.Metrics[i].Metric = "latency." + strings.Repeat("課題", 30) + ".p95"
	}
	for name, c := range all {
		for _, width := range []int{60, 80, 200} {
			for line := range strings.Lines(string(textOf(t, c, Options{Width: width}))) {
				if w := lipgloss.Width(strings.TrimSuffix(line, "\n")); w > width {
					t.Errorf("%s: at %d columns a line has %d: %q", name, width, w, line)
				}
			}
		}
	}
	if !bytes.Equal(textOf(t, regressed(), Options{}), textOf(t, regressed(), Options{Width: 80})) {
		t.Error("the default is not 80 columns")
	}
}

var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

func TestTextObeysNothing(t *testing.T) {
	inEach(t, func(t *testing.T, name string, c Comparison) {
		bare, colored := string(textOf(t, c, Options{})), string(textOf(t, c, Options{Color: true}))
		for _, r := range bare {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("a character that does not print: %U", r)
			}
		}
		if strings.Contains(bare, " \n") {
			t.Error("a line ends in blanks")
		}
		stripped := regexp.MustCompile(`(?m) +$`).ReplaceAllString(sgr.ReplaceAllString(colored, ""), "")
		if diff := cmp.Diff(bare, stripped); diff != "" {
			t.Errorf("colour changes more than colour:\n%s", diff)
		}
		if c.Verdict != nil && colored == bare {
			t.Error("no colour")
		}
	})
}

func TestSameEveryTime(t *testing.T) {
	inEach(t, func(t *testing.T, name string, c Comparison) {
		text, markdown := textOf(t, c, Options{Color: true}), markdownOf(t, c)
		for range 5 {
			if !bytes.Equal(text, textOf(t, c, Options{Color: true})) || !bytes.Equal(markdown, markdownOf(t, c)) {
				t.Fatal("the same input gave another output")
			}
		}
		if diff := cmp.Diff(cases()[name], c, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("the report changed its input:\n%s", diff)
		}
	})
}

type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteError(t *testing.T) {
	if err := Text(full{}, passed(), Options{}); !errors.Is(err, errFull) {
		t.Errorf("text: got %v, want %v", err, errFull)
	}
	if err := Markdown(full{}, passed()); !errors.Is(err, errFull) {
		t.Errorf("markdown: got %v, want %v", err, errFull)
	}
}

// TestArms holds each way of putting two sides against the runs that must be reported for them.
func TestArms(t *testing.T) {
	both, one, other := newRecord(bothArms(2, 1)...), newRecord(run(record.Head, 0, 1)), newRecord(run(record.Head, 0, 1), run(record.Head, 1, 1), run(record.Head, 2, 1))
	for _, tt := range []struct {
		name       string
		c          Comparison
		base, head int
	}{
		{"one record of both arms", Comparison{Head: both}, 2, 2},
		{"the same on both sides", Comparison{Base: both, Head: both}, 2, 2},
		{"two records", Comparison{Base: one, Head: other}, 1, 3},
		{"base's head is the base", Comparison{Base: both, Head: other}, 2, 3},
		{"one record of one arm", Comparison{Head: one}, 0, 1},
		{"only a base", Comparison{Base: one}, 1, 0},
	} {
		got := make(map[string]int)
		for _, a := range tt.c.arms("tasks-reactive") {
			got[a.name] = len(a.runs)
		}
		if got[record.Base] != tt.base || got[record.Head] != tt.head {
			t.Errorf("%s: got %v, want %d of base and %d of head", tt.name, got, tt.base, tt.head)
		}
	}
}

// TestShort gives records that others made, in which nearly all is absent.
func TestShort(t *testing.T) {
	for _, r := range []*record.Record{
		{}, {ID: "x", Commit: "y"}, {Scenarios: []record.Scenario{{}}}, {Scenarios: []record.Scenario{{Name: "a", Runs: []record.Run{{}, {Arm: record.Head}}}}},
	} {
		for _, v := range []*gate.Verdict{nil, {}, {Metrics: []gate.Finding{{}, {Gated: true}}}, {Design: gate.Alone}} {
			for _, c := range []Comparison{{Verdict: v, Head: r}, {Verdict: v, Base: r, Head: r}, {Verdict: v, Base: r}, {Verdict: v}} {
				if len(textOf(t, c, Options{})) == 0 || len(markdownOf(t, c)) == 0 {
					t.Error("nothing was reported")
				}
			}
		}
	}
}

func TestInvalidRunsAreToldOnce(t *testing.T) {
	c := alone()
	c.Verdict.Discarded = []gate.Discarded{{Scenario: "tasks-reactive", Arm: record.Head, Index: 2, Reasons: []string{"steal was 4.1 %, more than 2 %"}}}
	for format, out := range map[string]string{"text": string(textOf(t, c, Options{})), "markdown": string(markdownOf(t, c))} {
		if got := strings.Count(out, "steal was 4.1 %"); got != 1 {
			t.Errorf("%s: told %d times:\n%s", format, got, out)
		}
	}
}

func TestManyCauses(t *testing.T) {
	c := died()
	r := &c.Head.Scenarios[0].Runs[1]
	r.Reasons, r.Errors = nil, nil
	for i := range 30 {
		r.Reasons = append(r.Reasons, "reason")
		r.Errors = append(r.Errors, record.Error{Cause: strings.Repeat("c", i+1), Count: i + 1})
	}
	r.Output = slices.Repeat([]string{strings.Repeat("x", 1000)}, 100)
	out := string(textOf(t, c, Options{}))
	for _, want := range []string{"and 27 other causes", "and 26 more reasons", "     30  " + strings.Repeat("c", 30) + "\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if got := strings.Count(out, "  | x"); got != mostLines {
		t.Errorf("got %d lines of output, want %d", got, mostLines)
	}
}
