package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/joshdk/go-junit"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
)

// fills gives a run what charts are drawn from: latencies of so many calls, and samples over time; worse is as of run.
func fills(t testing.TB, r *record.Run, worse float64) {
	t.Helper()
	r.Histograms = make(map[string]string)
	for i, name := range []string{"insertTask", "insertTask.updated", "session", "session.wait", "ready", "lag"} {
		h := metric.NewHistogram()
		for n := range 300 {
			h.Record(0.002 * worse * float64(i+1) * (1 + 0.01*float64(r.Index)) / (1.02 - float64(n)/300))
		}
		encoded, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		r.Histograms[name] = encoded
	}
	r.Censored = map[string]int64{"insertTask": 4}
	r.Series = make(map[string][]float64)
	for n := range 60 {
		at := float64(n) * 1.5
		r.Series["t"] = append(r.Series["t"], at)
		r.Series["app.cpu"] = append(r.Series["app.cpu"], 0.4*worse*(1+0.3*math.Sin(at/9+float64(r.Index))))
		r.Series["app.ram"] = append(r.Series["app.ram"], 380e6+at*1e6*worse)
		r.Series["db.cpu"] = append(r.Series["db.cpu"], 0.2)
		r.Series["sessions"] = append(r.Series["sessions"], math.Round(40*math.Sin(at/29)))
	}
}

// drawable is a comparison with all that can be drawn.
func drawable(t testing.TB, c Comparison) Comparison {
	t.Helper()
	for i := range c.Head.Scenarios[0].Runs {
		r := &c.Head.Scenarios[0].Runs[i]
		worse := 1.0
		if r.Arm == record.Head {
			worse = 1.4
		}
		fills(t, r, worse)
	}
	return c
}

// writers are the formats beside text and Markdown, by the ending of a file.
func writers() map[string]func(io.Writer, Comparison) error {
	return map[string]func(io.Writer, Comparison) error{"html": HTML, "svg": SVG, "junit.xml": JUnit, "json": JSON, "benchfmt": Benchfmt, "gha.json": GHABenchmark}
}

// in returns a comparison in one format.
func in(t testing.TB, format string, c Comparison) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := writers()[format](&out, c); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return out.Bytes()
}

// written returns a comparison in all formats that can show it.
func written(t testing.TB, c Comparison) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	for format := range writers() {
		if format != "json" || c.Verdict != nil {
			all[format] = in(t, format, c)
		}
	}
	return all
}

func filesOf(t testing.TB, c Comparison) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	for _, list := range []func(Comparison) ([]File, error){SVGFiles, BenchfmtFiles, GHABenchmarkFiles} {
		files, err := list(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if _, twice := all[f.Name]; twice {
				t.Errorf("two files %s", f.Name)
			}
			all[f.Name] = f.Content
		}
	}
	return all
}

func TestGoldenFormats(t *testing.T) {
	long := []string{"regression", "died", "unjudged", "driven"} // pages and pictures of the others have nothing that these have not
	inEach(t, func(t *testing.T, name string, c Comparison) {
		for format, got := range written(t, c) {
			if format != "html" && format != "svg" || slices.Contains(long, name) {
				golden(t, name+"."+format, got)
			}
		}
	})
}

func TestFormatsObeyNothing(t *testing.T) {
	inEach(t, func(t *testing.T, name string, c Comparison) {
		for format, out := range written(t, c) {
			for _, r := range string(out) {
				if r != '\n' && r != '\u00a0' && !unicode.IsPrint(r) {
					t.Errorf("%s has a character that does not print: %U", format, r)
				}
			}
		}
	})
}

