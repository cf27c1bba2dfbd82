package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// lean rewrites the library's SVG: what it draws without its document around it, marks of roles as classes, and no digits that cannot
// be seen. Only elements and attributes that are named here come through.
func lean(document string) (string, error) {
	var out strings.Builder
	decoder := xml.NewDecoder(strings.NewReader(document))
	depth := 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return out.String(), nil
		}
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if depth++; depth > 1 {
				out.WriteString(opened(token))
			}
		case xml.EndElement:
			if depth--; depth > 0 {
				out.WriteString("</" + token.Name.Local + ">")
			}
		case xml.CharData:
			if s := string(token); strings.TrimSpace(s) != "" {
				out.WriteString(escaped(s))
			}
		}
	}
}

func opened(e xml.StartElement) string {
	var attributes, classes []string
	for _, a := range e.Attr {
		switch a.Name.Local {
		case "style":
			for part := range strings.SplitSeq(a.Value, ";") {
				property, value, _ := strings.Cut(part, ":")
				name, through := marked(value)
				switch property = strings.TrimSpace(property); {
				case name != "":
					classes = append(classes, property[:1]+"-"+name)
					if through {
						attributes = append(attributes, property+"-opacity", "0.18")
					}
				case property == "fill" && value == "none", strings.HasSuffix(property, "-opacity"), strings.HasPrefix(property, "stroke-"), property == "font-size",
					property == "font-weight" && value == "bold":
					attributes = append(attributes, property, value)
				}
			}
		case "d", "transform":
			attributes = append(attributes, a.Name.Local, short(a.Value))
		case "x", "y":
			attributes = append(attributes, a.Name.Local, a.Value)
		}
	}
	var out strings.Builder
	out.WriteString("<" + e.Name.Local)
	if len(classes) > 0 {
		fmt.Fprintf(&out, ` class="%s"`, strings.Join(classes, " "))
	}
	for i := 0; i < len(attributes); i += 2 {
		fmt.Fprintf(&out, ` %s="%s"`, attributes[i], escaped(attributes[i+1]))
	}
	return out.String() + ">"
}

var number = regexp.MustCompile(`-?\d+\.\d+(e[-+]?\d+)?`)

// short rounds numbers to tenths of a pixel.
func short(s string) string {
	return number.ReplaceAllStringFunc(s, func(n string) string {
		v, err := strconv.ParseFloat(n, 64)
		if err != nil {
			return n
		}
		s := strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
		if s == "-0" {
			return "0"
		}
		return s
	})
}

// escaped returns text that neither ends an element nor an attribute. It is right in HTML and in XML.
func escaped(s string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(s)) // a Builder takes all
	return out.String()
}

// Inline returns the drawing for an HTML page that has Style. alt is what it shows, in words.
func (d Drawing) Inline(alt string) string {
	return fmt.Sprintf(`<svg class="chart" role="img" aria-label="%s" viewBox="0 0 %g %g">%s</svg>`, escaped(alt), d.Width, d.Height, d.body)
}

// A Titled drawing stands outside a page, under its title.
type Titled struct {
	Drawing
	Title, Alt string
}

// above is the room of a title.
const above = 26

// Sheet writes drawings as one SVG document, in so many columns, each in the one that ends first. It is a picture that needs nothing else, with its colours for light
// and dark and the titles written above the drawings.
func Sheet(w io.Writer, title string, columns int, all []Titled) error {
	const gap = 20
	columns = max(1, min(columns, len(all)))
	var out strings.Builder
	ends := slices.Repeat([]float64{gap}, columns) // of what stands in each column
	widest := float64(width)
	for _, t := range all {
		widest = max(widest, t.Width)
	}
	for _, t := range all {
		column := 0
		for i := range ends {
			if ends[i] < ends[column] {
				column = i
			}
		}
		fmt.Fprintf(&out, `<g transform="translate(%g,%g)" role="img" aria-label="%s"><text class="f-ink" x="2" y="14" font-size="13px" font-weight="bold">%s</text><g transform="translate(0,%d)">%s</g></g>`+"\n",
			gap+float64(column)*(widest+gap), ends[column], escaped(t.Alt), escaped(text.larger(13).fit(t.Title, vg.Length(t.Width-4))), above, t.body)
		ends[column] += above + t.Height + gap
	}
	y := slices.Max(ends)
	across := gap + float64(columns)*(widest+gap)
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" class="chart" width="%g" height="%g" viewBox="0 0 %g %g"><title>%s</title><style>%s</style><rect class="f-paper" width="100%%" height="100%%"/>`+"\n%s</svg>\n",
		across, y, across, y, escaped(title), Style(), out.String())
	return err
}
