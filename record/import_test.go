package record

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func importText(t *testing.T, format, text string, o Importing) (*Record, error) {
	t.Helper()
	return Import(format, "file", strings.NewReader(text), o)
}

// metricsOf returns the metrics of a record's runs.
func metricsOf(r *Record) []map[string]float64 {
	var found []map[string]float64
	for _, run := range r.Scenarios[0].Runs {
		found = append(found, run.Metrics)
	}
	return found
}

func TestImportCSV(t *testing.T) {
	rec, err := importText(t, "csv", "\ufefftime, cpu,ram\n# warm\n2m42s,116.06%,442MB\n170 s,1.1829,458e6\n3 min,,430 MiB\n", Importing{Scenario: "tasks-nonreactive", Version: "2.16", Created: time.Unix(9, 0)})
	if err != nil {
		t.Fatal(err)
	}
	want := []map[string]float64{
		{"time": 162, "cpu": 1.1606, "ram": 442e6, "cpu_seconds": 188.0172},
		{"time": 170, "cpu": 1.1829, "ram": 458e6, "cpu_seconds": 201.093},
		{"time": 180, "ram": 450887680},
	}
	if diff := cmp.Diff(want, metricsOf(rec)); diff != "" {
		t.Error(diff)
	}
	if rec.Scenarios[0].Name != "tasks-nonreactive" || rec.Apps[Head].Version != "2.16" || !rec.Created.Equal(time.Unix(9, 0)) {
		t.Errorf("got %+v", rec)
	}
	if _, err := Encode(rec); err != nil {
		t.Errorf("it cannot be written: %v", err)
	}
}

