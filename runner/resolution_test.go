package runner

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ddpgate/ddpgate/meter"
)

func TestResolution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.SliceOf(rapid.Float64Range(-1e12, 1e12)).Draw(t, "points")
		before := slices.Clone(given)
		shares, cores, figures := hundredths(given), thousandths(given), fourDigits(given)
		for i, v := range given {
			if rest := 1e-15 * math.Abs(v); math.Abs(shares[i]-v) > 0.005+rest || math.Abs(cores[i]-v) > 0.0005+rest {
				t.Fatalf("%v became %v and %v", v, shares[i], cores[i])
			}
			if math.Abs(figures[i]-v) > 0.0005*math.Abs(v) {
				t.Fatalf("%v became %v", v, figures[i])
			}
		}
		if !slices.Equal(given, before) {
			t.Fatal("the meter's own points were changed")
		}
	})
}

// TestSeriesAreAsShortAsTheyResolve folds what a meter saw, with all the digits that a quotient has.
func TestSeriesAreAsShortAsTheyResolve(t *testing.T) {
	s := quiet(part(1))
	s.nodeSeries = map[string][]float64{"heap": {12345678}}
	run := fold(t, s)
	s.foldSeries(&run, meter.Usage{T: []float64{0.50098573}, Roles: map[string]meter.Role{"app": {CPU: []float64{0.006276690731}, RAM: []float64{28712960}}}})
	foldHost(&run, meter.Usage{Host: meter.Host{Series: map[string][]float64{"busy": {0.01999999999839929}}}})
	for name, want := range map[string]float64{"t": 0.5, "app.cpu": 0.006, "app.ram": 28710000, "node.heap": 12350000, "host.busy": 0.02} {
		if got := run.Series[name]; len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if want, err := s.part.Histograms["session"].EncodeCoarse(); err != nil || run.Histograms["session"] != want {
		t.Errorf("histogram: got %s, want the coarse one, %s, %v", run.Histograms["session"], want, err)
	}
}
