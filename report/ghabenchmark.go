package report

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/stat"
)

// A benchmark is a figure as github-action-benchmark reads it.
type benchmark struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Range string  `json:"range"`
	Extra string  `json:"extra"`
}

// GHABenchmark writes head's medians as the JSON that github-action-benchmark reads with tool: customSmallerIsBetter. The metrics of
// which more is better cannot stand in it: they are in the second file of GHABenchmarkFiles.
func GHABenchmark(w io.Writer, c Comparison) error { return indented(w, c.benchmarkList(metric.Lower)) }

// GHABenchmarkFiles returns the figures as a file for tool: customSmallerIsBetter and one for customBiggerIsBetter.
func GHABenchmarkFiles(c Comparison) ([]File, error) {
	var files []File
	for name, better := range directed {
		var out bytes.Buffer
		if err := indented(&out, c.benchmarkList(better)); err != nil {
			return nil, err
		}
		files = append(files, File{name, out.Bytes()})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// directed are the files' names.
var directed = map[string]metric.Direction{"smaller-is-better.json": metric.Lower, "bigger-is-better.json": metric.Higher}

// benchmarkList returns the figures that are better in one direction.
func (c Comparison) benchmarkList(better metric.Direction) []benchmark {
	list := []benchmark{}
	for _, name := range c.scenarios() {
		for _, a := range c.arms(name) {
			if a.name != record.Head {
				continue
			}
			values := valuesOf(a.runs)
			for _, of := range slices.SortedFunc(maps.Keys(values), metric.Compare) {
				if def, _ := metric.Lookup(of); def.Better == better {
					list = append(list, newBenchmark(name, of, values[of]))
				}
			}
		}
	}
	return list
}

// newBenchmark keeps to base units, so that a figure has one unit however long its history gets.
func newBenchmark(scenario, name string, values []float64) benchmark {
	def, _ := metric.Lookup(name)
	scale := scaleOf(name, values...)
	return benchmark{
		Name: plain(scenario + " " + name), Unit: string(def.Unit), Value: stat.Median(values),
		Range: scale.write(slices.Min(values)) + " … " + scale.write(slices.Max(values)), Extra: "median of " + plural(len(values), "run"),
	}
}
