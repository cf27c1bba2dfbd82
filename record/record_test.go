package record

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ddpgate/ddpgate/scenario"
)

// sample is a record in which every field of every type is set.
func sample() *Record {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	resolved := scenario.Scenario{
		Name: "tasks-reactive", Arrivals: scenario.Arrivals{Rate: 4, For: time.Minute}, Timeout: 2 * time.Minute,
		Transport: scenario.SockJS, Compression: scenario.Browser, Vars: map[string]any{"tasks": 20.0},
		Session: []scenario.Step{{Call: &scenario.Call{Method: "insertTask", Params: []any{map[string]any{"description": "<b> & \u2028"}}}}},
	}
	run := func(arm string, seconds float64) Run {
		return Run{
			Arm: arm, Index: 0, Pair: 0, Started: at, Outcome: Failed, Reasons: []string{"one session failed"}, LimitedBy: "none", Died: true, Extensions: "permessage-deflate",
			Sessions: Sessions{Planned: 240, Started: 237, OK: 238, Failed: 1, Late: 2, Dropped: 1},
			Metrics:  map[string]float64{"time": seconds, "cpu_seconds": 40.1, "ram": 402000000}, Missing: map[string]string{"size": "no directory"},
			Histograms: map[string]string{"latency.insertTask": "HISTFAAA"}, Censored: map[string]int64{"session": 1},
			Series: map[string][]float64{"t": {0, 0.5}, "app.ram": {1, 2}},
			Errors: []Error{{Cause: "timed out in step 4", Count: 1, Example: "session 7: \x1b[31m\"series\""}}, Output: []string{"{\"series\": {"},
		}
	}
	return &Record{
		Format: Format, Created: at, Tool: Tool{Version: "1.0.0", Commit: "abc"}, Command: []string{"ddpgate", "run"}, Commit: "def", Repository: "meteor/meteor",
		Environment: Environment{Machine: "m", CPU: "c", Cores: 2, Memory: 1 << 33, OS: "linux", Arch: "amd64", Kernel: "6.1", Timer: 1e-4, Calibration: []float64{1.5},
			CPUs: CPUs{App: []int{0, 2}, Driver: []int{1}}},
		Apps: map[string]App{Base: {Version: "1"}, Head: {Version: "2", Command: []string{"node", "main.js"}, URL: "http://127.0.0.1:3000"}},
		Seed: math.MaxUint64, Planned: Planned{Min: 5, Max: 15}, Interrupted: true,
		Scenarios: []Scenario{{
			Name: "tasks-reactive", Identity: "sha256:1", Load: Load{Rate: 4, For: 60}, Resolved: &resolved,
			Runs: []Run{run(Base, 86.2), run(Head, 90)},
		}},
	}
}

func encodeOf(t testing.TB, r *Record) []byte {
	t.Helper()
	b, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decodeOf(t testing.TB, b []byte) *Record {
	t.Helper()
	r, err := Decode("test.json", bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func zipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// asIs compares records without what writing sets.
var asIs = cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Record{}, "ID", "Format")}

func TestRoundTrip(t *testing.T) {
	want := sample()
	b := encodeOf(t, want)
	for name, file := range map[string][]byte{"plain": b, "gzip": zipped(t, b)} {
		got := decodeOf(t, file)
		if diff := cmp.Diff(want, got, asIs); diff != "" {
			t.Errorf("%s: changed on the way (-want +got):\n%s", name, diff)
		}
		if !bytes.Equal(encodeOf(t, got), b) {
			t.Errorf("%s: encoded again, it is another file", name)
		}
	}
	if diff := cmp.Diff(sample(), want); diff != "" {
		t.Errorf("Encode changed its argument:\n%s", diff)
	}
}

func TestRoundTripOfAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyRecord(t)
		b, err := Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode("any", bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		if diff := cmp.Diff(want, got, asIs); diff != "" {
			t.Fatalf("changed on the way (-want +got):\n%s", diff)
		}
		if again, err := Encode(got); err != nil || !bytes.Equal(b, again) {
			t.Fatalf("encoded again: %v\n%s\n%s", err, b, again)
		}
	})
}