func TestImportCSVWithArms(t *testing.T) {
	rec, err := importText(t, "csv", "arm,time\nbase,1\nhead,2\n,3\nbase,4\n", Importing{Scenario: "x"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rec.Scenarios[0].Runs {
		got = append(got, r.Arm+string(rune('0'+r.Index)))
	}
	if want := "base0 head0 head1 base1"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestImportFaults(t *testing.T) {
	for _, tt := range []struct{ name, format, text, want string }{
		{"format", "bench-platfrom", "{}", `unknown format "bench-platfrom", did you mean "bench-platform"?`},
		{"no rows", "csv", "time\n", "there is no run"},
		{"metric", "csv", "time,rams\n1,2\n", `unknown metric "rams", did you mean "ram"?`},
		{"twice", "csv", "time,time\n1,2\n", "column time is there twice"},
		{"values", "csv", "time,ram,cpu\n2m,3x,1\n-,1,1\nNaN,1,1\n1,Inf,1\n", "row 2: ram: \"3x\" is no value in bytes\nrow 3: time: \"-\" is no value in s\nrow 4: time: \"NaN\" is no value in s\nrow 5: ram: \"Inf\""},
		{"ragged", "csv", "time,ram\n1\n", "wrong number of fields"},
		{"arm", "csv", "arm,time\nhaed,1\n", `unknown arm "haed"`},
		{"empty row", "csv", "arm,time\nhead,\n", "row 2: no value"},
		{"huge", "csv", "time\n1e308h\n", "is no value in s"},
		{"not a log", "artillery-log", "hello\n", "it has no total time"},
		{"half a log", "artillery-log", "APP | Cpu 1 Memory 2\nAll VUs finished. Total time: some, seconds\n", "it has no total time"},
		{"not JSON", "bench-platform", "hello", "invalid character"},
		{"nothing known", "bench-platform", `{"scenario":"x","metrics":{}}`, "has no figure that is known"},
		{"no iterations", "k6", `{"metrics":{}}`, "not a summary of k6"},
		{"negative", "k6", `{"metrics":{"iterations":{"count":-1}}}`, "not a summary of k6"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec, err := importText(t, tt.format, tt.text, Importing{Scenario: "x"})
			if err == nil || rec != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if e := new(FileError); tt.name != "format" && !errors.As(err, &e) {
				t.Errorf("%v does not name the file", err)
			}
		})
	}
	if _, err := importText(t, "csv", "time\n1\n", Importing{}); err == nil || !strings.Contains(err.Error(), "give the scenario's name") {
		t.Errorf("no scenario: got %v", err)
	}
}

// TestImportSwapped reads a log in which the monitors' last words interleave, a monitor outlived its app, and one average stands under the
// other's name.
func TestImportSwapped(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "import", "swapped.log"))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := importText(t, "artillery-log", string(text), Importing{})
	if err != nil {
		t.Fatal(err)
	}
	s, run := rec.Scenarios[0], rec.Scenarios[0].Runs[0]
	if s.Name != "tasks-nonreactive" || s.Load != (Load{4, 60}) || rec.Apps[Head].Version != "3.0.2" {
		t.Errorf("got %s at %+v of %s", s.Name, s.Load, rec.Apps[Head].Version)
	}
	if want := time.Date(2025, 1, 15, 20, 55, 19, 0, time.UTC); !rec.Created.Equal(want) {
		t.Errorf("created %v, want %v", rec.Created, want)
	}
	want := map[string]float64{
		"time": 116, "cpu": 1.049, "ram": 377e6, "cpu_seconds": 121.684, "db.cpu": 0.1152, "db.ram": 172e6, "db.cpu_seconds": 13.3632,
		"session.p50": 41.3697, "session.p95": 66.8576, "session.p99": 68.2083, "session.max": 68.8532,
	}
	if diff := cmp.Diff(want, run.Metrics); diff != "" {
		t.Error(diff)
	}
	series := map[string][]float64{"t": {58, 116}, "app.cpu": {1.2, 1}, "app.ram": {3e8, 4e8}, "db.cpu": {.1, .14}, "db.ram": {1.5e8, 1.6e8}}
	if diff := cmp.Diff(series, run.Series); diff != "" {
		t.Error(diff)
	}
	if run.Outcome != Failed || run.Sessions != (Sessions{Planned: 240, Started: 240, OK: 238, Failed: 2}) {
		t.Errorf("got %s with %+v", run.Outcome, run.Sessions)
	}
	if len(run.Errors) != 1 || run.Errors[0].Count != 2 || !strings.HasPrefix(run.Errors[0].Cause, "page.waitForSelector: Timeout") {
		t.Errorf("got errors %+v", run.Errors)
	}
}

