package chart

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A label is an event's line and the words over it.
type label struct {
	Event
	x    vg.Length // of the line
	row  int       // of the words, from 0 above the axes; -1 for none
	left vg.Length // of the words
	said string
}

// rank says whose label is placed first. Drift is of no one place, and is said elsewhere as well.
func (k Kind) rank() int {
	switch k {
	case Worse:
		return 0
	case Drift:
		return 2
	}
	return 1
}

// mostRows is how many rows of labels there are over a chart. What finds no place in them has its line only.
const mostRows = 4

// A box is room that a label or its line takes up in a row.
type box struct{ from, to vg.Length }

// arrange finds a place for each event's label between from and to, so that none touches another or its line, and returns how many rows they
// take. What must be seen first is placed first; what lies elsewhere is none.
func arrange(events []Event, from, to vg.Length, at func(night float64) vg.Length) (labels []label, rows int) {
	for _, e := range events {
		if x := at(e.Night); x >= from && x <= to {
			labels = append(labels, label{Event: e, x: x, row: -1})
		}
	}
	slices.SortStableFunc(labels, func(a, b label) int {
		return cmp.Or(cmp.Compare(a.Kind.rank(), b.Kind.rank()), cmp.Compare(b.x, a.x))
	})
	var taken [mostRows][]box
	for i := range labels {
		if labels[i].settle(&taken, from, to) {
			rows = max(rows, labels[i].row+1)
		}
	}
	return labels, rows
}

// settle takes the lowest free place for a label, and says whether there is one.
func (l *label) settle(taken *[mostRows][]box, from, to vg.Length) bool {
	const apart = 4
	for _, said := range []string{l.Label, l.Mark} {
		if said == "" {
			continue
		}
		width := l.Kind.lettering().Width(said)
		for _, left := range []vg.Length{l.x + apart, l.x - apart - width} {
			words := box{min(l.x, left), max(l.x, left+width)}
			for row := range mostRows {
				if words.from < from || words.to > to || !free(taken[row], words) || !allFree(taken[:row], box{l.x, l.x}) {
					continue
				}
				for below := range row {
					taken[below] = append(taken[below], box{l.x, l.x})
				}
				taken[row] = append(taken[row], words)
				l.row, l.left, l.said = row, left, said
				return true
			}
		}
	}
	return false
}

// free says whether nothing in a row touches a box.
func free(row []box, b box) bool {
	const apart = 3
	return !slices.ContainsFunc(row, func(t box) bool { return b.from < t.to+apart && t.from < b.to+apart })
}

func allFree(rows [][]box, b box) bool {
	return !slices.ContainsFunc(rows, func(row []box) bool { return !free(row, b) })
}

// draw draws the line through the axes up to the words.
func (l label) draw(c *draw.Canvas, inside draw.Canvas) {
	top := inside.Max.Y
	if l.row >= 0 {
		base := top + 4 + vg.Length(l.row*labelRow)
		l.Kind.lettering().fill(c, vg.Point{X: l.left, Y: base}, l.said)
		top = base + 9
	}
	c.StrokeLine2(l.Kind.line(), l.x, inside.Min.Y, l.x, top)
}