func anyRecord(t *rapid.T) *Record {
	number, text, count := rapid.Float64Range(-1e15, 1e15), rapid.String().Filter(validText), rapid.IntRange(0, 500)
	r := &Record{Created: time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "created"), 0).UTC(), Seed: rapid.Uint64().Draw(t, "seed")}
	r.Environment.CPU = text.Draw(t, "cpu")
	for i := range rapid.IntRange(0, 3).Draw(t, "scenarios") {
		s := Scenario{Name: strings.Repeat("s", i+1), Load: Load{Rate: 1, For: 2}}
		for j := range rapid.IntRange(0, 3).Draw(t, "runs") {
			ok, failed, dropped := count.Draw(t, "ok"), count.Draw(t, "failed"), count.Draw(t, "dropped")
			points := rapid.IntRange(0, 4).Draw(t, "points")
			s.Runs = append(s.Runs, Run{
				Arm: rapid.SampledFrom([]string{Base, Head}).Draw(t, "arm"), Index: j, Started: r.Created,
				Outcome:  rapid.SampledFrom([]Outcome{OK, Failed, Invalid, Interrupted}).Draw(t, "outcome"),
				Sessions: Sessions{Planned: ok + failed + dropped, Started: ok + failed, OK: ok, Failed: failed, Dropped: dropped},
				Metrics:  rapid.MapOf(rapid.StringMatching(`[a-z.]+`), number).Draw(t, "metrics"),
				Series: map[string][]float64{
					"t": rapid.SliceOfN(number, points, points).Draw(t, "t"), text.Draw(t, "name"): rapid.SliceOfN(number, points, points).Draw(t, "y"),
				},
				Output: rapid.SliceOf(text).Draw(t, "output"),
			})
		}
		r.Scenarios = append(r.Scenarios, s)
	}
	return r
}

// validText leaves out what JSON cannot keep.
func validText(s string) bool { return strings.ToValidUTF8(s, "") == s }

func TestEmptyRecord(t *testing.T) {
	r := decodeOf(t, encodeOf(t, &Record{Scenarios: []Scenario{{Name: "idle", Runs: []Run{{Arm: Head, Outcome: OK, Series: map[string][]float64{"t": nil}}}}}}))
	if got := len(r.Scenarios[0].Arm(Head)); got != 1 {
		t.Errorf("got %d runs of head, want 1", got)
	}
	if got := len(r.Scenarios[0].Arm(Base)); got != 0 {
		t.Errorf("got %d runs of base, want 0", got)
	}
	if r.Scenario("idle") == nil || r.Scenario("busy") != nil {
		t.Error("scenarios are not found by name")
	}
}

