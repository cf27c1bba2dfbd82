package report

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	gtext "github.com/yuin/goldmark/text"
	"pgregory.net/rapid"
)

// parse reads GitHub's Markdown.
func parse(source []byte) ast.Node {
	return goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(gtext.NewReader(source))
}

// ours are the HTML tags that reports are made of.
var ours = regexp.MustCompile(`^(<details><summary>[^<>]*</summary>|</details>|<br>)\s*$`)

// alive is what GitHub makes a mention, a reference or an address of in text.
var alive = regexp.MustCompile(`(?i)@\w|#\d|\bgh-\d|://|www\.`)

// obeyed returns what the Markdown does beside showing text, and how many nodes of each kind it has.
func obeyed(source []byte) (found []string, kinds map[string]int) {
	kinds = make(map[string]int)
	_ = ast.Walk(parse(source), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		kinds[n.Kind().String()]++
		switch n := n.(type) {
		case *ast.Link, *ast.Image, *ast.AutoLink, *east.Strikethrough, *east.TaskCheckBox:
			found = append(found, n.Kind().String())
		case *ast.HTMLBlock:
			html := string(n.Lines().Value(source))
			if n.HasClosure() {
				html += string(n.ClosureLine.Value(source))
			}
			if !ours.MatchString(html) {
				found = append(found, "HTML block "+html)
			}
		case *ast.RawHTML:
			if html := string(n.Segments.Value(source)); !ours.MatchString(html) {
				found = append(found, "HTML "+html)
			}
		case *ast.CodeSpan, *ast.FencedCodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if s := string(n.Value(source)); alive.MatchString(s) {
				found = append(found, "text "+s)
			}
		}
		return ast.WalkContinue, nil
	})
	return found, kinds
}

func TestMarkdownObeysNothing(t *testing.T) {
	inEach(t, func(t *testing.T, name string, c Comparison) {
		out := markdownOf(t, c)
		found, _ := obeyed(out)
		if len(found) > 0 {
			t.Errorf("obeyed: %q", found)
		}
		if strings.Contains(string(out), "<!--") {
			t.Error("the start of an HTML comment came through")
		}
	})
	if found, _ := obeyed([]byte(evil)); len(found) < 4 {
		t.Errorf("the test sees only %q in the raw text", found)
	}
}

// TestMarkdownKeepsItsShape compares the report of hostile text with that of the same text made harmless: as many headings, rows,
// cells, lists and blocks.
func TestMarkdownKeepsItsShape(t *testing.T) {
	hostile := markdownOf(t, hostile())
	harmless := strings.NewReplacer("<", "x", ">", "x", "[", "x", "]", "x", "*", "x", "`", "x", "|", "x", "@", "x", "#", "x").Replace
	calm := cases()["hostile"]
	calm.Head.Scenarios[0].Name = harmless(evil)
	for i := range calm.Verdict.Metrics {
		f := &calm.Verdict.Metrics[i]
		f.Scenario, f.Reason, f.Warnings = harmless(f.Scenario), harmless(f.Reason), []string{harmless(evil)}
	}
	_, got := obeyed(hostile)
	_, want := obeyed(markdownOf(t, calm))
	for _, kind := range []string{"Heading", "Table", "TableRow", "TableCell", "List", "ListItem", "FencedCodeBlock", "HTMLBlock", "Blockquote", "Paragraph"} {
		if got[kind] != want[kind] {
			t.Errorf("%d of %s, want %d", got[kind], kind, want[kind])
		}
	}
}

// nasty draws text from pieces that mean something to Markdown.
func nasty(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{
		"`", "``", "```", "|", "\\", "\\|", "<", ">", "<!--", "-->", "<b>", "</details>", "[", "](", ")", "!", "*", "**", "_", "~~", "~", "#", "@octocat", "#12",
		"GH-7", "https://e.vil", "www.e.vil", "a@e.vil", "deadbeef", ":tada:", "&lt;", "$", "\n", "\r", "\t", " ", "\x1b[31m", "\x00", "\xff", "\u202e", "\u2028", "a", "b 1", "1. ", "- ", "+ ", "= ",
		"    ", "---", "x", "é", "課",
	})
	return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
}

// TestEscapes puts escaped text into each place that a report has for it: it is shown there, obeys nothing, and does not get out.
func TestEscapes(t *testing.T) {
	places := map[string]struct {
		before, after string
		nodes         string
		count         int
	}{
		"heading":   {"### T: ", "\n\nnext\n", "Heading", 1},
		"list":      {"- ", "\n- next\n", "ListItem", 2},
		"note":      {"- `ram` – ", "\n", "ListItem", 1},
		"quote":     {"> ⚠️ ", "\n\nnext\n", "Blockquote", 1},
		"bold":      {"**", "** next\n", "Paragraph", 1},
		"cell":      {"| a | b |\n|---|---|\n| ", " | 2 |\n", "TableCell", 4},
		"line":      {"**base** ", "<br>\nnext\n", "Paragraph", 1},
		"paragraph": {"**x** ", "\n", "Paragraph", 1},
	}
	rapid.Check(t, func(t *rapid.T) {
		s := nasty(t)
		for name, place := range places {
			for how, escape := range map[string]func(string) string{"prose": prose, "code": code} {
				if name == "bold" && how == "prose" {
					continue // only names stand there
				}
				source := place.before + escape(s) + place.after
				found, kinds := obeyed([]byte(source))
				if len(found) > 0 || kinds[place.nodes] != place.count || strings.Contains(source, "<!--") {
					t.Fatalf("%s as %s in a %s: obeyed %q, %d of %s, want %d:\n%s", s, how, name, found, kinds[place.nodes], place.nodes, place.count, source)
				}
			}
		}
	})
}

func TestFence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.Custom(nasty), 1, 5).Draw(t, "lines")
		source := []byte("before\n\n" + fenced(lines) + "\nafter\n")
		doc := parse(source)
		block, ok := doc.FirstChild().NextSibling().(*ast.FencedCodeBlock)
		if !ok || doc.ChildCount() != 3 || block.Lines().Len() != len(lines) {
			t.Fatalf("the block of %q does not hold its %d lines and nothing else:\n%s", lines, len(lines), source)
		}
	})
}

func TestPlain(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"tasks-reactive", "tasks-reactive"},
		{"für 課題 ✓", "für 課題 ✓"},
		{"\x1b[2J\x07\x7f\u009b", `\x1b[2J\a\x7f\u009b`},
		{"a\r\nb\tc", `a\r\nb c`},
		{"\u202eabc\u2066\u200b\ufeff\u00a0", `\u202eabc\u2066\u200b\ufeff\u00a0`},
		{"\xff\x0a", `\xff\n`},
	} {
		if got := plain(tt.in); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestProse(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"cpu_seconds rose by 12.3 % (threshold 5 %)", `cpu\_seconds rose by 12.3 % (threshold 5 %)`},
		{"the app died: exit status 134", "the app died: exit status 134"},
		{"3.0.4", "3.0.4"},
		{"ask @octocat", "`ask @octocat`"},
		{"see GH-12", "`see GH-12`"},
		{"4f2a91c07b", "`4f2a91c07b`"},
		{"", ""},
	} {
		if got := prose(tt.in); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add(evil)
	f.Fuzz(func(t *testing.T, s string) {
		got := plain(s)
		if !utf8.ValidString(got) || plain(got) != got {
			t.Errorf("%q became %q", s, got)
		}
	})
}
