package report

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
)

// Benchfmt writes the runs in the Go benchmark format, a line each, which benchstat reads: benchstat -col arm. Runs that are not in
// order are left out, but for how many of their sessions ended well.
func Benchfmt(w io.Writer, c Comparison) error {
	var out bytes.Buffer
	for _, s := range c.sides() {
		fmt.Fprintf(&out, "arm: %s\n", s.arm)
		c.benchmarks(&out, s)
		out.WriteByte('\n')
	}
	_, err := out.WriteTo(w)
	return err
}

// BenchfmtFiles returns the same as a file an arm, for benchstat base.txt head.txt.
func BenchfmtFiles(c Comparison) ([]File, error) {
	var files []File
	for _, s := range c.sides() {
		var out bytes.Buffer
		c.benchmarks(&out, s)
		files = append(files, File{s.arm + ".txt", out.Bytes()})
	}
	return files, nil
}

// A File is one of the files that a report consists of.
type File struct {
	Name    string // without a directory
	Content []byte
}

// benchmarks writes one side: its machine, the units, and a line a run.
func (c Comparison) benchmarks(out *bytes.Buffer, s side) {
	for _, setting := range []struct{ key, value string }{{"goos", s.Environment.OS}, {"goarch", s.Environment.Arch}, {"cpu", s.Environment.CPU}} {
		if setting.value != "" {
			fmt.Fprintf(out, "%s: %s\n", setting.key, plain(setting.value))
		}
	}
	var results bytes.Buffer
	units := make(map[string]metric.Direction)
	for _, name := range c.scenarios() {
		for _, a := range c.arms(name) {
			if a.name == s.arm {
				a.benchmark(&results, name, units)
			}
		}
	}
	for _, unit := range slices.Sorted(maps.Keys(units)) {
		if better := directions[units[unit]]; better != "" {
			fmt.Fprintf(out, "Unit %s better=%s\n", unit, better)
		}
	}
	out.Write(results.Bytes())
}

var directions = map[metric.Direction]string{metric.Lower: "lower", metric.Higher: "higher"}

// benchmark writes an arm's runs of one scenario, and notes their units.
func (a arm) benchmark(out *bytes.Buffer, scenario string, units map[string]metric.Direction) {
	for _, r := range a.runs {
		values := valuesOf([]record.Run{r})
		if len(values) == 0 {
			continue
		}
		fmt.Fprintf(out, "BenchmarkScenario/%s 1", word(scenario))
		for _, name := range slices.SortedFunc(maps.Keys(values), metric.Compare) {
			def, _ := metric.Lookup(name)
			unit := benchUnit(name, def)
			units[unit] = def.Better
			fmt.Fprintf(out, " %s %s", strconv.FormatFloat(values[name][0], 'g', -1, 64), unit)
		}
		out.WriteByte('\n')
	}
}

// benchUnit names a metric as a unit: benchstat scales what ends in sec or B.
func benchUnit(name string, def metric.Def) string {
	suffix := map[metric.Unit]string{metric.Seconds: "-sec", metric.Bytes: "-B", metric.Ratio: "-ratio", metric.PerSecond: "-ops/s"}[def.Unit]
	return word(name) + suffix
}

// word returns text without blanks, of which the format is made.
func word(s string) string {
	if s = strings.Join(strings.Fields(plain(s)), "_"); s != "" {
		return s
	}
	return "_"
}
