package metric

import (
	"encoding/json"
	"fmt"
	"math"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// A Histogram keeps durations from 1 µs to one hour with three significant digits, and beside them how many
// attempts ended without one. It takes some 100 KiB once values spread, so a driver keeps one for each metric and
// worker, never one a session. It is not safe for concurrent use: record into one a goroutine and Merge them.
//
// One that was read stays as small as its text until it is looked into; merging it into another is no look.
type Histogram struct {
	h        *hdr.Histogram       // nil where packed has all
	packed   *hdr.PackedHistogram // as it was read, nil once it was looked into
	censored int64
	outside  int64
}

const (
	lowest  = 1             // µs
	highest = 3_600_000_000 // µs
	digits  = 3
)

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram { return &Histogram{h: hdr.New(lowest, highest, digits)} }

// Record adds a duration in seconds. One that a histogram cannot hold (negative, NaN, over an hour) is counted as
// outside and otherwise left out; one below a microsecond counts as a microsecond.
func (h *Histogram) Record(seconds float64) {
	if !(seconds >= 0) || seconds > highest/1e6 {
		h.outside++
		return
	}
	if err := h.dense().RecordValue(max(lowest, int64(math.Round(seconds*1e6)))); err != nil {
		h.outside++
	}
}

// Censor adds an attempt that ended without a duration (it failed or timed out): longer than any that was seen.
func (h *Histogram) Censor() { h.censored++ }

// Count returns how many durations were recorded, without the censored attempts and those outside.
func (h *Histogram) Count() int64 { return h.dense().TotalCount() }

// Censored returns how many attempts ended without a duration.
func (h *Histogram) Censored() int64 { return h.censored }

// Outside returns how many durations could not be held.
func (h *Histogram) Outside() int64 { return h.outside }

// Max returns the longest duration in seconds, 0 for an empty histogram.
func (h *Histogram) Max() float64 { return float64(h.dense().Max()) / 1e6 }

// Mean returns the mean of the recorded durations in seconds, 0 for an empty histogram.
func (h *Histogram) Mean() float64 {
	if h.Count() == 0 {
		return 0
	}
	return h.dense().Mean() / 1e6
}

// Quantile returns the q-quantile in seconds, 0 < q <= 1, by nearest rank. Censored attempts stand in the ranks above every
// recorded duration; where the rank falls on one of them, or there is nothing, ok is false: the quantile is not known.
func (h *Histogram) Quantile(q float64) (seconds float64, ok bool) {
	n := h.Count()
	rank := max(1, int64(math.Ceil(q*float64(n+h.censored)-1e-9))) // 0.55 of 100 is the 55th, though 0.55*100 is above 55
	if n == 0 || rank > n || !(q > 0) {
		return 0, false
	}
	// The library takes a percentage of its own count and rounds it to the nearest rank, which is this one.
	return float64(h.dense().ValueAtQuantile(float64(rank)/float64(n)*100)) / 1e6, true
}

// Merge adds another histogram's contents to this one's. The other is left as it was.
func (h *Histogram) Merge(other *Histogram) {
	if other.packed != nil {
		h.outside += other.packed.MergeInto(h.dense())
	} else {
		h.outside += h.dense().Merge(other.h)
	}
	h.outside += other.outside
	h.censored += other.censored
}

// Clone returns a copy.
func (h *Histogram) Clone() *Histogram {
	if h.packed != nil {
		return &Histogram{packed: h.packed.Clone(), censored: h.censored, outside: h.outside}
	}
	c := NewHistogram()
	c.Merge(h)
	return c
}

// dense returns the counts in a form that is quick to look into.
func (h *Histogram) dense() *hdr.Histogram {
	if h.packed != nil {
		h.h = hdr.New(lowest, highest, digits)
		h.outside += h.packed.MergeInto(h.h)
		h.packed = nil
	}
	return h.h
}

// Encode returns the recorded durations as HdrHistogram V2 compressed base64, which its other implementations read too.
// The counts of censored and outside attempts are not in it.
func (h *Histogram) Encode() (string, error) {
	b, err := h.dense().Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("encode histogram: %w", err)
	}
	return string(b), nil
}

// DecodeHistogram reads what Encode or EncodeCoarse wrote. A histogram of another range or resolution is an error: merged with others, it
// would lose values.
func DecodeHistogram(s string) (*Histogram, error) {
	p, err := hdr.DecodePacked([]byte(s))
	if err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	if p.LowestTrackableValue() == lowest && p.HighestTrackableValue() == highest && p.SignificantFigures() == coarseDigits {
		coarse := hdr.New(lowest, highest, coarseDigits)
		p.MergeInto(coarse)
		return &Histogram{h: refined(coarse)}, nil
	}
	if p.LowestTrackableValue() != lowest || p.HighestTrackableValue() != highest || p.SignificantFigures() != digits {
		return nil, fmt.Errorf("decode histogram: it holds %d to %d µs with %d digits, not %d to %d with %d",
			p.LowestTrackableValue(), p.HighestTrackableValue(), p.SignificantFigures(), lowest, highest, digits)
	}
	return &Histogram{packed: p}, nil
}

// Buckets calls f with the upper end in seconds and the count of each occupied bucket, ascending.
func (h *Histogram) Buckets(f func(seconds float64, count int64)) {
	for _, b := range h.dense().Distribution() {
		if b.Count > 0 {
			f(float64(b.To)/1e6, b.Count)
		}
	}
}

// histogramJSON is how a histogram travels.
type histogramJSON struct {
	V2       string `json:"v2"` // as Encode returns it
	Censored int64  `json:"censored,omitempty"`
	Outside  int64  `json:"outside,omitempty"`
}

// MarshalJSON returns the histogram with the counts of censored and outside attempts.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	text, err := h.Encode()
	if err != nil {
		return nil, err
	}
	return json.Marshal(histogramJSON{text, h.censored, h.outside})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (h *Histogram) UnmarshalJSON(text []byte) error {
	var in histogramJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return fmt.Errorf("decode histogram: %w", err)
	}
	if in.Censored < 0 || in.Outside < 0 {
		return fmt.Errorf("decode histogram: %d censored and %d outside", in.Censored, in.Outside)
	}
	read, err := DecodeHistogram(in.V2)
	if err != nil {
		return err
	}
	read.censored, read.outside = in.Censored, in.Outside
	*h = *read
	return nil
}
