package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/ddpgate/ddpgate/report/chart"
)

// SVG writes all charts as one picture.
func SVG(w io.Writer, c Comparison) error {
	all, err := c.titled()
	if err != nil {
		return err
	}
	return sheet(w, c.title(), 3, all)
}

func sheet(w io.Writer, title string, columns int, all []pictureFile) error {
	drawings := make([]chart.Titled, len(all))
	for i, t := range all {
		drawings[i] = t.Titled
	}
	return chart.Sheet(w, title, columns, drawings)
}

// SVGFiles returns the charts as a file each.
func SVGFiles(c Comparison) ([]File, error) {
	all, err := c.titled()
	if err != nil {
		return nil, err
	}
	return pictureFiles(all)
}

func pictureFiles(all []pictureFile) ([]File, error) {
	var files []File
	taken := make(map[string]int)
	for _, t := range all {
		var out bytes.Buffer
		if err := chart.Sheet(&out, t.Title, 1, []chart.Titled{t.Titled}); err != nil {
			return nil, err
		}
		name := t.file
		if taken[t.file]++; taken[t.file] > 1 {
			name = fmt.Sprintf("%s-%d", t.file, taken[t.file])
		}
		files = append(files, File{name + ".svg", out.Bytes()})
	}
	return files, nil
}

// title is a report's in a line.
func (c Comparison) title() string {
	p := newPage(c)
	word := "measured"
	if p.judged {
		word = called(p.outcome)
	}
	return plain(cut(word+": "+p.headline, mostText))
}

// A pictureFile is a chart that stands alone.
type pictureFile struct {
	chart.Titled
	file string // its name without an ending
}

func (c Comparison) titled() ([]pictureFile, error) {
	var all []pictureFile
	for _, name := range c.scenarios() {
		pictures, err := c.pictures(name)
		if err != nil {
			return nil, err
		}
		for _, p := range pictures {
			all = append(all, newPictureFile(name, p))
		}
	}
	return all, nil
}

func newPictureFile(scenario string, p picture) pictureFile {
	titled := chart.Titled{Drawing: p.drawing, Title: plain(scenario + ": " + p.title), Alt: plain(p.alt)}
	return pictureFile{titled, slug(join("-", scenario, string(p.kind), p.subject))}
}

// longestSlug is how many characters of a file's name come from outside.
const longestSlug = 80

// slug returns text as a file's name that every system takes.
func slug(s string) string {
	kept := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '-'
	}, s)
	kept = strings.Trim(kept[:min(len(kept), longestSlug)], ".-")
	return or(kept, "chart")
}
