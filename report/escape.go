package report

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain writes out what a terminal or a browser would obey instead of show: control characters, those that turn the
// direction of writing, and bytes that are no text.
func plain(s string) string {
	var out strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			out.WriteString(`\x` + strconv.FormatUint(uint64(s[0])|0x100, 16)[1:])
		case r == '\t':
			out.WriteByte(' ')
		case unicode.IsPrint(r):
			out.WriteString(s[:n])
		default:
			quoted := strconv.QuoteRune(r)
			out.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return out.String()
}

// active is what Markdown, or GitHub in it, makes something of: marks, mentions, references to issues and commits, addresses,
// emoji.
var active = regexp.MustCompile("(?i)[][@#<>!`*~|\\\\&$^{}]|//|www\\.|\\bgh-\\d|\\b[0-9a-f]{7,}\\b|:[a-z0-9_+-]+:|^[-+=]|^\\d+[.)]\\s|^\\s|\\s$")

// mostText is how many characters of one text are shown.
const mostText = 800

// prose returns text as Markdown that reads the same: as it is where it holds nothing that Markdown would obey, else as
// code, in which nothing is obeyed. It never ends the line or the table cell that it stands in.
func prose(s string) string {
	if s = plain(cut(s, mostText)); active.MatchString(s) {
		return code(s)
	}
	return strings.ReplaceAll(s, "_", `\_`)
}

// code returns text as Markdown code on one line.
func code(s string) string {
	s = unmarked(plain(cut(s, mostText)))
	s = strings.ReplaceAll(s, "|", `\x7c`) // no escape of it is safe in every table
	if strings.TrimSpace(s) == "" {
		return `" "`
	}
	fence := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || s != strings.TrimSpace(s) {
		s = " " + s + " "
	}
	return fence + s + fence
}

// fenced returns lines as a Markdown block of code that none of them can end.
func fenced(lines []string) string {
	longest := 2
	var out strings.Builder
	for _, line := range lines {
		line = unmarked(plain(line))
		longest = max(longest, longestRun(line))
		out.WriteString(line + "\n")
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "text\n" + out.String() + fence + "\n"
}

// unmarked breaks the start of an HTML comment, by which programs find their own comments again.
func unmarked(s string) string { return strings.ReplaceAll(s, "<!--", `\x3c!--`) }

func longestRun(s string) int {
	longest, run := 0, 0
	for _, c := range []byte(s) {
		run++
		if c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// cut shortens text to a number of characters.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
