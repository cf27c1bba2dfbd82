package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ddpgate/ddpgate/gate"
)

func mustSimulate(t *testing.T, c cell, trials int) tally {
	t.Helper()
	got, err := c.simulate(1, trials)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// A small slice of the tables. The bounds leave room for four Monte Carlo errors, and the seed is fixed.
func TestSlice(t *testing.T) {
	for _, tt := range []struct {
		name               string
		cell               cell
		trials             int
		maxFails, minFails float64 // percent of builds
		maxUndecided       float64
		maxPasses          float64 // of the changed metric
	}{
		{"unchanged, CV 3 %", cell{model: models[0], n: 15, metrics: 4}, 200, 2.5, 0, 8, 100},
		{"unchanged, CV 10 %", cell{model: models[2], n: 10, metrics: 4}, 300, 3.3, 0, 100, 100},
		{"unchanged, outliers", cell{model: models[3], n: 8, metrics: 4}, 300, 3.3, 0, 100, 100},
		{"unchanged, two modes, twelve metrics", cell{model: models[4], n: 10, metrics: 12}, 150, 4, 0, 100, 100},
		{"unchanged, drift", cell{model: models[6], n: 10, metrics: 4}, 150, 3, 0, 100, 100},
		{"unchanged, machines, stored", cell{model: models[5], n: 10, metrics: 4, stored: true, earlier: 4}, 300, 3.3, 0, 100, 100},
		{"+10 %, CV 3 %", cell{model: models[0], n: 10, metrics: 4, change: 0.1}, 100, 100, 95, 100, 0.5},
		{"+10 %, CV 5 %", cell{model: models[1], n: 15, metrics: 4, change: 0.1}, 100, 100, 86, 100, 0.5},
		{"+10 %, outliers", cell{model: models[3], n: 15, metrics: 4, change: 0.1}, 100, 100, 74, 100, 0.5},
		{"+10 %, two modes", cell{model: models[4], n: 15, metrics: 4, change: 0.1}, 100, 100, 70, 100, 0.5},
		{"+10 %, CV 5 %, history", cell{model: models[1], n: 8, metrics: 4, change: 0.1, earlier: 5}, 100, 100, 60, 100, 0.5},
		{"+5 %, CV 3 %", cell{model: models[0], n: 15, metrics: 4, change: 0.05}, 200, 100, 0, 100, 11},
		{"+5 %, CV 5 %, stored", cell{model: models[1], n: 10, metrics: 4, stored: true, change: 0.05}, 200, 100, 0, 100, 11},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := mustSimulate(t, tt.cell, tt.trials)
			fails, _ := got.share(got.failed)
			undecided, _ := got.share(got.trials - got.failed - got.passed)
			passes, _ := got.share(got.metricPass)
			if fails > tt.maxFails || fails < tt.minFails || undecided > tt.maxUndecided || passes > tt.maxPasses {
				t.Errorf("fails %.1f %%, undecided %.1f %%, changed metric passes %.1f %%; want fails %.1f to %.1f, undecided at most %.1f, passes at most %.1f",
					fails, undecided, passes, tt.minFails, tt.maxFails, tt.maxUndecided, tt.maxPasses)
			}
		})
	}
}

// Looking at the evidence while it grows saves pairs and costs no error rate.
func TestSliceOfLooks(t *testing.T) {
	looks := gate.Looks{Min: 5, Max: 15}
	unchanged := mustSimulate(t, cell{model: models[0], n: 15, metrics: 4, looks: looks}, 100)
	if mean := float64(unchanged.runs) / 100; mean > 0.75*15+0.6 || unchanged.failed > 4 {
		t.Errorf("unchanged: %.1f pairs on average, %d of 100 fail", mean, unchanged.failed)
	}
	changed := mustSimulate(t, cell{model: models[0], n: 15, metrics: 4, looks: looks, change: delta}, 100)
	if changed.metricPass > 14 {
		t.Errorf("a change of the threshold passes in %d of 100", changed.metricPass)
	}
}

// The rule is the gate's own; the rivals are what they say.
func TestRivals(t *testing.T) {
	got := mustSimulate(t, cell{model: models[1], n: 10, metrics: 4, beside: true, stored: true}, 300)
	if one, of := got.rivals[0], got.rivals[2]; one < 30 || of < 30 {
		t.Errorf("of 300 unchanged builds one run over 1.10 fails %d, Mann-Whitney at .05 on four metrics %d", one, of)
	}
	same := mustSimulate(t, cell{model: models[1], n: 10, metrics: 4, beside: true, stored: true}, 300)
	if same.failed != got.failed || same.rivals[2] != got.rivals[2] {
		t.Error("the same seed gave another tally")
	}
}

func TestCommand(t *testing.T) {
	page := filepath.Join(t.TempDir(), "gate.md")
	if err := os.WriteFile(page, []byte("before\n"+begin+"old\n"+end+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := replace(page, "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != "before\n"+begin+"\nnew\n\n"+end+"after\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := os.WriteFile(page, []byte("no marks"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := replace(page, "new\n"); err == nil || !strings.Contains(err.Error(), "no place for the tables") {
		t.Errorf("got %v", err)
	}
	if err := command([]string{"-trials"}, io.Discard, io.Discard, ""); err == nil {
		t.Error("a flag without its value is taken")
	}
}

// Real measurements: hardly any unchanged half fails, and most slowed ones do.
func TestRealMeasurements(t *testing.T) {
	data := os.Getenv("DDPGATE_DATA")
	if data == "" {
		data = writeSeries(t)
	}
	all, err := measurements(filepath.Join(data, "sap-hana"), 20)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d builds, %v", len(all), err)
	}
	unchanged, err := halves(all, 10, 400, 0, 1)
	if err != nil || unchanged.failed > 10 {
		t.Errorf("%d of 400 unchanged halves fail, %v", unchanged.failed, err)
	}
	changed, err := halves(all, 10, 100, 0.3, 1)
	if err != nil || changed.failed < 80 {
		t.Errorf("%d of 100 halves slowed by 30 %% fail, %v", changed.failed, err)
	}
}

// writeSeries writes a few builds in the format of the real measurements.
func writeSeries(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var text bytes.Buffer
	text.WriteString("sut_version,value\n")
	for build := range 3 {
		for i := range 24 {
			text.WriteString(strings.Join([]string{string(rune('a' + build)), []string{"10.0", "10.1", "10.3", "9.9", "10.2"}[(i*7+build)%5]}, ",") + "\n")
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sap-hana"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sap-hana", "1__time__s.csv"), text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
