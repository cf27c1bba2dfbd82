package stat

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestAnswersStay holds the breaks of many series, with their chances, to those that an earlier, plainer way of adding up gave: what makes it faster must not change what it
// finds.
func TestAnswersStay(t *testing.T) {
	var got strings.Builder
	for _, kind := range []string{"normal", "in steps", "with spikes"} {
		for seed := range uint64(12) {
			for _, n := range []int{5, 9, 38, 60, 130, 256, 600} {
				fmt.Fprintf(&got, "%s, %d values, seed %d:", kind, n, seed)
				for _, b := range Breaks(wandering(kind, n, seed), seed) {
					fmt.Fprintf(&got, " %d (%.4f)", b.At, b.P)
				}
				got.WriteByte('\n')
			}
		}
	}
	const golden = "testdata/breaks.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	is, should := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	if len(is) != len(should) {
		t.Fatalf("got %d lines, want %d", len(is), len(should))
	}
	for i := range is {
		if is[i] != should[i] {
			t.Errorf("got  %s\nwant %s", is[i], should[i])
		}
	}
}

// wandering returns noise around a level that changes now and then.
func wandering(kind string, n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	values, level := make([]float64, n), 0.0
	for i := range values {
		if rng.IntN(30) == 0 {
			level += 3 * rng.NormFloat64()
		}
		values[i] = level + rng.NormFloat64()
		switch {
		case kind == "in steps":
			values[i] = math.Round(values[i])
		case kind == "with spikes" && rng.IntN(10) == 0:
			values[i] += 8
		}
	}
	return values
}

// TestStepsAscend holds steps apart, whatever a series does: each is moved to where it explains most, and must not pass its neighbour there.
func TestStepsAscend(t *testing.T) {
	for _, kind := range []string{"normal", "in steps", "with spikes"} {
		for seed := range uint64(60) {
			v := wandering(kind, 300, seed)
			rng := rand.New(rand.NewPCG(seed, 5))
			for i := 1; i < len(v) && seed%2 == 0; i++ { // a walk, which has no level at all
				v[i] = v[i-1] + rng.NormFloat64()
			}
			last := 0
			for _, b := range Steps(v, 1) {
				if b.At < last+leastRun || b.At > len(v)-leastRun {
					t.Fatalf("%s, seed %d: a step at %d after one at %d of %d", kind, seed, b.At, last, len(v))
				}
				last = b.At
			}
		}
	}
}
