package record

import (
	"encoding/csv"
	"regexp"
	"strings"
	"testing"
)

func exportSample(t *testing.T, format string) string {
	t.Helper()
	rec := sample()
	rec.ID = "sha256:ab"
	rec.Apps[Base] = App{Version: "=1+1\"\\\n"}
	var b strings.Builder
	if err := Export(&b, format, []*Record{rec}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestExportCSV(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(exportSample(t, "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := 1
	for _, run := range sample().Scenarios[0].Runs {
		want += len(run.Metrics)
	}
	if len(rows) != want {
		t.Errorf("got %d rows, want %d", len(rows), want)
	}
	for _, row := range rows[1:] {
		if strings.HasPrefix(row[3], "=") {
			t.Errorf("a spreadsheet takes %q for a formula", row[3])
		}
	}
}

// A line of the text format: a name, labels whose values hold no bare quote, backslash or end of line, a number.
var prometheusLine = regexp.MustCompile(`^[a-z_]+\{([a-z]+="([^"\\\n]|\\["\\n])*",?)+\} [0-9.e+-]+$`)

func TestExportPrometheus(t *testing.T) {
	text := exportSample(t, "prometheus")
	seen, family := make(map[string]bool), make(map[string]int)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if name, found := strings.CutPrefix(line, "# TYPE "); found {
			family[name]++
			continue
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		if !prometheusLine.MatchString(line) {
			t.Errorf("not a sample: %s", line)
		}
		labels := line[:strings.LastIndex(line, " ")]
		if seen[labels] {
			t.Errorf("twice: %s", labels)
		}
		seen[labels] = true
	}
	if len(seen) == 0 || family["ddpgate_seconds gauge"] != 1 {
		t.Errorf("got %v of\n%s", family, text)
	}
	if err := Export(&strings.Builder{}, "yaml", nil); err == nil {
		t.Error("an unknown format was written")
	}
}
