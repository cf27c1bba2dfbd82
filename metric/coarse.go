package metric

import (
	"fmt"
	"math/bits"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// coarseDigits is the resolution of what EncodeCoarse writes: 128 parts of a power of two.
const coarseDigits = 2

// EncodeCoarse returns the recorded durations as Encode does, but with two significant digits, in a third of the room: enough to draw their distribution by. Read
// again, each duration is off by 0.4 % at most. What must be exact is to be read off the histogram itself.
func (h *Histogram) EncodeCoarse() (string, error) {
	coarse := hdr.New(lowest, highest, coarseDigits)
	coarse.Merge(h.dense())
	b, err := coarse.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("encode histogram: %w", err)
	}
	return string(b), nil
}

// refined returns a histogram of full resolution in which the durations of a coarse one stand in the middle of where they may have been.
func refined(coarse *hdr.Histogram) *hdr.Histogram {
	fine := hdr.New(lowest, highest, digits)
	for _, b := range coarse.Distribution() {
		if b.Count > 0 {
			_ = fine.RecordValues(middleOf(b.From), b.Count) // both have one range
		}
	}
	return fine
}

// middleOf returns the middle of the values that a coarse histogram takes for v: those with the same eight leading bits.
func middleOf(v int64) int64 {
	width := int64(1) << max(0, bits.Len64(uint64(v))-8)
	return min(v&^(width-1)+width/2, highest)
}
