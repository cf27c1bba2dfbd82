package main

import (
	"encoding/csv"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
)

// A series is all repeated measurements of one build.
type series []float64

// measurements reads every build with at least least repetitions from the CSV files of a directory, with rows of version and value.
func measurements(dir string, least int) ([]series, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	if err != nil {
		return nil, err
	}
	var all []series
	for _, file := range files {
		builds, err := builds(file)
		if err != nil {
			return nil, err
		}
		for _, version := range slices.Sorted(maps.Keys(builds)) {
			if s := builds[version]; len(s) >= least {
				all = append(all, s)
			}
		}
	}
	return all, nil
}

func builds(file string) (map[string]series, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	found := make(map[string]series)
	for _, row := range rows[min(1, len(rows)):] {
		if v, err := strconv.ParseFloat(row[len(row)-1], 64); err == nil && v > 0 {
			found[row[0]] = append(found[row[0]], v)
		}
	}
	return found, nil
}

// half makes a record of some values as one metric of one machine.
func half(r *rand.Rand, values []float64, factor float64) *record.Record {
	rec := empty(r)
	rec.Environment.Machine = "one"
	for i, v := range values {
		one := run(record.Head, i, i, nil, 1, 0)
		one.Metrics = map[string]float64{gated[0]: usual * v * factor}
		one.Sessions = record.Sessions{}
		rec.Scenarios[0].Runs = append(rec.Scenarios[0].Runs, one)
	}
	return rec
}

// halves judges two random halves of n of a build's repetitions, the second made slower.
func halves(all []series, n, trials int, change float64, seed uint64) (tally, error) {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	t := tally{trials: trials, rivals: make([]int, len(rivals))}
	p := gate.Policy{Thresholds: map[string]gate.Percent{gated[0]: delta}}
	for range trials {
		s := slices.Clone(all[r.IntN(len(all))])
		r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
		base, head := half(r, s[:n], 1), half(r, s[n:2*n], 1+change)
		v, err := gate.Judge(base, head, p)
		if err != nil {
			return tally{}, err
		}
		t.count(answerOf(v), n)
		t.alarms(base, head, 1)
	}
	return t, nil
}

// real writes the same on real repeated measurements.
func (w *writer) real(data string) {
	w.print("\n### Real repeated measurements\n\nThe SAP HANA benchmarks: two random halves of one build's repetitions, one metric, stored mode on one machine.\n\n")
	head := []string{"runs a side", "builds", "ours: 0", "+10 %", "undecided at 0"}
	for _, r := range rivals {
		head = append(head, r.name+": 0", "+10 %")
	}
	w.header(head...)
	for _, n := range []int{3, 5, 8, 10} {
		all, err := measurements(filepath.Join(data, "sap-hana"), 2*n)
		if err != nil || len(all) == 0 {
			w.err = fmt.Errorf("real measurements under %s: %d builds, %w", data, len(all), err)
			return
		}
		unchanged, err := halves(all, n, 5*w.trials, 0, w.seed)
		if err == nil {
			var changed tally
			if changed, err = halves(all, n, w.trials, 2*delta, w.seed); err == nil {
				row := []string{fmt.Sprint(n), fmt.Sprint(len(all)), unchanged.String(unchanged.failed), changed.String(changed.failed), unchanged.String(unchanged.trials - unchanged.failed - unchanged.passed)}
				for i := range rivals {
					row = append(row, unchanged.String(unchanged.rivals[i]), changed.String(changed.rivals[i]))
				}
				w.row(row...)
			}
		}
		if err != nil {
			w.err = err
			return
		}
	}
}
