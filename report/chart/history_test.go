package chart

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

// TestLabelsDoNotOverlap arranges labels of events that lie as close as they like.
func TestLabelsDoNotOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nights := rapid.SliceOfN(rapid.Float64Range(0, 600), 1, 40).Draw(t, "nights")
		var events []Event
		for _, n := range nights {
			events = append(events, Event{n, Kind(rapid.IntRange(0, int(Drift)).Draw(t, "kind")), rapid.SampledFrom([]string{"1 +2.0 %", "12 machine +120 %", "3 +4.0 % accepted"}).Draw(t, "label"), "1"})
		}
		labels, rows := arrange(events, 0, 600, func(night float64) vg.Length { return vg.Length(night) })
		if len(labels) != len(events) {
			t.Fatalf("%d labels of %d events", len(labels), len(events))
		}
		for i, a := range labels {
			if a.row < 0 {
				continue
			}
			from, to := a.left, a.left+a.Kind.lettering().Width(a.said)
			if a.row >= rows || from < 0 || to > 600 {
				t.Fatalf("label %d lies from %v to %v in row %d of %d", i, from, to, a.row, rows)
			}
			for k, b := range labels {
				if i == k || b.row < 0 {
					continue
				}
				if b.row == a.row && b.left < to && from < b.left+b.Kind.lettering().Width(b.said) {
					t.Fatalf("labels %d and %d cover each other in row %d", i, k, a.row)
				}
				if b.row >= a.row && b.x > from && b.x < to {
					t.Fatalf("the line of label %d goes through label %d", k, i)
				}
			}
		}
	})
}

// TestOpenChangesAreSaidFirst crowds a chart: what is still open has its label.
func TestOpenChangesAreSaidFirst(t *testing.T) {
	var events []Event
	for i := range 40 {
		events = append(events, Event{Night: float64(i * 15), Label: "30 +10.0 %", Mark: "30"})
	}
	events[20].Kind = Worse
	labels, rows := arrange(events, 0, 600, func(night float64) vg.Length { return vg.Length(night) })
	said := 0
	for _, l := range labels {
		if l.said == l.Label {
			said++
		}
		if l.Kind == Worse && l.said != l.Label {
			t.Error("the open change has no label")
		}
	}
	if rows != mostRows || said < 15 {
		t.Errorf("%d labels in %d rows", said, rows)
	}
}

func TestThinnedLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d dots
		x := 0.0
		for range rapid.IntRange(0, 3000).Draw(t, "nights") {
			x += 0.05
			d = append(d, vg.Point{X: vg.Length(x), Y: vg.Length(math.Sin(x*x) * 50)})
		}
		line := d.thinned()
		if most := 4 * int(x+1); len(line) > most || len(d) > 0 && (line[0] != d[0] || line[len(line)-1] != d[len(d)-1]) {
			t.Fatalf("%d points over %v px, of %d", len(line), x, len(d))
		}
		height := func(points []vg.Point) (low, high vg.Length) {
			for _, p := range points {
				low, high = min(low, p.Y), max(high, p.Y)
			}
			return low, high
		}
		wantLow, wantHigh := height(d)
		if low, high := height(line); low != wantLow || high != wantHigh {
			t.Fatalf("from %v to %v, want %v to %v", low, high, wantLow, wantHigh)
		}
		if !slices.IsSortedFunc(line, func(a, b vg.Point) int { return int(math.Copysign(1, float64(a.X-b.X))) }) && len(line) > 1 {
			t.Fatal("the line goes back")
		}
	})
}

// TestSpikesDoNotSquash draws a spike of nine times the level: the level keeps most of the axis, and an arrow says that there is more.
func TestSpikesDoNotSquash(t *testing.T) {
	h := History{Nights: 20}
	for i := range 20 {
		h.Points = append(h.Points, Point{Night: i, Median: 100 + float64(i%3), Level: 101})
	}
	if h.Exceeds() {
		t.Error("values lie beyond the axis before there is a spike")
	}
	h.Points[10].Median, h.Points[10].Spike = 900, true
	low, high, _ := h.span()
	if high > 130 || low < 85 || !h.Exceeds() {
		t.Errorf("the axis goes from %v to %v", low, high)
	}
}

// TestDotsThatCoverEachOther are drawn once: a long history must not be a large page.
func TestDotsThatCoverEachOther(t *testing.T) {
	crowd := func(nights int) int {
		h := History{Nights: nights}
		for i := range nights {
			p := Point{Night: i, Median: 100, Level: 100}
			for k := range 15 {
				p.Runs = append(p.Runs, 100+float64((i*7+k*3)%20)/5)
			}
			h.Points = append(h.Points, p)
		}
		d, err := h.Draw()
		if err != nil {
			t.Fatal(err)
		}
		return len(d.body)
	}
	if some, many := crowd(2000), crowd(20_000); many > some*3/2 || many > 400_000 {
		t.Errorf("2,000 nights take %d bytes, 20,000 take %d", some, many)
	}
}

func TestKindsDifferWithoutColour(t *testing.T) {
	seen := make(map[string]Kind)
	for k := Settled; k <= Drift; k++ {
		style := k.line()
		looks := fmt.Sprint(style.Width, style.Dashes)
		if other, found := seen[looks]; found {
			t.Errorf("kinds %d and %d look alike in grey", k, other)
		}
		seen[looks] = k
	}
}