func TestImportK6(t *testing.T) {
	want := []map[string]float64{{"time": 20, "session.p50": 1.5, "session.p95": 2.5, "session.max": 3, "latency.http.p50": 0.01, "throughput": 12}}
	for name, text := range map[string]string{
		"export": `{"metrics":{"iterations":{"count":40,"rate":2},"dropped_iterations":{"count":2},"iteration_duration":{"avg":1,"med":1500,"p(95)":2500,"max":3000},"http_req_duration":{"med":10},"http_reqs":{"rate":12}}}`,
		"handled": `{"state":{"testRunDurationMs":20000},"metrics":{"iterations":{"type":"counter","values":{"count":40,"rate":2}},"dropped_iterations":{"values":{"count":2}},
			"iteration_duration":{"values":{"med":1500,"p(95)":2500,"max":3000}},"http_req_duration":{"values":{"med":10}},"http_reqs":{"values":{"rate":12}}}}`,
	} {
		rec, err := Import("k6", "dir/checkout.json", strings.NewReader(text), Importing{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, metricsOf(rec)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got := rec.Scenarios[0].Runs[0].Sessions; rec.Scenarios[0].Name != "checkout" || got != (Sessions{Planned: 42, Started: 40, OK: 40, Dropped: 2}) {
			t.Errorf("%s: got %s, %+v", name, rec.Scenarios[0].Name, got)
		}
	}
}

func TestImportBenchPlatform(t *testing.T) {
	rec, err := importText(t, "bench-platform", `{"timestamp":"2026-03-25T08:04:25.956Z","meteor":{"version":"release/METEOR@3.4-141-g86bdc07e1a","sha":"86bdc07e1a"},"scenario":"fanout-light",
		"wall_clock_ms":139555,"metrics":{"app_resources":{"cpu":{"avg":20,"max":148},"memory":{"avg_mb":254.54,"max_mb":270.8}},"gc":{"total_pause_ms":1486.44},
		"fanout":{"fanout_p50_ms":171.03,"fanout_p95_ms":196.54,"fanout_p99_ms":262.1}}}`, Importing{})
	if err != nil {
		t.Fatal(err)
	}
	want := []map[string]float64{{"time": 139.555, "cpu": 0.2, "cpu_seconds": 27.911, "ram": 254540000, "ram_peak": 270800000, "node.gc": 1.48644,
		"latency.foreign.p50": 0.17103, "latency.foreign.p95": 0.19654, "latency.foreign.p99": 0.2621}}
	if diff := cmp.Diff(want, metricsOf(rec)); diff != "" {
		t.Error(diff)
	}
	if rec.Apps[Head].Version != "3.4-141-g86bdc07e1a" || rec.Commit != "86bdc07e1a" || rec.Created.Year() != 2026 {
		t.Errorf("got %+v", rec)
	}
}

func TestJoin(t *testing.T) {
	one, _ := importText(t, "csv", "time\n1\n2\n", Importing{Scenario: "a", Version: "1", Created: time.Unix(9, 0)})
	two, _ := importText(t, "csv", "time\n3\n", Importing{Scenario: "a", Version: "1", Created: time.Unix(5, 0)})
	other, _ := importText(t, "csv", "time\n4\n", Importing{Scenario: "b", Version: "1"})
	joined, err := Join([]*Record{one, two, other})
	if err != nil {
		t.Fatal(err)
	}
	if len(joined.Scenarios) != 2 || len(joined.Scenarios[0].Runs) != 3 || joined.Scenarios[0].Runs[2].Index != 2 || joined.Scenarios[0].Runs[2].Metrics["time"] != 3 {
		t.Errorf("got %+v", joined.Scenarios)
	}
	if len(one.Scenarios[0].Runs) != 2 {
		t.Error("joining changed what was joined")
	}
	if err := Check(joined); err != nil {
		t.Error(err)
	}
	newer, _ := importText(t, "csv", "time\n4\n", Importing{Scenario: "a", Version: "2"})
	if _, err := Join([]*Record{one, newer}); err == nil || !strings.Contains(err.Error(), `runs of "1" and of "2"`) {
		t.Errorf("two versions: got %v", err)
	}
	if _, err := Join(nil); err == nil {
		t.Error("nothing was joined")
	}
}

func FuzzImport(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "import", "swapped.log"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("artillery-log", text)
	f.Add("csv", []byte("time,cpu,ram\n2m42s,116.06%,442MB\n"))
	f.Add("k6", []byte(`{"metrics":{"iterations":{"count":40,"rate":2}}}`))
	f.Add("bench-platform", []byte(`{"scenario":"x","metrics":{"cold_start":{"runs":[1,2]}}}`))
	f.Fuzz(func(t *testing.T, format string, text []byte) {
		rec, err := Import(format, "file", bytes.NewReader(text), Importing{Scenario: "x"})
		if err != nil {
			return
		}
		b, err := Encode(rec)
		if err != nil {
			t.Fatalf("what was imported cannot be written: %v", err)
		}
		if back, err := Decode("file", bytes.NewReader(b)); err != nil {
			t.Fatalf("what was imported and written cannot be read: %v", err)
		} else if diff := cmp.Diff(metricsOf(rec), metricsOf(back)); diff != "" {
			t.Error(diff)
		}
	})
}
