package scenario

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseRate(t *testing.T) {
	for _, tt := range []struct {
		text string
		want float64
		err  string
	}{
		{"4/s", 4, ""},
		{"0.5/s", 0.5, ""},
		{"240/min", 4, ""},
		{"90/h", 0.025, ""},
		{"4", 0, "not a rate"},
		{"", 0, "not a rate"},
		{"/s", 0, "not a rate"},
		{"4/mins", 0, `did you mean "min"?`},
		{"4/", 0, "unknown unit"},
		{"0/s", 0, "above 0"},
		{"-1/s", 0, "above 0"},
		{"NaN/s", 0, "not a rate"},
		{"inf/s", 0, "not a rate"},
		{"1e400/s", 0, "not a rate"},
		{"5e-324/h", 0, "above 0"},
	} {
		got, err := ParseRate(tt.text)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("ParseRate(%q) = %v, %v, want %v and an error with %q", tt.text, got, err, tt.want, tt.err)
		}
	}
}

func TestParseRange(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		text string
		want Range
		ok   bool
	}{
		{"500ms", Range{500 * ms, 500 * ms}, true},
		{"0", Range{}, true},
		{"0..200ms", Range{0, 200 * ms}, true},
		{"1s..1m30s", Range{1000 * ms, 90_000 * ms}, true},
		{"200ms..0", Range{}, false},
		{"..200ms", Range{}, false},
		{"0..", Range{}, false},
		{"500", Range{}, false},
		{"-1s..1s", Range{}, false},
		{"1s..2s..3s", Range{}, false},
	} {
		got, err := ParseRange(tt.text)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("ParseRange(%q) = %v, %v, want %v", tt.text, got, err, tt.want)
		}
	}
}

func TestRangeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.Int64Range(0, int64(time.Hour)).Draw(t, "min")
		r := Range{time.Duration(least), time.Duration(rapid.Int64Range(least, int64(time.Hour)).Draw(t, "max"))}
		if got, err := ParseRange(r.String()); err != nil || got != r {
			t.Fatalf("%q is read as %v, %v", r, got, err)
		}
	})
}

// Sessions and Due agree: exactly the planned sessions are due before the arrivals are over.
func TestArrivals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Arrivals{
			Rate: float64(rapid.IntRange(1, 5000).Draw(t, "tenths")) / 10,
			For:  time.Duration(rapid.IntRange(1, 600).Draw(t, "for")) * time.Second,
		}
		n := a.Sessions()
		if last := a.Due(n - 1); n < 1 || last >= a.For {
			t.Fatalf("%+v: session %d of %d is due at %s", a, n-1, n, last)
		}
		if next := a.Due(n); next < a.For-time.Microsecond {
			t.Fatalf("%+v: session %d is due at %s and not planned", a, n, next)
		}
	})
}