func TestFormatsAreTheSameEveryTime(t *testing.T) {
	c := drawable(t, regressed())
	first, files := written(t, c), filesOf(t, c)
	for format, out := range written(t, c) {
		if !bytes.Equal(out, first[format]) {
			t.Errorf("%s differs", format)
		}
	}
	for name, out := range filesOf(t, c) {
		if !bytes.Equal(out, files[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

func TestFormatsTellOfFullDisks(t *testing.T) {
	for name, write := range writers() {
		if err := write(full{}, passed()); !errors.Is(err, errFull) {
			t.Errorf("%s: got %v, want %v", name, err, errFull)
		}
	}
}

// TestFormatsOfLittle gives records that others made, in which nearly all is absent.
func TestFormatsOfLittle(t *testing.T) {
	for _, r := range []*record.Record{
		{}, {Scenarios: []record.Scenario{{}}}, {Scenarios: []record.Scenario{{Name: "a", Runs: []record.Run{{}, {Arm: record.Head}}}}},
		{Scenarios: []record.Scenario{{Name: "a", Runs: []record.Run{{Arm: record.Head, Outcome: record.OK, Metrics: map[string]float64{"time": 0, "ram": 0, "ok": 0}, Series: map[string][]float64{"t": {}, "app.cpu": {}, "odd": {1, 2}}}}}}},
	} {
		for _, v := range []*gate.Verdict{nil, {}, {Metrics: []gate.Finding{{}, {Gated: true}}}, {Design: gate.Alone}} {
			for _, c := range []Comparison{{Verdict: v, Head: r}, {Verdict: v, Base: r, Head: r}, {Verdict: v, Base: r}, {Verdict: v}} {
				written(t, c)
				filesOf(t, c)
			}
		}
	}
}

func TestUnreadableHistogram(t *testing.T) {
	c := regressed()
	c.Head.Scenarios[0].Runs[0].Histograms = map[string]string{"insertTask": "HISTFnonsense"}
	for name, write := range map[string]func(io.Writer, Comparison) error{"html": HTML, "svg": SVG} {
		if err := write(io.Discard, c); err == nil || !strings.Contains(err.Error(), "run 1 of base: latency insertTask") {
			t.Errorf("%s: got %v, want which histogram cannot be read", name, err)
		}
	}
}

func TestJUnit(t *testing.T) {
	inEach(t, func(t *testing.T, name string, c Comparison) {
		suites, err := junit.Ingest(in(t, "junit.xml", c))
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[junit.Status]int)
		for _, s := range suites {
			for _, test := range s.Tests {
				got[test.Status]++
			}
		}
		if c.Verdict == nil || c.Verdict.Design == gate.Alone {
			if got[junit.StatusPassed] > 0 {
				t.Errorf("%d cases passed that nobody judged", got[junit.StatusPassed])
			}
			return
		}
		want := make(map[junit.Status]int)
		for _, o := range append(outcomes(c), c.Verdict.Outcome) {
			want[map[gate.Outcome]junit.Status{gate.Pass: junit.StatusPassed, gate.Improvement: junit.StatusPassed, gate.Regression: junit.StatusFailed,
				gate.Inconclusive: junit.StatusError, gate.Unmeasured: junit.StatusError}[o]]++
		}
		for _, status := range []junit.Status{junit.StatusPassed, junit.StatusFailed, junit.StatusError} {
			if got[status] != want[status] {
				t.Errorf("%d cases %s, want %d", got[status], status, want[status])
			}
		}
	})
}

// outcomes are those of the metrics that are gated.
func outcomes(c Comparison) []gate.Outcome {
	var all []gate.Outcome
	for _, f := range c.Verdict.Metrics {
		if f.Gated {
			all = append(all, f.Outcome)
		}
	}
	return all
}

func TestJSONKeepsItsSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(VerdictSchema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("verdict.json", doc); err != nil {
		t.Fatal(err)
	}
	schema := compiler.MustCompile("verdict.json")
	inEach(t, func(t *testing.T, name string, c Comparison) {
		if c.Verdict == nil {
			return
		}
		out := in(t, "json", c)
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(instance); err != nil {
			t.Error(err)
		}
		back := new(gate.Verdict)
		if err := json.Unmarshal(out, back); err != nil || back.Reason != strings.ToValidUTF8(c.Verdict.Reason, "\ufffd") || back.Outcome != c.Verdict.Outcome || len(back.Metrics) != len(c.Verdict.Metrics) {
			t.Errorf("read back as %v, %q, %d metrics: %v", back.Outcome, back.Reason, len(back.Metrics), err)
		}
	})
	broken, _ := jsonschema.UnmarshalJSON(strings.NewReader(`{"verdict": "fine", "reason": "", "metrics": [], "environment": {"match": "identical", "differs": []}, "design": "pairs", "confidence": 0.99}`))
	if schema.Validate(broken) == nil {
		t.Error("the schema takes a verdict that is none")
	}
}

// TestEverythingInTheSchema holds the schema against the type: a field that is not described is one that nobody finds.
func TestEverythingInTheSchema(t *testing.T) {
	v := regressed().Verdict
	v.AA, v.Warnings, v.Discarded = true, []string{"w"}, []gate.Discarded{{}}
	f := &v.Metrics[0]
	f.Floor, f.Holds, f.Reason, f.Accepted, f.Second = 1, 1, "r", &gate.Acceptance{Scenario: "s", Metric: "m", Reason: "r", Until: "u"}, &gate.Second{Method: "m"}
	var out bytes.Buffer
	if err := JSON(&out, Comparison{Verdict: v}); err != nil {
		t.Fatal(err)
	}
	for _, key := range regexp.MustCompile(`"([a-z_]+)":`).FindAllSubmatch(out.Bytes(), -1) {
		if !bytes.Contains(VerdictSchema(), []byte(`"`+string(key[1])+`": {`)) {
			t.Errorf("the schema does not describe %s", key[1])
		}
	}
}

func TestBenchstatReads(t *testing.T) {
	program := filepath.Join(t.TempDir(), "benchstat")
	if out, err := exec.Command("go", "build", "-modfile=../tools/go.mod", "-o", program, "golang.org/x/perf/cmd/benchstat").CombinedOutput(); err != nil {
		t.Fatalf("build benchstat: %v\n%s", err, out)
	}
	for name, c := range map[string]Comparison{"regression": regressed(), "hostile": hostile(), "pass": passed()} {
		dir := t.TempDir()
		for file, content := range filesOf(t, c) {
			if err := os.WriteFile(filepath.Join(dir, file), content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		one := filepath.Join(dir, "both")
		if err := os.WriteFile(one, in(t, "benchfmt", c), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"-col", "arm", one}, {filepath.Join(dir, "base.txt"), filepath.Join(dir, "head.txt")}} {
			out, warnings := benchstat(t, program, args)
			if name == "regression" && !regexp.MustCompile(`Scenario/tasks-reactive +40\.\d+ .* 45\.\d+ .*\+1[12]\.\d+%`).MatchString(out) {
				t.Errorf("%v: benchstat does not show cpu_seconds:\n%s", args, out)
			}
			if !strings.Contains(out, "ok-ratio") {
				t.Errorf("%s: benchstat %v does not show ok:\n%s", name, args, out)
			}
			if warnings != "" {
				t.Errorf("%s: benchstat %v warns: %s", name, args, warnings)
			}
		}
	}
}

// benchstat runs the pinned benchstat and returns what it prints.
func benchstat(t *testing.T, program string, args []string) (out, warnings string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("benchstat %v: %v\n%s", args, err, stderr.String())
	}
	return stdout.String(), stderr.String()
}

// TestGHABenchmark holds the lists against what github-action-benchmark asks of its custom tools: a name, a number and a unit each.
func TestGHABenchmark(t *testing.T) {
	files := filesOf(t, regressed())
	for name, want := range map[string][]string{
		"smaller-is-better.json": {"tasks-reactive time", "tasks-reactive cpu_seconds", "tasks-reactive ram"},
		"bigger-is-better.json":  {"tasks-reactive ok", "tasks-reactive throughput"},
	} {
		var list []struct {
			Name, Unit string
			Value      *float64
		}
		if err := json.Unmarshal(files[name], &list); err != nil {
			t.Fatal(err)
		}
		got := make(map[string]float64)
		for _, b := range list {
			if b.Name == "" || b.Unit == "" || b.Value == nil {
				t.Fatalf("%s: %+v is not whole", name, b)
			}
			got[b.Name] = *b.Value
		}
		for _, of := range want {
			if _, found := got[of]; !found {
				t.Errorf("%s has no %s", name, of)
			}
		}
		if v := got["tasks-reactive ram"]; name == "smaller-is-better.json" && (v < 440e6 || v > 447e6) {
			t.Errorf("ram is %v, want the median in bytes", v)
		}
		if _, found := got["tasks-reactive driver.lag.p99"]; found {
			t.Errorf("%s has a metric that is better in no direction", name)
		}
	}
	if !bytes.Equal(files["smaller-is-better.json"], in(t, "gha.json", regressed())) {
		t.Error("stdout has another list than the file")
	}
}

func TestFileNames(t *testing.T) {
	safe := regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
	c := drawable(t, hostile())
	other := c.Head.Scenarios[0]
	other.Name = evil + "!" // another name that becomes the same file
	c.Head.Scenarios = append(c.Head.Scenarios, other)
	n := 0
	for name, content := range filesOf(t, c) {
		if !safe.MatchString(name) || len(name) > 100 {
			t.Errorf("a file is called %q", name)
		}
		if strings.HasSuffix(name, ".svg") {
			n++
			elements(t, name, content)
		}
	}
	all, err := c.titled()
	if err != nil || n != len(all) || n < 20 {
		t.Errorf("%d files of %d charts: %v", n, len(all), err)
	}
	rapid.Check(t, func(t *rapid.T) {
		if got := slug(rapid.OneOf(rapid.String(), rapid.Custom(nasty)).Draw(t, "name")); !safe.MatchString(got) {
			t.Fatalf("got %q", got)
		}
	})
}

// elements returns how many there are of each element of an XML document.
func elements(t testing.TB, name string, document []byte) map[string]int {
	t.Helper()
	count := make(map[string]int)
	decoder := xml.NewDecoder(bytes.NewReader(document))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			count[token.Name.Local]++
			for _, a := range token.Attr {
				if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") || strings.Contains(strings.ToLower(a.Name.Local), "href") {
					t.Errorf("%s: attribute %s", name, a.Name.Local)
				}
			}
		case xml.Comment, xml.Directive:
			t.Errorf("%s: %T %s", name, token, token)
		}
	}
}

