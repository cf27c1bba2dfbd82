package record

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// dataIn returns a folder of the published measurements, which are not part of the project: DDPGATE_DATA says where they are.
func dataIn(t *testing.T, folder string) string {
	t.Helper()
	root := os.Getenv("DDPGATE_DATA")
	if root == "" {
		t.Skip("the published measurements are no part of the project, and DDPGATE_DATA does not say where they are; .ci/run says so before the tests")
	}
	return filepath.Join(root, folder)
}

func importFile(t *testing.T, format, path string) *Record {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rec, err := Import(format, path, f, Importing{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Encode(rec); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	return rec
}

func filesIn(t *testing.T, folder, suffix string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, suffix) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestPublishedTables holds the logs of 2.16 against 3.0.1 to the tables that were published of them.
func TestPublishedTables(t *testing.T) {
	logs := filepath.Join(dataIn(t, "meteor-performance"), "meteor2.16-vs-3.0.1", "logs")
	for _, tt := range []struct {
		scenario, app  string
		time, cpu, ram [3]float64
	}{
		{"non-reactive", "2.x", [3]float64{162, 170, 180}, [3]float64{1.1606, 1.1829, 1.1687}, [3]float64{442e6, 458e6, 455e6}},
		{"non-reactive", "3.x", [3]float64{116, 122, 126}, [3]float64{1.1085, 1.0121, 1.0490}, [3]float64{369e6, 390e6, 377e6}},
		{"reactive", "2.x", [3]float64{126, 124, 126}, [3]float64{.7819, .7909, .7954}, [3]float64{406e6, 419e6, 439e6}},
		{"reactive", "3.x", [3]float64{124, 126, 130}, [3]float64{.6505, .6502, .6444}, [3]float64{454e6, 470e6, 460e6}},
	} {
		for i, n := range []string{"one", "two", "three"} {
			name := filepath.Join(logs, tt.scenario, n+"-tasks-"+tt.app+"-"+tt.scenario+"-stress.yml.log")
			rec := importFile(t, "artillery-log", name)
			m := rec.Scenarios[0].Runs[0].Metrics
			if m["time"] != tt.time[i] || m["cpu"] != tt.cpu[i] || m["ram"] != tt.ram[i] {
				t.Errorf("%s: got time %v, CPU %v, RAM %v, want %v, %v, %v", name, m["time"], m["cpu"], m["ram"], tt.time[i], tt.cpu[i], tt.ram[i])
			}
			if want := "tasks-" + strings.ReplaceAll(tt.scenario, "-", ""); rec.Scenarios[0].Name != want || rec.Apps[Head].Version != "tasks-"+tt.app {
				t.Errorf("%s: got %s of %s", name, rec.Scenarios[0].Name, rec.Apps[Head].Version)
			}
		}
	}
}

// TestPublishedLogs reads every log: nothing is missing, and no monitor that outlived its process counts.
func TestPublishedLogs(t *testing.T) {
	paths := filesIn(t, dataIn(t, "meteor-performance"), ".log")
	if len(paths) < 44 {
		t.Errorf("got %d logs, want 44 or more", len(paths))
	}
	planned := map[string]bool{"": true}
	for _, path := range paths {
		rec := importFile(t, "artillery-log", path)
		s, run := rec.Scenarios[0], rec.Scenarios[0].Runs[0]
		for _, name := range []string{"time", "cpu", "ram", "cpu_seconds", "db.cpu", "db.ram", "session.p50", "session.max"} {
			if !(run.Metrics[name] > 0) {
				t.Errorf("%s: %s is %v", path, name, run.Metrics[name])
			}
		}
		if float64(run.Sessions.Planned) != s.Load.Rate*s.Load.For {
			t.Errorf("%s: %d sessions, but %g/s for %g s", path, run.Sessions.Planned, s.Load.Rate, s.Load.For)
		}
		if n := len(run.Series["app.ram"]); n < 10 || n > 40 || slices.Min(run.Series["app.ram"]) <= 0 {
			t.Errorf("%s: %d samples of the app's memory, the least %v", path, n, slices.Min(run.Series["app.ram"]))
		}
		if ratio := run.Metrics["ram"] / mean(run.Series["app.ram"]); ratio < 0.8 || ratio > 1.2 {
			t.Errorf("%s: the average memory is %v of that of the samples", path, ratio)
		}
		planned[rec.Apps[Head].Version] = true
	}
	for _, version := range []string{"3.1.1", "3.0.2", "2.16", "20e5548c859e (checkout of 3.0.2)", "checkout of 3.0.2"} {
		if !planned[version] {
			t.Errorf("no log is of %q", version)
		}
	}
}

func TestPublishedPlatform(t *testing.T) {
	paths := filesIn(t, dataIn(t, "meteor-bench-platform"), ".json")
	if len(paths) != 21 {
		t.Errorf("got %d results, want 21", len(paths))
	}
	for _, path := range paths {
		rec := importFile(t, "bench-platform", path)
		if rec.Scenarios[0].Name == "cold-start" {
			if got := metricsOf(rec); len(got) != 2 || got[0]["startup"] != 20.605 || got[1]["startup"] != 21.119 {
				t.Errorf("%s: got %v", path, got)
			}
		}
	}
}
