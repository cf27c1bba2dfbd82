package chart

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	ptext "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A role is what a colour is for. As a color.Color it is a mark that lean turns into a class.
type role uint8

const (
	ink   role = iota + 1 // text
	faint                 // text beside text
	rule                  // axes and grids
	paper                 // what is under it all
	base                  // the arms
	head
	good // the outcomes
	bad
	unsure
)

// colors are the roles' names and their colours on light and on dark paper. Text and what it stands on are apart by 4.5 to 1 or more.
var colors = map[role]struct{ name, light, dark string }{
	ink:    {"ink", "#1f2328", "#f0f6fc"},
	faint:  {"faint", "#59636e", "#9198a1"},
	rule:   {"rule", "#d1d9e0", "#3d444d"},
	paper:  {"paper", "#ffffff", "#0d1117"},
	base:   {"base", "#6e7781", "#9198a1"},
	head:   {"head", "#0969da", "#4493f8"},
	good:   {"good", "#1a7f37", "#3fb950"},
	bad:    {"bad", "#cf222e", "#ff6a62"},
	unsure: {"unsure", "#8a5d00", "#d29922"},
}

const roles = unsure

// mark is the red and green of every role's mark; the blue is the role. Nothing else is drawn in such colours.
const mark = 0xab

// RGBA implements color.Color.
func (r role) RGBA() (red, green, blue, alpha uint32) {
	return color.NRGBA{R: mark, G: mark, B: uint8(r), A: 0xff}.RGBA()
}

// glass is the bit of a mark whose colour lets most of what is under it through.
const glass = 0x80

// through is the role's colour as glass.
func (r role) through() color.Color { return r | glass }

// marked returns the role whose mark is written in SVG as #ABAB01, "" if it is none, and whether it is glass.
func marked(written string) (name string, through bool) {
	if len(written) != len("#ABAB01") || !strings.EqualFold(written[:5], fmt.Sprintf("#%02x%02x", mark, mark)) {
		return "", false
	}
	n, err := strconv.ParseUint(written[5:], 16, 8)
	if err != nil {
		return "", false
	}
	return colors[role(n)&^glass].name, role(n)&glass != 0
}

// fonts are of one width on all systems: Liberation Sans, Arial and Helvetica measure the same.
const fonts = `"Liberation Sans",Arial,Helvetica,sans-serif`

// Style returns the CSS that drawings need, for light and dark screens and for paper.
func Style() string {
	var light, dark strings.Builder
	for r := ink; r <= roles; r++ {
		c := colors[r]
		fmt.Fprintf(&light, ".f-%s{fill:%s}.s-%s{stroke:%s}", c.name, c.light, c.name, c.light)
		fmt.Fprintf(&dark, ".f-%s{fill:%s}.s-%s{stroke:%s}", c.name, c.dark, c.name, c.dark)
	}
	return ".chart{font-family:" + fonts + "}" + light.String() + "@media screen and (prefers-color-scheme:dark){" + dark.String() + "}"
}

// Variables returns the roles' colours as CSS custom properties, --ink: #1f2328, for the page around the drawings.
func Variables(onDark bool) string {
	var out strings.Builder
	for r := ink; r <= roles; r++ {
		c := colors[r]
		value := c.light
		if onDark {
			value = c.dark
		}
		fmt.Fprintf(&out, "--%s:%s;", c.name, value)
	}
	return out.String()
}

func sans(size float64) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(size)}
}

// A lettering is how text is written.
type lettering struct{ ptext.Style }

var (
	text      = lettering{ptext.Style{Color: ink, Font: sans(11), Handler: ptext.Plain{Fonts: font.DefaultCache}}}
	faintText = lettering{ptext.Style{Color: faint, Font: sans(11), Handler: ptext.Plain{Fonts: font.DefaultCache}}}
)

func (l lettering) fill(c *draw.Canvas, at vg.Point, s string) { c.FillText(l.Style, at, s) }

// fit shortens text in its middle to a width.
func (l lettering) fit(s string, width vg.Length) string {
	runes := []rune(s)
	for n := len(runes) - 1; n > 1 && l.Width(s) > width; n-- {
		s = string(runes[:n*2/3]) + "…" + string(runes[len(runes)-n+n*2/3:])
	}
	return s
}

func (l lettering) larger(size float64) lettering { l.Font = sans(size); return l }
