package record

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/metric"
)

// Exports returns the formats that Export writes.
func Exports() []string { return []string{"csv", "prometheus"} }

// Export writes records, one sample a metric a run, in base units. The records must have their ids.
func Export(w io.Writer, format string, records []*Record) error {
	switch format {
	case "csv":
		return exportCSV(w, records)
	case "prometheus":
		return exportPrometheus(w, records)
	}
	return fmt.Errorf("unknown format %q, known are: %s", format, strings.Join(Exports(), ", "))
}

// An exported figure is one metric of one run.
type exported struct {
	record   *Record
	scenario *Scenario
	run      *Run
	metric   metric.Def
	value    float64
}

// each calls yield for every sample, in a fixed order.
func each(records []*Record, yield func(exported) error) error {
	for _, rec := range records {
		for i := range rec.Scenarios {
			s := &rec.Scenarios[i]
			for j := range s.Runs {
				run := &s.Runs[j]
				for _, name := range slices.SortedFunc(maps.Keys(run.Metrics), metric.Compare) {
					def, ok := metric.Lookup(name)
					if !ok {
						def.Name = name
					}
					if err := yield(exported{rec, s, run, def, run.Metrics[name]}); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func exportCSV(w io.Writer, records []*Record) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"record", "created", "commit", "version", "scenario", "arm", "run", "started", "outcome", "metric", "unit", "value"}); err != nil {
		return err
	}
	err := each(records, func(s exported) error {
		return out.Write([]string{
			s.record.ID, s.record.Created.Format(time.RFC3339), inert(s.record.Commit), inert(s.record.Apps[s.run.Arm].Version), inert(s.scenario.Name), s.run.Arm,
			strconv.Itoa(s.run.Index + 1), s.run.Started.Format(time.RFC3339), string(s.run.Outcome), inert(s.metric.Name), string(s.metric.Unit),
			strconv.FormatFloat(s.value, 'g', -1, 64),
		})
	})
	if err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// inert keeps a spreadsheet from taking text for a formula.
func inert(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// families are the metric families of Prometheus, one a unit, so that no two names of ours become one of its.
var families = map[metric.Unit]string{metric.Seconds: "ddpgate_seconds", metric.Bytes: "ddpgate_bytes", metric.Ratio: "ddpgate_ratio", metric.PerSecond: "ddpgate_per_second"}

// exportPrometheus writes the text that a textfile collector reads. Times are left out: the collector refuses them.
func exportPrometheus(w io.Writer, records []*Record) error {
	lines := make(map[string]*strings.Builder)
	err := each(records, func(s exported) error {
		family := families[s.metric.Unit]
		if family == "" {
			return nil // no metric of ours
		}
		if lines[family] == nil {
			lines[family] = new(strings.Builder)
		}
		_, err := fmt.Fprintf(lines[family], "%s{record=%s,version=%s,scenario=%s,arm=%s,run=\"%d\",outcome=%s,metric=%s} %s\n", family,
			label(strings.TrimPrefix(s.record.ID, "sha256:")), label(s.record.Apps[s.run.Arm].Version), label(s.scenario.Name), label(s.run.Arm), s.run.Index+1,
			label(string(s.run.Outcome)), label(s.metric.Name), strconv.FormatFloat(s.value, 'g', -1, 64))
		return err
	})
	if err != nil {
		return err
	}
	for _, family := range slices.Sorted(maps.Keys(lines)) {
		if _, err := fmt.Fprintf(w, "# HELP %s What ddpgate measured, one sample a metric a run.\n# TYPE %s gauge\n%s", family, family, lines[family]); err != nil {
			return err
		}
	}
	return nil
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func label(s string) string {
	return `"` + labelEscapes.Replace(strings.ToValidUTF8(s, "\uFFFD")) + `"`
}
