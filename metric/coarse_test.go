package metric

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// coarse returns a histogram as it is read again.
func coarse(t interface {
	Helper()
	Fatal(...any)
}, h *Histogram) *Histogram {
	t.Helper()
	s, err := h.EncodeCoarse()
	if err != nil {
		t.Fatal(err)
	}
	c, err := DecodeHistogram(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCoarse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := filled(rapid.SliceOfN(held, 1, 300).Draw(t, "durations"), 0)
		before, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		c := coarse(t, h)
		if c.Count() != h.Count() {
			t.Fatalf("got %d durations, want %d", c.Count(), h.Count())
		}
		for _, q := range []float64{0.01, 0.5, 0.95, 0.99, 1} {
			exact, _ := h.Quantile(q)
			if got, ok := c.Quantile(q); !ok || math.Abs(got-exact) > 0.005*exact+1e-9 { // 1/256, and what the finer buckets round
				t.Fatalf("quantile %v: got %v, %v, want %v", q, got, ok, exact)
			}
		}
		same(t, coarse(t, c), c) // nothing more is lost
		if after, err := h.Encode(); err != nil || after != before {
			t.Fatal("the histogram itself was changed")
		}
		c.Merge(h) // it can be gone on with
		if c.Count() != 2*h.Count() || c.Outside() != 0 {
			t.Fatalf("merged: %d durations, %d outside", c.Count(), c.Outside())
		}
	})
}

// TestCoarseIsSmall holds what it is for: durations that spread as those of a full load do.
func TestCoarseIsSmall(t *testing.T) {
	h, rng := NewHistogram(), rand.New(rand.NewPCG(1, 2))
	for range 500_000 {
		h.Record(0.003 * math.Exp(0.8*rng.NormFloat64()))
	}
	whole, err1 := h.Encode()
	small, err2 := h.EncodeCoarse()
	if err1 != nil || err2 != nil || len(small) > 2500 || len(small) > len(whole)*2/5 {
		t.Errorf("got %d bytes of %d, %v, %v", len(small), len(whole), err1, err2)
	}
}
