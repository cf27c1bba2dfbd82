package report

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFigure(t *testing.T) {
	for _, tt := range []struct {
		metric string
		v      float64
		want   string
	}{
		{"time", 162.4, "162 s"},
		{"time", 86.24, "86.2 s"},
		{"time", 1234.5, "1234 s"},
		{"time", 9.996, "10.0 s"},
		{"time", 0, "0 s"},
		{"session.wait.p50", 0.0034, "3.40 ms"},
		{"session.wait.p50", 0.99999, "1.00 s"},
		{"session.wait.p50", 0.000999999, "1.00 ms"},
		{"latency.ready.p95", 0.000042, "42.0 µs"},
		{"latency.ready.p95", 4e-9, "0.00400 µs"},
		{"time_above_floor", -0.25, "-250 ms"},
		{"ram", 442e6, "442 MB"},
		{"db.ram", 1.31e9, "1.31 GB"},
		{"ram", 999.99e6, "1.00 GB"},
		{"size", 12, "12.0 B"},
		{"size", 1500, "1.50 kB"},
		{"cpu", 1.16, "1.16 cores"},
		{"db.cpu", 0.05, "0.0500 cores"},
		{"ok", 0.9958, "99.6 %"},
		{"ok", 1, "100 %"},
		{"host.steal", 0.02, "2.00 %"},
		{"throughput", 111.4, "111 /s"},
		{"no.such", 3.14159, "3.14"},
		{"time", nan, "-"},
		{"time", math.Inf(1), "-"},
	} {
		if got := Figure(tt.metric, tt.v); got != tt.want {
			t.Errorf("%s %v: got %q, want %q", tt.metric, tt.v, got, tt.want)
		}
	}
}

func TestOneUnitForBoth(t *testing.T) {
	s := scaleOf("session.wait.p50", 0.98, 1.02, nan)
	if got, want := s.write(0.98)+", "+s.write(1.02), "0.980 s, 1.02 s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDigits holds what is written against what was meant: three digits, so at most half a percent off.
func TestDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(1e-6, 1e9).Draw(t, "v") * rapid.SampledFrom([]float64{1, -1}).Draw(t, "sign")
		s := digits(v)
		got, err := strconv.ParseFloat(s, 64)
		if err != nil || math.Abs(got/v-1) > 0.005 {
			t.Fatalf("%v is written %q", v, s)
		}
		plain := strings.TrimLeft(strings.ReplaceAll(strings.TrimPrefix(s, "-"), ".", ""), "0")
		if len(plain) < 3 || strings.Contains(s, ".") && len(plain) > 3 {
			t.Fatalf("%v is written %q, with %d digits", v, s, len(plain))
		}
	})
}

func TestPercent(t *testing.T) {
	for _, tt := range []struct {
		v    float64
		want string
	}{
		{0.123, "+12.3 %"}, {-0.009, "-0.9 %"}, {0, "0.0 %"}, {0.0004, "0.0 %"}, {-0.0004, "0.0 %"}, {0.99949, "+99.9 %"}, {0.9996, "+100 %"}, {1.48, "+148 %"},
		{-1, "-100 %"}, {nan, "-"}, {math.Inf(1), "∞ %"},
	} {
		if got := percent(tt.v); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.v, got, tt.want)
		}
	}
	for _, tt := range []struct {
		v    float64
		want string
	}{{0.05, "5 %"}, {0.125, "12.5 %"}, {0.9975, "99.75 %"}, {1 - 0.99, "1 %"}, {0, "0 %"}, {nan, "-"}} {
		if got := share(tt.v); got != tt.want {
			t.Errorf("share %v: got %q, want %q", tt.v, got, tt.want)
		}
	}
	for _, tt := range []struct {
		lower, upper float64
		want         string
	}{
		{-0.012, 0.034, "-1.2 … +3.4"}, {nan, nan, "-"}, {math.Inf(-1), math.Inf(1), "-"}, {nan, 0.1, "- … +10.0"}, {math.Inf(-1), 0, "-∞ … 0.0"},
	} {
		if got := between(tt.lower, tt.upper); got != tt.want {
			t.Errorf("between %v and %v: got %q, want %q", tt.lower, tt.upper, got, tt.want)
		}
	}
}
