package metric

import (
	"encoding/base64"
	"math"
	"slices"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"
)

// held is a duration in seconds that a histogram can hold.
var held = rapid.Custom(func(t *rapid.T) float64 {
	return math.Pow(10, rapid.Float64Range(-6, math.Log10(3600)).Draw(t, "exponent"))
})

func filled(durations []float64, censored int) *Histogram {
	h := NewHistogram()
	for _, d := range durations {
		h.Record(d)
	}
	for range censored {
		h.Censor()
	}
	return h
}

// near says whether got is want to three significant digits, or to the microsecond that is the least that is told apart.
func near(got, want float64) bool { return math.Abs(got-want) <= 0.001*want+1.001e-6 }

// TestQuantile holds quantiles against nearest rank on the sorted durations, with the censored attempts at the end.
func TestQuantile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		durations := rapid.SliceOf(held).Draw(t, "durations")
		censored := rapid.IntRange(0, 5).Draw(t, "censored")
		q := rapid.OneOf(rapid.Float64Range(1e-12, 1), rapid.SampledFrom([]float64{0.5, 0.95, 0.99, 1})).Draw(t, "q")
		h := filled(durations, censored)
		got, ok := h.Quantile(q)

		slices.Sort(durations)
		rank := max(1, int(math.Ceil(q*float64(len(durations)+censored)-1e-9)))
		if known := rank >= 1 && rank <= len(durations); ok != known {
			t.Fatalf("rank %d of %d with %d censored: ok is %v", rank, len(durations), censored, ok)
		}
		if ok && !near(got, durations[rank-1]) {
			t.Fatalf("the %v-quantile is %v, want %v of %v", q, got, durations[rank-1], durations)
		}
		if !ok && got != 0 {
			t.Fatalf("an unknown quantile is %v, want 0", got)
		}
	})
}

func TestQuantileOfFew(t *testing.T) {
	for _, tt := range []struct {
		name      string
		durations []float64
		censored  int
		q, want   float64
		ok        bool
	}{
		{"nothing", nil, 0, 0.5, 0, false},
		{"only censored", nil, 3, 0.5, 0, false},
		{"one", []float64{0.2}, 0, 0.5, 0.2, true},
		{"one, highest", []float64{0.2}, 0, 1, 0.2, true},
		{"lower of two", []float64{0.1, 0.3}, 0, 0.5, 0.1, true},
		{"upper of two", []float64{0.1, 0.3}, 0, 0.51, 0.3, true},
		{"half censored, median", []float64{0.1}, 1, 0.5, 0.1, true},
		{"half censored, above", []float64{0.1}, 1, 0.51, 0, false},
		{"q of 0", []float64{0.1}, 0, 0, 0, false},
		{"q below 0", []float64{0.1}, 0, -1, 0, false},
		{"q above 1", []float64{0.1}, 0, 1.1, 0, false},
		{"q is no number", []float64{0.1}, 0, math.NaN(), 0, false},
		{"55th of 100", hundred(), 0, 0.55, 0.055, true},
		{"99th of 100", hundred(), 0, 0.99, 0.099, true},
		{"100th of 100", hundred(), 0, 0.991, 0.1, true},
	} {
		got, ok := filled(tt.durations, tt.censored).Quantile(tt.q)
		if ok != tt.ok || !near(got, tt.want) {
			t.Errorf("%s: got %v, %v, want %v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

// hundred returns 1 ms, 2 ms, … 100 ms.
func hundred() []float64 {
	var all []float64
	for i := range 100 {
		all = append(all, float64(i+1)/1000)
	}
	return all
}

func TestRecord(t *testing.T) {
	for _, tt := range []struct {
		seconds float64
		held    bool
		max     float64
	}{
		{0, true, 1e-6}, {1e-9, true, 1e-6}, {1e-6, true, 1e-6}, {1.5, true, 1.5}, {3600, true, 3600},
		{3600.001, false, 0}, {-1e-9, false, 0}, {math.NaN(), false, 0}, {math.Inf(1), false, 0}, {math.Inf(-1), false, 0}, {math.MaxFloat64, false, 0},
	} {
		h := filled([]float64{tt.seconds}, 0)
		if got := h.Count() == 1 && h.Outside() == 0; got != tt.held {
			t.Errorf("%v: %d held, %d outside", tt.seconds, h.Count(), h.Outside())
		}
		if !tt.held && (h.Count() != 0 || h.Outside() != 1) {
			t.Errorf("%v: %d held, %d outside, want 0 and 1", tt.seconds, h.Count(), h.Outside())
		}
		if !near(h.Max(), tt.max) {
			t.Errorf("%v: max is %v, want %v", tt.seconds, h.Max(), tt.max)
		}
	}
}

func TestMean(t *testing.T) {
	if got := NewHistogram().Mean(); got != 0 {
		t.Errorf("of nothing: %v, want 0", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		durations := rapid.SliceOfN(held, 1, 50).Draw(t, "durations")
		sum := 0.0
		for _, d := range durations {
			sum += d
		}
		if got, want := filled(durations, 2).Mean(), sum/float64(len(durations)); !near(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// TestMerge holds a merged histogram against one that all was recorded in.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		any := rapid.OneOf(held, rapid.SampledFrom([]float64{-1, 4000, math.NaN()}))
		a, b := rapid.SliceOf(any).Draw(t, "a"), rapid.SliceOf(any).Draw(t, "b")
		one, other := filled(a, 2), filled(b, 3)
		one.Merge(other)
		same(t, one, filled(append(slices.Clone(a), b...), 5))
		same(t, other, filled(b, 3))
	})
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// same fails the test unless both histograms hold the same.
func same(t fataler, got, want *Histogram) {
	t.Helper()
	if got.Count() != want.Count() || got.Censored() != want.Censored() || got.Outside() != want.Outside() {
		t.Fatalf("got %d, %d censored, %d outside, want %d, %d, %d",
			got.Count(), got.Censored(), got.Outside(), want.Count(), want.Censored(), want.Outside())
	}
	if !got.h.Equals(want.h) {
		t.Fatalf("got buckets %v, want %v", buckets(got), buckets(want))
	}
}

type bucket struct {
	end   float64
	count int64
}

func buckets(h *Histogram) []bucket {
	var all []bucket
	h.Buckets(func(seconds float64, count int64) { all = append(all, bucket{seconds, count}) })
	return all
}

func TestBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		durations := rapid.SliceOf(held).Draw(t, "durations")
		slices.Sort(durations)
		next := 0
		for _, b := range buckets(filled(durations, 1)) {
			if b.count < 1 {
				t.Fatalf("bucket until %v is empty", b.end)
			}
			for range b.count {
				if next == len(durations) || durations[next] > b.end+0.51e-6 || !near(b.end, durations[next]) {
					t.Fatalf("bucket until %v holds duration %d of %v", b.end, next, durations)
				}
				next++
			}
		}
		if next != len(durations) {
			t.Fatalf("the buckets hold %d durations, want %d", next, len(durations))
		}
	})
}

func TestEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := filled(rapid.SliceOf(held).Draw(t, "durations"), 0)
		s, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeHistogram(s)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
		got.Record(1) // it can be gone on with
		got.Merge(want)
		if got.Count() != 2*want.Count()+1 || got.Outside() != 0 {
			t.Fatalf("after more: %d held, %d outside, want %d and 0", got.Count(), got.Outside(), 2*want.Count()+1)
		}
	})
}

