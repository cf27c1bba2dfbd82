package config

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/internal/affinity"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each testdata/faults/*.yml is wrong in its own way; beside it stands what its author is told.
func TestFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, err := Parse(File, text, os.ReadFile)
			if err == nil {
				t.Fatalf("got %+v, want faults", c)
			}
			got := err.Error() + "\n"
			golden := strings.TrimSuffix(file, ".yml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	c, err := Load("testdata/full.yml")
	if err != nil {
		t.Fatal(err)
	}
	head := app.Config{
		Command: []string{"node", "main.js"},
		Dir:     "bundle",
		Env:     map[string]string{"PORT": "3000", "ROOT_URL": "http://127.0.0.1:3000", "MONGO_URL": "mongodb://127.0.0.1:27017/bench"},
		URL:     "http://127.0.0.1:3000",
		Ready:   90 * time.Second,
		Roles:   map[string]string{"worker": `worker\.js`},
		Services: []app.Service{
			{Name: "db", Command: []string{"mongod", "--dbpath", "${tmp}", "--port", "27017"}, Ready: "tcp:27017"},
		},
		Reset:   []string{"./drop-database.sh"},
		Version: app.Version{Command: []string{"git", "rev-parse", "HEAD"}},
	}
	base := head
	base.Dir = "bundle-base"
	base.Env = map[string]string{"PORT": "3001", "ROOT_URL": head.Env["ROOT_URL"], "MONGO_URL": head.Env["MONGO_URL"]}
	if diff := cmp.Diff(&head, c.App); diff != "" {
		t.Errorf("app: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(&base, c.Base); diff != "" {
		t.Errorf("base: -want +got:\n%s", diff)
	}
	var names []string
	for _, s := range c.Scenarios {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"tasks-nonreactive", "chat", "hello"}, names); diff != "" {
		t.Errorf("scenarios: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(Runs{Min: 3, Max: 9, Budget: 45 * time.Minute}, c.Runs); diff != "" {
		t.Errorf("runs: -want +got:\n%s", diff)
	}
	policy := gate.Policy{
		Confidence:   0.95,
		Thresholds:   map[string]gate.Percent{"time": 0.05, "session.wait.p50": 0.1},
		Accept:       []gate.Acceptance{{Scenario: "hello", Metric: "ram", Change: 0.12, Reason: "driver upgrade", Until: "2027-03-01"}},
		Inconclusive: gate.Warn,
	}
	if diff := cmp.Diff(policy, c.Gate); diff != "" {
		t.Errorf("gate: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(baseline.Config{Store: "dir:.ddpgate/baselines", Key: "main"}, c.Baseline); diff != "" {
		t.Errorf("baseline: -want +got:\n%s", diff)
	}
}

func TestLoadNothing(t *testing.T) {
	if _, err := Load("testdata/none.yml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

func TestRuns(t *testing.T) {
	def := DefaultRuns()
	for _, tt := range []struct {
		text string
		want Runs
	}{
		{"gate: {}", def},
		{"runs: {}", def},
		{"runs: {min: 20}", Runs{Min: 20, Max: 20, Warmup: def.Warmup, Cooldown: def.Cooldown}},
		{"runs: {min: 2}", Runs{Min: 2, Max: def.Max, Warmup: def.Warmup, Cooldown: def.Cooldown}},
		{"runs: {max: 2}", Runs{Min: 2, Max: 2, Warmup: def.Warmup, Cooldown: def.Cooldown}},
		{"runs: {max: 30}", Runs{Min: def.Min, Max: 30, Warmup: def.Warmup, Cooldown: def.Cooldown}},
		{"runs: {max: 15, min: 5, cpus: {app: 0, driver: [1, 3]}}", Runs{
			Min: 5, Max: 15, Warmup: def.Warmup, Cooldown: def.Cooldown, CPUs: affinity.Split{App: affinity.CPUs{0}, Driver: affinity.CPUs{1, 3}},
		}},
		{"runs: {warmup: 0, cooldown: 0s, budget: 30m}", Runs{Min: def.Min, Max: def.Max, Budget: 30 * time.Minute}},
	} {
		c, err := Parse(File, []byte(tt.text), os.ReadFile)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if diff := cmp.Diff(tt.want, c.Runs); diff != "" {
			t.Errorf("%s: -want +got:\n%s", tt.text, diff)
		}
	}
}

// The base changes what it names and leaves the rest, and the app, as they are.
func TestBaseMerges(t *testing.T) {
	c, err := Parse(File, []byte(`
app: {command: [a, b], url: "http://h:1", env: {A: 1, B: 2}, version: x}
base: {command: [c], env: {B: 3, C: 4}, version: {command: [d]}}`), os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	head := app.Config{Command: []string{"a", "b"}, URL: "http://h:1", Env: map[string]string{"A": "1", "B": "2"}, Version: app.Version{Text: "x"}}
	base := app.Config{
		Command: []string{"c"}, URL: "http://h:1", Env: map[string]string{"A": "1", "B": "3", "C": "4"},
		Version: app.Version{Command: []string{"d"}},
	}
	if diff := cmp.Diff([]*app.Config{&head, &base}, []*app.Config{c.App, c.Base}); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// FuzzParse holds Parse to never panicking, and to accepting only what its parts find sound and the schema accepts.
func FuzzParse(f *testing.F) {
	for _, glob := range []string{"testdata/*.yml", "testdata/faults/*.yml"} {
		files, err := filepath.Glob(glob)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	schema := compiled(f, "")
	readFile := func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse(File, text, readFile)
		if err != nil {
			return
		}
		faults := []error{c.Runs.Validate(), c.Gate.Validate(), c.Baseline.Validate()}
		for _, a := range []*app.Config{c.App, c.Base} {
			if a != nil {
				complete := *a
				if complete.URL == "" {
					complete.URL = "http://127.0.0.1:3000"
				}
				faults = append(faults, complete.Validate())
			}
		}
		for _, s := range c.Scenarios {
			faults = append(faults, s.Validate())
		}
		if err := errors.Join(faults...); err != nil {
			t.Fatalf("accepted: %v", err)
		}
		if err := schema.Validate(asJSON(t, text)); err != nil {
			t.Fatalf("the schema refuses what Parse accepts: %v", err)
		}
	})
}
