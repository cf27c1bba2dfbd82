package report

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/stat"
)

// drivers says who drove the load of each side, empty where it was one process on each.
func drivers(sides []side) string {
	var parts []string
	several, same := false, true
	for _, s := range sides {
		text := driversOf(s)
		several = several || text != ""
		text = or(text, record.Drivers{}.String())
		same = same && (len(parts) == 0 || parts[0] == text)
		parts = append(parts, text)
	}
	switch {
	case !several:
		return ""
	case same:
		return parts[0]
	}
	for i, s := range sides {
		parts[i] = s.arm + " by " + parts[i]
	}
	return strings.Join(parts, "; ")
}

// driversOf says who shared the load of a side, and what of theirs was dropped; empty where nobody did.
func driversOf(s side) string {
	d := s.Drivers(s.of)
	if d.Workers == 0 {
		return ""
	}
	twice := ""
	if d.Duplicates > 0 {
		twice = plural(d.Duplicates, "duplicate") + " dropped"
	}
	return join(", ", d.String(), twice)
}

// A regional is one arm's latencies by region.
type regional struct {
	title string
	grid
}

const (
	mostRegions  = 3  // side by side
	widestRegion = 14 // columns, as many as AWS's longest names have
)

// regionals returns the latencies of an arm's runs by region: medians of runs. A run that is not in order has none. Where there are more than
// fit side by side there are several.
func regionals(a arm) []regional {
	runs := fit(a.runs)
	regions := make(map[string]map[string][]float64)
	metrics := make(map[string]bool)
	for _, r := range runs {
		for region, values := range r.Regions {
			if regions[region] == nil {
				regions[region] = make(map[string][]float64)
			}
			for name, v := range values {
				if byRegion(name) {
					regions[region][name] = append(regions[region][name], v)
					metrics[name] = true
				}
			}
		}
	}
	var all []regional
	for names := range slices.Chunk(slices.Sorted(maps.Keys(regions)), mostRegions) {
		g := grid{headers: []string{"latency"}, left: map[int]bool{0: true}, spare: []int{len(names) + 1}}
		for _, name := range names {
			g.headers = append(g.headers, middle(plain(name), widestRegion))
		}
		g.headers = append(g.headers, "runs")
		for _, name := range slices.SortedFunc(maps.Keys(metrics), metric.Compare) {
			g.rows = append(g.rows, regionRow(name, names, regions))
		}
		all = append(all, regional{a.name + ", by region", g})
	}
	return all
}

// regionRow is one metric in each of some regions, and of how many runs at most.
func regionRow(name string, names []string, regions map[string]map[string][]float64) []string {
	var medians []float64
	runs := 0
	for _, region := range names {
		values := regions[region][name]
		runs = max(runs, len(values))
		median := math.NaN()
		if len(values) > 0 {
			median = stat.Median(values)
		}
		medians = append(medians, median)
	}
	scale := scaleOf(name, medians...)
	row := []string{name}
	for _, m := range medians {
		row = append(row, scale.write(m))
	}
	return append(row, strconv.Itoa(runs))
}

// byRegion says whether a metric is a latency that regions are told apart by.
func byRegion(name string) bool {
	base, quantile := name, ""
	if i := strings.LastIndex(name, "."); i >= 0 {
		base, quantile = name[:i], name[i+1:]
	}
	return (quantile == "p50" || quantile == "p95") && (base == "session" || strings.HasPrefix(base, "latency."))
}