// TestXMLKeepsItsShape puts hostile text into all names: the documents have the elements that they have with harmless names.
func TestXMLKeepsItsShape(t *testing.T) {
	latency := encoded(t)
	for _, format := range []string{"svg", "junit.xml"} {
		want := elements(t, format, in(t, format, named("harmless", latency)))
		if want["script"] > 0 || want["path"]+want["testcase"] < 3 {
			t.Fatalf("%s has %v", format, want)
		}
		rapid.Check(t, func(rt *rapid.T) {
			s := "x" + nasty(rt)
			if got := elements(t, format, in(t, format, named(s, latency))); !maps.Equal(got, want) {
				rt.Fatalf("%s of %q has %v, want %v", format, s, got, want)
			}
		})
	}
}

// encoded is a histogram of one duration.
func encoded(t testing.TB) string {
	t.Helper()
	h := metric.NewHistogram()
	h.Record(0.01)
	s, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// named is a comparison in which all text from outside is one.
func named(s, latency string) Comparison {
	c := hostile()
	c.Head.Scenarios[0].Name = s
	c.Head.Apps[record.Head] = record.App{Version: s, Command: []string{s}}
	c.Head.Environment = record.Environment{CPU: s, OS: s, Kernel: s, Machine: s}
	c.Head.Command, c.Head.Tool.Version, c.Head.Commit, c.Head.ID = []string{s}, s, s, s
	for i := range c.Head.Scenarios[0].Runs {
		r := &c.Head.Scenarios[0].Runs[i]
		r.Reasons, r.Errors, r.Output, r.Extensions = []string{s}, []record.Error{{Cause: s, Count: 1, Example: "e.g. " + s}}, []string{s, "last"}, s
	}
	runs := c.Head.Scenarios[0].Runs
	last := &runs[len(runs)-1]
	last.Histograms, last.Censored = map[string]string{s: latency}, map[string]int64{s: 1}
	last.Series = map[string][]float64{"t": {0, 1}, s: {1, 2}, s + ".cpu": {0, 1}}
	v := c.Verdict
	v.Metrics = v.Metrics[2:] // one that is gated and one that is not: charts take time to draw
	v.Reason, v.Warnings, v.Environment.Differs = s, []string{s}, []string{s}
	v.Discarded = []gate.Discarded{{Scenario: s, Arm: s, Reasons: []string{s}}}
	for i := range v.Metrics {
		f := &v.Metrics[i]
		f.Scenario, f.Reason, f.Warnings, f.Accepted = s, s, []string{s}, &gate.Acceptance{Reason: s, Until: s, Change: 0.1}
	}
	v.Metrics[len(v.Metrics)-1].Metric = "latency." + s + ".p95"
	return c
}

// TestLinesKeepTheirShape holds the benchmark format against names that hold its syntax: a line a run, and pairs of number and unit in it.
func TestLinesKeepTheirShape(t *testing.T) {
	line := regexp.MustCompile(`^(BenchmarkScenario/\S+ 1( \S+ \S+)+|Unit \S+ better=(lower|higher)|(arm|goos|goarch|cpu): .*|)$`)
	latency := encoded(t)
	want := strings.Count(string(in(t, "benchfmt", named("x", latency))), "\n")
	rapid.Check(t, func(rt *rapid.T) {
		c := named("x"+nasty(rt), latency)
		lines := strings.Split(strings.TrimSuffix(string(in(t, "benchfmt", c)), "\n"), "\n")
		if len(lines) != want {
			rt.Fatalf("%d lines, want %d", len(lines), want)
		}
		if i := slices.IndexFunc(lines, func(s string) bool { return !line.MatchString(s) }); i >= 0 {
			rt.Fatalf("line %d is %q", i+1, lines[i])
		}
	})
}
