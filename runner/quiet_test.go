package runner

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ddpgate/ddpgate/record"
)

func TestShift(t *testing.T) {
	for _, tt := range []struct {
		timers []float64
		want   string
	}{
		{nil, ""},
		{[]float64{0.5}, ""},
		{[]float64{0.0001, 0.0009, 0.0002}, ""}, // nothing that a session would notice
		{[]float64{0.004, 0.005, 0.008}, ""},    // a noisy machine, but always so
		{[]float64{0.0002, 0.0002, 0.012, 0.0003}, "look 3 of 4"},
		{[]float64{0.0002, 0.012}, "look 2 of 2"},
	} {
		if got := shift(tt.timers); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%v: got %q, want %q", tt.timers, got, tt.want)
		}
	}
}

func TestLook(t *testing.T) {
	next := []float64{0.001, 0.003, -1, 0.002}
	w := &work{rec: new(record.Record), glance: func(context.Context) (float64, bool) {
		late := next[0]
		next = next[1:]
		return late, late > 0
	}}
	for range 4 {
		w.look(t.Context())
	}
	if diff := cmp.Diff([]float64{0.001, 0.003, 0.002}, w.rec.Environment.Timers); diff != "" {
		t.Errorf("a look that was cut short counts: %s", diff)
	}
	if got := w.rec.Environment.Timer; got != 0.002 {
		t.Errorf("got %v, want the median", got)
	}
}
