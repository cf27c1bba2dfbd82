package scenario

import (
	"fmt"
	"strings"
)

// A Template is a text with references to variables, ${name}. Compile it once and expand it often; it may be used by
// several goroutines.
type Template struct {
	parts []part
}

type part struct {
	text string
	ref  bool // text is a variable's name
}

// ParseTemplate reads a text in which ${name} refers to a variable; $${ stands for a plain ${.
func ParseTemplate(s string) (Template, error) {
	var t Template
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			t.parts = append(t.parts, part{text: text.String()})
			text.Reset()
		}
	}
	for len(s) > 0 {
		switch {
		case strings.HasPrefix(s, "$${"):
			text.WriteString("${")
			s = s[3:]
		case strings.HasPrefix(s, "${"):
			name, rest, found := strings.Cut(s[2:], "}")
			if !found {
				return Template{}, fmt.Errorf("%q has no closing brace", s)
			}
			if !isName(name) {
				return Template{}, fmt.Errorf("%q is not a variable's name", name)
			}
			flush()
			t.parts = append(t.parts, part{name, true})
			s = rest
		default:
			text.WriteByte(s[0])
			s = s[1:]
		}
	}
	flush()
	return t, nil
}

func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// Refs returns the variables' names in order of appearance, repetitions included.
func (t Template) Refs() []string {
	var refs []string
	for _, p := range t.parts {
		if p.ref {
			refs = append(refs, p.text)
		}
	}
	return refs
}

// Sole returns the variable's name when the template is one reference and nothing else: such a template takes the
// variable's value as it is, a number as a number.
func (t Template) Sole() (name string, ok bool) {
	if len(t.parts) == 1 && t.parts[0].ref {
		return t.parts[0].text, true
	}
	return "", false
}

// Append appends the expanded text to dst, asking value for each variable's text.
func (t Template) Append(dst []byte, value func(dst []byte, name string) []byte) []byte {
	for _, p := range t.parts {
		if p.ref {
			dst = value(dst, p.text)
		} else {
			dst = append(dst, p.text...)
		}
	}
	return dst
}

// Each calls f with each part in order: a plain text, or the name of a variable.
func (t Template) Each(f func(text string, ref bool)) {
	for _, p := range t.parts {
		f(p.text, p.ref)
	}
}
