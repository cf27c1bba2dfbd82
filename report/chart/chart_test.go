package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

var nan = math.NaN()

// examples are charts of each kind, with gaps and what lies outside.
func examples() map[string]interface{ Draw() (Drawing, error) } {
	x := []float64{0, 1, 2, 3, 4, 5}
	return map[string]interface{ Draw() (Drawing, error) }{
		"forest": Forest{
			{Name: "cpu_seconds", Change: "+12.3 %", Estimate: 2.46, Lower: 1.6, Upper: 3.3, State: Bad},
			{Name: "latency.removeAllTasks.with.a.very.long.name.updated.p95", Change: "+5362 %", Estimate: 900, Lower: 40, Upper: 2000, State: Bad},
			{Name: "ram", Change: "-1.2 %", Estimate: -0.1, Lower: math.Inf(-1), Upper: 0.4, State: Good},
			{Name: "time", Change: "unknown", Estimate: nan, Lower: nan, Upper: nan},
		},
		"runs": Runs{Unit: "MB", Arms: []ArmRuns{
			{Base, []float64{18.8, 18.7, nan, 18.9}, nil, 18.8},
			{Head, []float64{20.3, 19.9, 25.1, 19.9, 20}, []bool{false, false, true}, 20},
		}},
		"curves": Curves{Unit: "cores", Across: "s since the load began", Arms: []Curve{
			{Base, x, []float64{nan, 1, 2, nan, 2, 1}, []float64{nan, 0.5, 1, nan, 1, 1}, []float64{nan, 2, 3, nan, 3, 1}},
			{Head, x, []float64{1, 2, 3, 3, 3, 2}, nil, nil},
		}},
		"history": History{Unit: "s", Nights: 9, Ticks: []Tick{{1, "2026-01-02"}, {7, "2026-01-08"}}, LeftOut: []int{4}, Moves: []int{3}, Windows: []Window{{0, 2}, {7, 9}},
			Points: []Point{{0, 10, 10, []float64{9.8, 10, 10.1}, false}, {1, 10.2, 10, nil, false}, {2, 9.9, 10, []float64{9.9}, false}, {3, 12, 12, []float64{12, 12, 11.5}, false},
				{5, 90, 12, []float64{90}, true}, {6, 13, 12, []float64{nan}, true}, {7, 12.1, 12, nil, false}, {8, 11.9, 12, []float64{3}, false}},
			Events: []Event{{2.5, Worse, "1 +20.0 % open", "1"}, {2.5, Move, "2 machine +9.0 %", "2"}, {5.5, Accepted, "3 +1.0 % accepted", "3"}, {6.5, Better, "4 -1.0 %", "4"}, {7.5, Settled, "5 +1.0 %", "5"}, {6.5, Drift, "+9 %", ""}},
			Below:  []string{"1  2026-01-04  +20.0 % between a and b, OPEN"}},
		"logarithmic": Curves{Unit: "ms", Log: true, Ticks: []Tick{{0, "0"}, {3, "99.9"}}, Arms: []Curve{{Head, x, []float64{0, 0.1, 1, 10, 1000, 1e4}, nil, nil}}},
	}
}

func TestGolden(t *testing.T) {
	for name, chart := range examples() {
		d, err := chart.Draw()
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := Sheet(&got, name, 1, []Titled{{d, "The " + name, "in words"}}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s has changed; if it should, run go test ./report/chart -update (-want +got):\n%s", path, diff)
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	for name, chart := range map[string]interface{ Draw() (Drawing, error) }{
		"no effects": Forest{}, "no arms": Runs{}, "no runs": Runs{Arms: []ArmRuns{{Arm: Head}}}, "no number": Runs{Arms: []ArmRuns{{Values: []float64{nan, math.Inf(1), 1e300}}}},
		"no nights": History{}, "no figures": History{Nights: 3, LeftOut: []int{1}, Points: []Point{{Median: nan, Level: nan}}, Events: []Event{{Night: 1, Label: "1"}}},
		"no curves": Curves{}, "no points": Curves{Arms: []Curve{{Arm: Head}}}, "nothing above zero": Curves{Log: true, Arms: []Curve{{X: []float64{1}, Y: []float64{-1}}}},
	} {
		if _, err := chart.Draw(); !errors.Is(err, ErrEmpty) {
			t.Errorf("%s: got %v, want %v", name, err, ErrEmpty)
		}
	}
}

// drawnElements are those that a drawing is made of.
var drawnElements = []string{"g", "path", "text"}

// wellFormed fails unless a drawing can stand in XML and in HTML, and has nothing in it but shapes and text.
func wellFormed(t interface{ Fatalf(string, ...any) }, d Drawing) (said string) {
	inline := d.Inline("alt")
	decoder := xml.NewDecoder(strings.NewReader(inline))
	for first := true; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%s", err, inline)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if !first && !slices.Contains(drawnElements, token.Name.Local) {
				t.Fatalf("element %s", token.Name.Local)
			}
			first = false
		case xml.CharData:
			said += string(token) + "\n"
		}
	}
	doc, err := html.Parse(strings.NewReader(inline))
	if err != nil {
		t.Fatalf("no HTML: %v", err)
	}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Namespace != "svg" && !slices.Contains([]string{"html", "head", "body"}, n.Data) {
			t.Fatalf("element %s", n.Data)
		}
	}
	if strings.Contains(inline, "NaN") || strings.Contains(inline, "Inf") || strings.Contains(strings.ToLower(inline), "#abab") {
		t.Fatalf("a number or a colour that is none:\n%s", inline)
	}
	return said
}