// TestEncodeAsOthersDo holds the text against what the other implementations expect: base64 of the V2 cookie and on.
func TestEncodeAsOthersDo(t *testing.T) {
	s, err := filled(hundred(), 0).Encode()
	if err != nil || !strings.HasPrefix(s, "HISTFAAA") {
		t.Errorf("got %.20q, %v, want it to begin with HISTFAAA", s, err)
	}
	h, err := hdr.Decode([]byte(s))
	if err != nil || h.TotalCount() != 100 || h.LowestTrackableValue() != 1 || h.HighestTrackableValue() != 3_600_000_000 || h.SignificantFigures() != 3 {
		t.Errorf("got %v of 1 to %d µs, %v", h.TotalCount(), h.HighestTrackableValue(), err)
	}
}

func TestDecodeFaults(t *testing.T) {
	good, err := filled(hundred(), 0).Encode()
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := hdr.New(1, 1000, 2).Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]string{
		"empty": "", "text": "hello", "no base64": "HISTF###", "only a cookie": good[:8], "cut": good[:len(good)/2/4*4], "another range": string(foreign),
		"another kind": base64.StdEncoding.EncodeToString([]byte("\x1c\x84\x93\x08\x00\x00\x00\x00")),
	} {
		if h, err := DecodeHistogram(s); err == nil || h != nil || !strings.HasPrefix(err.Error(), "decode histogram: ") {
			t.Errorf("%s: got %v, %v", name, h, err)
		}
	}
}

func FuzzDecodeHistogram(f *testing.F) {
	for _, h := range []*Histogram{NewHistogram(), filled(hundred(), 0), filled([]float64{1e-6, 3600}, 0)} {
		s, err := h.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := DecodeHistogram(s)
		if err != nil {
			return
		}
		again, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeHistogram(again)
		if err != nil {
			t.Fatal(err)
		}
		same(t, back, h)
		for _, q := range []float64{1e-12, 0.5, 0.99, 1} {
			if v, ok := h.Quantile(q); ok && !(v > 0 && v <= h.Max()) {
				t.Errorf("the %v-quantile is %v, the longest %v", q, v, h.Max())
			}
		}
	})
}
