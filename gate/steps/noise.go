package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	gonum "gonum.org/v1/gonum/stat"

	"github.com/ddpgate/ddpgate/stat"
)

// A model makes noise with a standard deviation of 1: so many nights around one level.
type model struct {
	name string
	make func(rng *rand.Rand, n int) []float64
}

// simulated returns the models that are drawn.
func simulated() []model {
	each := func(draw func(*rand.Rand) float64) func(*rand.Rand, int) []float64 {
		return func(rng *rand.Rand, n int) []float64 {
			v := make([]float64, n)
			for i := range v {
				v[i] = draw(rng)
			}
			return v
		}
	}
	return []model{
		{"normal", each((*rand.Rand).NormFloat64)},
		{"one night in ten 6 σ off", each(func(r *rand.Rand) float64 {
			v := r.NormFloat64()
			if r.Float64() < 0.1 {
				v += 6
			}
			return v / math.Sqrt(1+36*0.09)
		})},
		{"two modes, 30 % 3 σ apart", each(func(r *rand.Rand) float64 {
			v := r.NormFloat64()
			if r.Float64() < 0.3 {
				v += 3
			}
			return v / math.Sqrt(1+9*0.21)
		})},
		{"read in steps of 1 σ", each(func(r *rand.Rand) float64 { return math.Round(r.NormFloat64()) / math.Sqrt(1+1.0/12) })},
	}
}

// nightRuns is how many repetitions make a night.
const nightRuns = 3

// measured returns a model of real noise: repetitions of one build, less the build's own median, three to a night, in the order in which they were made.
func measured(data string) (model, error) {
	paths, err := filepath.Glob(filepath.Join(data, "sap-hana", "*.csv"))
	if err != nil {
		return model{}, err
	}
	var all [][]float64
	for _, path := range paths {
		nights, err := nightsOf(path)
		if err != nil {
			return model{}, err
		}
		if len(nights) >= 60 {
			all = append(all, nights)
		}
	}
	if len(all) == 0 {
		return model{}, fmt.Errorf("no series of 60 nights under %s", data)
	}
	return model{fmt.Sprintf("SAP, %d benchmarks", len(all)), func(rng *rand.Rand, n int) []float64 {
		nights := all[rng.IntN(len(all))]
		from := rng.IntN(len(nights) - n + 1)
		v := append([]float64{}, nights[from:from+n]...)
		scale := gonum.StdDev(v, nil)
		for i := range v {
			v[i] /= max(scale, 1e-12)
		}
		return v
	}}, nil
}

// nightsOf reads one benchmark: sut_version,value.
func nightsOf(path string) ([]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var nights, build []float64
	version := ""
	finish := func() {
		level := stat.Median(build)
		for ; len(build) >= nightRuns; build = build[nightRuns:] {
			nights = append(nights, stat.Median(build[:nightRuns])-level)
		}
		build = nil
	}
	for _, row := range rows[1:] {
		if row[0] != version {
			finish()
			version = row[0]
		}
		v, err := strconv.ParseFloat(row[1], 64)
		if err != nil || v <= 0 {
			continue
		}
		build = append(build, math.Log(v))
	}
	finish()
	return nights, nil
}