// figures are those that records may hold, hostile ones too.
var figures = rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 100), rapid.SampledFrom([]float64{0, -1, 1e-300, 1e300, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, nan, math.Inf(1), math.Inf(-1)}))

// TestAnyNumbers draws charts of figures that nobody expects: each is drawn or refused, and no mark is lost.
func TestAnyNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(figures, 0, 12).Draw(t, "values")
		x := make([]float64, len(values))
		for i := range x {
			x[i] = float64(i)
		}
		past := History{Nights: len(values), Most: rapid.SampledFrom([]float64{0, 1, 100}).Draw(t, "most"), Moves: []int{1, 3}, Events: []Event{{Night: figures.Draw(t, "event"), Label: "1", Mark: "1"}}}
		for i, v := range values {
			past.Points = append(past.Points, Point{i, v, figures.Draw(t, "level"), values, rapid.Bool().Draw(t, "spike")})
		}
		charts := []interface{ Draw() (Drawing, error) }{
			past,
			Runs{Arms: []ArmRuns{{Base, values, nil, figures.Draw(t, "median")}, {Head, values, nil, nan}}},
			Curves{Log: rapid.Bool().Draw(t, "log"), Arms: []Curve{{Head, x, values, values, values}}},
			Forest{{Name: "x", Estimate: figures.Draw(t, "estimate"), Lower: figures.Draw(t, "lower"), Upper: figures.Draw(t, "upper")}},
		}
		for _, chart := range charts {
			d, err := chart.Draw()
			if err == nil {
				wellFormed(t, d)
			} else if !errors.Is(err, ErrEmpty) {
				t.Fatalf("%T: %v", chart, err)
			}
		}
	})
}

// TestTextIsShown puts hostile text into each place that a chart has for it.
func TestTextIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"<", ">", "&", "\"", "'", "</text>", "<script>", "<!--", "-->", "]]>", "&lt;", "style", "é", "課", "a", " "}), 1, 6).Draw(t, "pieces"), "")
		d, err := Forest{{Name: s, Change: s}}.Draw()
		if err != nil {
			t.Fatal(err)
		}
		if got := wellFormed(t, d); !strings.Contains(got, s) && len(s) < 20 && strings.TrimSpace(s) != "" { // longer text is shortened
			t.Fatalf("%q is not shown in %q", s, got)
		}
		d, err = History{Unit: s, Nights: 2, Ticks: []Tick{{0, s}}, Points: []Point{{Median: 1, Level: 1}}, Events: []Event{{0.5, Worse, s, ""}}, Below: []string{s}}.Draw()
		if err != nil {
			t.Fatal(err)
		}
		if got := wellFormed(t, d); !strings.Contains(got, s) && len(s) < 60 && strings.TrimSpace(s) != "" {
			t.Fatalf("%q is not shown in %q", s, got)
		}
		var sheet bytes.Buffer
		if err := Sheet(&sheet, s, 1, []Titled{{d, s, s}}); err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal(sheet.Bytes(), new(struct{ XMLName xml.Name })); err != nil {
			t.Fatalf("no XML: %v", err)
		}
	})
}

func TestRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e6, 1e6).Draw(t, "low")
		high := low + rapid.Float64Range(1e-3, 1e6).Draw(t, "span") + leastSpan*math.Abs(low)
		marks := round(low, high)
		if len(marks) < 2 || len(marks) > 8 {
			t.Fatalf("%d marks from %v to %v", len(marks), low, high)
		}
		for i, m := range marks {
			if m.At < low-(high-low)/1e6 || m.At > high+(high-low)/1e6 || i > 0 && m.Label == marks[i-1].Label {
				t.Fatalf("mark %d of %v to %v is %v", i, low, high, m)
			}
		}
	})
	if got := fmt.Sprint(round(-0.1, 0.5)); !strings.Contains(got, "{0 0}") {
		t.Errorf("zero is written as %s", got)
	}
}

func TestPlace(t *testing.T) {
	for limits, want := range map[float64]float64{0: 0, 0.5: 0.5, -1: -1, 1: 1, 10: 2, -10: -2, 100: 3, 1e9: 3, math.Inf(1): 3, math.Inf(-1): -3} {
		if got := place(limits); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v limits are drawn at %v, want %v", limits, got, want)
		}
	}
}

// TestContrast holds the colours of text against what it stands on, as WCAG 2.1 computes it.
func TestContrast(t *testing.T) {
	for r := ink; r <= roles; r++ {
		if r == rule || r == paper || r == base {
			continue // no text is written in them
		}
		c := colors[r]
		for _, pair := range [][2]string{{c.light, colors[paper].light}, {c.dark, colors[paper].dark}} {
			if got := contrast(pair[0], pair[1]); got < 4.5 {
				t.Errorf("%s %s on %s: %.2f to 1", c.name, pair[0], pair[1], got)
			}
		}
	}
}

func contrast(a, b string) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(hex string) float64 {
	var red, green, blue uint8
	fmt.Sscanf(hex, "#%02x%02x%02x", &red, &green, &blue)
	linear := func(v uint8) float64 {
		if c := float64(v) / 255; c > 0.04045 {
			return math.Pow((c+0.055)/1.055, 2.4)
		} else {
			return c / 12.92
		}
	}
	return 0.2126*linear(red) + 0.7152*linear(green) + 0.0722*linear(blue)
}