func TestID(t *testing.T) {
	b := encodeOf(t, sample())
	r := decodeOf(t, b)
	if !strings.HasPrefix(r.ID, "sha256:") || len(r.ID) != len("sha256:")+64 || r.Altered {
		t.Fatalf("got id %q, altered %v", r.ID, r.Altered)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil || doc["id"] != r.ID {
		t.Errorf("the file says %v, its content %s (%v)", doc["id"], r.ID, err)
	}

	var spaced bytes.Buffer
	if err := json.Indent(&spaced, b, "", "\t"); err != nil {
		t.Fatal(err)
	}
	if got := decodeOf(t, spaced.Bytes()); got.ID != r.ID || got.Altered {
		t.Errorf("with white space: id %s, altered %v, want %s", got.ID, got.Altered, r.ID)
	}
	for name, edit := range map[string][2]string{
		"a number":         {`"time":90`, `"time":80`},
		"an unknown field": {`"format":`, `"later":1,"format":`},
		"a series":         {`"app.ram":[1,2]`, `"app.ram":[1,3]`},
	} {
		edited := strings.Replace(string(b), edit[0], edit[1], 1)
		if got := decodeOf(t, []byte(edited)); got.ID == r.ID || !got.Altered {
			t.Errorf("%s edited: id %s is the old one: %v, altered: %v", name, got.ID, got.ID == r.ID, got.Altered)
		}
	}
	unnamed := strings.Replace(string(b), r.ID, "", 1)
	unnamed = strings.Replace(unnamed, `"id":"",`, "", 1)
	if got := decodeOf(t, []byte(unnamed)); got.ID != r.ID || got.Altered {
		t.Errorf("without id: got %s, altered %v, want %s", got.ID, got.Altered, r.ID)
	}
}

// TestTruncated cuts a record at every byte: none of the pieces may read as a record, nor as something that is none.
func TestTruncated(t *testing.T) {
	b := bytes.TrimSpace(encodeOf(t, sample()))
	for n := range len(b) {
		if _, err := Decode("cut.json", bytes.NewReader(b[:n])); !errors.Is(err, ErrTruncated) {
			t.Fatalf("first %d of %d bytes: got %v, want %v", n, len(b), err, ErrTruncated)
		}
	}
	z := zipped(t, b)
	for n := 2; n < len(z); n++ {
		if _, err := Decode("cut.json.gz", bytes.NewReader(z[:n])); !errors.Is(err, ErrTruncated) {
			t.Fatalf("first %d of %d compressed bytes: got %v, want %v", n, len(z), err, ErrTruncated)
		}
	}
}

func TestNotARecord(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		is         error
		want       string
	}{
		{"empty", "", ErrTruncated, "truncated: the file is empty"},
		{"white space", " \n", ErrTruncated, "truncated: the file is empty"},
		{"text", "Phase started: unnamed", ErrNotRecord, "not a ddpgate record: it is not JSON"},
		{"list", "[1, 2]", ErrNotRecord, "not a ddpgate record: it is JSON, but no object"},
		{"null", "null", ErrNotRecord, "not a ddpgate record: it has no field format"},
		{"another object", `{"metrics": {}}`, ErrNotRecord, "not a ddpgate record: it has no field format"},
		{"a number for format", `{"format": 1}`, ErrNotRecord, "not a ddpgate record: its format is no text"},
		{"another format", `{"format": "k6/summary/2"}`, ErrNotRecord, `its format is "k6/summary/2", this build reads ddpgate/record/1`},
		{"no version", `{"format": "ddpgate/record"}`, ErrNotRecord, `its format is "ddpgate/record", this build reads ddpgate/record/1`},
		{"version 0", `{"format": "ddpgate/record/0"}`, ErrNotRecord, "this build reads ddpgate/record/1"},
		{"newer", `{"format": "ddpgate/record/2"}`, ErrNewer,
			"written by a newer ddpgate: its format is ddpgate/record/2, this build reads ddpgate/record/1; update ddpgate"},
		{"wrong JSON", "{\n\"a\": 1,,}", ErrNotRecord, "line 2, column 8: invalid character ','"},
		{"two records", `{"format": "ddpgate/record/1"} {}`, ErrNotRecord, "line 1, column 32: invalid character '{' after top-level value"},
		{"damaged gzip", "\x1f\x8b\x00\x00\x00\x00\x00\x00\x00\x00", ErrNotRecord, "gzip: invalid header"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Decode("some/file.json", strings.NewReader(tt.text))
			var file *FileError
			if !errors.As(err, &file) || file.File != "some/file.json" {
				t.Fatalf("got %v (%T), want a FileError of some/file.json", err, err)
			}
			if !errors.Is(err, tt.is) || !strings.HasPrefix(err.Error(), "record some/file.json: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestTooLarge(t *testing.T) {
	big := bytes.Repeat([]byte(" "), 1001)
	for name, b := range map[string][]byte{"plain": big, "gzip": zipped(t, big)} {
		if _, err := readAll(bytes.NewReader(b), 1000); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: got %v, want %v", name, err, ErrTooLarge)
		}
		if _, err := readAll(bytes.NewReader(b), 1001); err != nil {
			t.Errorf("%s: at the limit: %v", name, err)
		}
	}
}

func TestReadNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gone.json")
	_, err := Read(path)
	var file *FileError
	if !errors.As(err, &file) || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("got %v, want a FileError that is fs.ErrNotExist", err)
	}
	if got, want := err.Error(), "record "+path+": no such file or directory"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encodeOf(f, sample()))
	f.Add(zipped(f, encodeOf(f, &Record{})))
	f.Add([]byte(`{"format":"ddpgate/record/2"}`))
	f.Add([]byte(`{"series":{"a":"}","b":[{}]},"x":"\"series\":{"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Decode("fuzz", bytes.NewReader(b))
		if err != nil {
			var file *FileError
			if !errors.As(err, &file) || r != nil {
				t.Fatalf("got %v and %T, want a FileError and no record", r, err)
			}
			return
		}
		again := decodeOf(t, encodeOf(t, r))
		if diff := cmp.Diff(r, again, asIs, cmpopts.IgnoreFields(Record{}, "Altered")); diff != "" {
			t.Fatalf("changed on the way:\n%s", diff)
		}
	})
}

// BenchmarkDecode reads a record of 30 scenarios with 30 runs each, 11 MB.
func BenchmarkDecode(b *testing.B) {
	r := &Record{}
	points := make([]float64, 180)
	for i := range points {
		points[i] = float64(i) * 1.2345678
	}
	for i := range 30 {
		s := Scenario{Name: strings.Repeat("s", i+1)}
		for j := range 30 {
			s.Runs = append(s.Runs, Run{
				Arm: Head, Index: j, Outcome: OK, Metrics: map[string]float64{"time": 86.2, "ram": 4e8},
				Series: map[string][]float64{"t": points, "app.ram": points, "app.cpu": points, "db.ram": points, "db.cpu": points, "sessions": points},
			})
		}
		r.Scenarios = append(r.Scenarios, s)
	}
	file := encodeOf(b, r)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		decodeOf(b, file)
	}
}
