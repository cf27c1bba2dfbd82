package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSlim(t *testing.T) {
	whole := sample()
	slim := Slim(whole)
	if diff := cmp.Diff(sample(), whole); diff != "" {
		t.Errorf("the argument was changed:\n%s", diff)
	}
	for i, run := range slim.Scenarios[0].Runs {
		if run.Series != nil || run.Histograms != nil || run.Output != nil {
			t.Errorf("run %d is not slim", i)
		}
		if diff := cmp.Diff(whole.Scenarios[0].Runs[i].Metrics, run.Metrics); diff != "" {
			t.Errorf("run %d: %s", i, diff)
		}
	}
	if _, err := Encode(slim); err != nil {
		t.Error(err)
	}
}
