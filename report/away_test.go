package report

import (
	"bytes"
	"strings"
	"testing"
)

// TestHowFarTheBaselineIs: who reads a verdict sees how old what it was held against is, wherever they read it.
func TestHowFarTheBaselineIs(t *testing.T) {
	c := passed()
	c.Away = "2 commits farther than the nearest, measured 3 days ago"
	var text, markdown, page, comment bytes.Buffer
	for name, err := range map[string]error{
		"text": Text(&text, c, Options{Width: 200}), "markdown": Markdown(&markdown, c), "page": HTML(&page, c), "comment": Comment{}.Write(&comment, c),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, said := range map[string]string{"text": text.String(), "markdown": markdown.String(), "page": page.String(), "comment": comment.String()} {
		if !strings.Contains(said, c.Away) {
			t.Errorf("%s does not say %q:\n%.600s", name, c.Away, said)
		}
	}
}
