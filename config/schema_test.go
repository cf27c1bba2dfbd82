package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ddpgate/ddpgate/internal/strictyaml"
	"github.com/ddpgate/ddpgate/scenario"
)

// compiled returns the schema of the whole file, or of one of its definitions.
func compiled(t testing.TB, definition string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	const where = "config.schema.json"
	if err := c.AddResource(where, doc); err != nil {
		t.Fatal(err)
	}
	place := where
	if definition != "" {
		place += "#/definitions/" + definition
	}
	s, err := c.Compile(place)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asJSON returns what a YAML text says, as a validator of JSON Schema wants it.
func asJSON(t testing.TB, text []byte) any {
	t.Helper()
	doc, err := strictyaml.Parse("f.yml", text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(doc.Root.Value())
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

type object struct {
	Properties           map[string]json.RawMessage `json:"properties"`
	AdditionalProperties json.RawMessage            `json:"additionalProperties"`
	Definitions          map[string]object          `json:"definitions"`
}

func schemaObjects(t *testing.T) map[string]object {
	t.Helper()
	var root object
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	objects := root.Definitions
	objects[""] = root
	return objects
}

// The schema and Parse know the same keys, everywhere: Parse is asked by a key that is near none.
func TestSchemaAndParseKnowTheSameKeys(t *testing.T) {
	const unheard = "zzzzzzzzzzzzzzzzzzzzzzzz"
	inSession := func(step string) string {
		return "scenarios: [{name: s, arrivals: {rate: 1/s, for: 1s}, session: [" + step + "]}]"
	}
	asked := map[string]string{
		"":            "@: 1",
		"app":         "app: {@: 1}",
		"version":     "app: {version: {@: 1}}",
		"metrics":     "app: {metrics: {@: 1}}",
		"service":     "app: {services: [{@: 1}]}",
		"runs":        "runs: {@: 1}",
		"cpus":        "runs: {cpus: {@: 1}}",
		"gate":        "gate: {@: 1}",
		"acceptance":  "gate: {accept: [{@: 1}]}",
		"baseline":    "baseline: {@: 1}",
		"scenario":    "scenarios: [{@: 1}]",
		"arrivals":    "scenarios: [{arrivals: {@: 1}}]",
		"step":        inSession("{@: 1}"),
		"subscribe":   inSession("{subscribe: {@: 1}}"),
		"unsubscribe": inSession("{unsubscribe: {@: 1}}"),
		"call":        inSession("{call: {@: 1}}"),
		"find":        inSession("{call: {find: {@: 1}}}"),
		"await":       inSession("{await: {@: 1}}"),
		"moment":      inSession("{pause: {@: 1}}"),
		"login":       inSession("{login: {@: 1}}"),
		"secret":      inSession("{login: {token: {@: 1}}}"),
	}
	list := regexp.MustCompile(`unknown key "` + unheard + `", known are: (.*)`)
	for definition, o := range schemaObjects(t) {
		if o.Properties == nil {
			continue
		}
		text, known := asked[definition]
		if !known {
			t.Errorf("definition %q is an object that this test does not ask Parse for", definition)
			continue
		}
		delete(asked, definition)
		_, err := Parse(File, []byte(strings.ReplaceAll(text, "@", unheard)), os.ReadFile)
		if err == nil {
			t.Errorf("%s: accepted", text)
			continue
		}
		m := list.FindStringSubmatch(err.Error())
		if m == nil {
			t.Errorf("%s: got %v, want the known keys", text, err)
			continue
		}
		want := strings.Split(m[1], ", ")
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(o.Properties))); diff != "" {
			t.Errorf("definition %q: -Parse +schema:\n%s", definition, diff)
		}
		if string(o.AdditionalProperties) != "false" {
			t.Errorf("definition %q takes unknown keys", definition)
		}
	}
	if len(asked) > 0 {
		t.Errorf("the schema has no definition of %v", slices.Sorted(maps.Keys(asked)))
	}
}

// What the schema calls a default is one: writing it down changes nothing.
func TestSchemaDefaults(t *testing.T) {
	defaults := func(definition string) string {
		var lines []string
		for name, raw := range schemaObjects(t)[definition].Properties {
			var property struct{ Default json.RawMessage }
			if err := json.Unmarshal(raw, &property); err != nil {
				t.Fatal(err)
			}
			if property.Default != nil {
				lines = append(lines, name+": "+string(property.Default))
			}
		}
		if len(lines) == 0 {
			t.Fatalf("%s has no defaults", definition)
		}
		return strings.Join(lines, ", ")
	}
	c, err := Parse(File, []byte("runs: {"+defaults("runs")+"}\nbaseline: {"+defaults("baseline")+"}\ngate: {"+defaults("gate")+"}"), os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(DefaultRuns(), c.Runs); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got, want := c.Baseline.Spec(), Default().Baseline.Spec(); got != want {
		t.Errorf("got store %s, want %s", got, want)
	}
	if c.Gate.Warns() || c.Gate.Strict {
		t.Errorf("got gate %+v, want the default", c.Gate)
	}
	const short = "name: s, arrivals: {rate: 1/s, for: 1s}, session: [{call: {method: m}}]"
	plain, err := scenario.Parse("s.yml", []byte("{"+short+"}"))
	if err != nil {
		t.Fatal(err)
	}
	said, err := scenario.Parse("s.yml", []byte("{"+short+", "+defaults("scenario")+"}"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plain, said); diff != "" {
		t.Errorf("-nothing said +defaults said:\n%s", diff)
	}
}

// What Parse accepts, the schema accepts.
func TestSchemaAccepts(t *testing.T) {
	files, err := filepath.Glob("../scenario/builtin/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range append(files, "testdata/full.yml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		definition := "scenario"
		if file == "testdata/full.yml" {
			definition = ""
		}
		if err := compiled(t, definition).Validate(asJSON(t, text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestSchemaAndParseAgreeOnValues(t *testing.T) {
	const head = "name: s\nsession: [{call: {method: m}}]\n"
	schemas := map[string]*jsonschema.Schema{"": compiled(t, ""), "scenario": compiled(t, "scenario"), "step": compiled(t, "step")}
	for _, tt := range []struct {
		definition, text string
		want             bool
	}{
		{"", `runs: {cooldown: 1.5s}`, true},
		{"", `runs: {cooldown: 1h30m}`, false}, // more than an hour
		{"", `runs: {cooldown: "0"}`, true},
		{"", `runs: {cooldown: 0}`, true},
		{"", `runs: {cooldown: 5}`, false},
		{"", `runs: {cooldown: 5 s}`, false},
		{"", `runs: {cooldown: -5s}`, false},
		{"", `runs: {budget: 1h30m}`, true},
		{"", `runs: {cpus: {app: 0, driver: 1}}`, true},
		{"", `runs: {cpus: {app: [0, 2], driver: [1]}}`, true},
		{"", `runs: {cpus: {}}`, false},
		{"", `runs: {cpus: 0}`, false},
		{"", `runs: {cpus: {app: 0}}`, false},
		{"", `runs: {cpus: {app: [], driver: 1}}`, false},
		{"", `runs: {cpus: {app: [], driver: []}}`, false},
		{"", `runs: {cpus: {app: [0, 0], driver: 1}}`, false},
		{"", `runs: {cpus: {app: -1, driver: 1}}`, false},
		{"", `runs: {cpus: {app: 1024, driver: 1}}`, false},
		{"", `runs: {cpus: {app: one, driver: 1}}`, false},
		{"", `runs: {min: 0}`, false},
		{"", `runs: {min: "3"}`, false},
		{"", `runs: {max: 1001}`, false},
		{"", `gate: {thresholds: {time: 5%}}`, true},
		{"", `gate: {thresholds: {time: 0.05}}`, true},
		{"", `gate: {thresholds: {time: 0}}`, false},
		{"", `gate: {thresholds: {time: five}}`, false},
		{"", `gate: {inconclusive: perhaps}`, false},
		{"", `gate: {confidence: 1}`, false},
		{"", `gate: {accept: [{metric: ram, change: 12%}]}`, false},
		{"", `gate: {accept: [{metric: ram, change: 12%, reason: x}]}`, true},
		{"", `app: {url: "http://h"}`, true},
		{"", `app: {url: "h"}`, false},
		{"", `app: {command: [a]}`, true},
		{"", `app: {dir: a}`, false},
		{"", `app: {}`, false},
		{"", `app: {command: [sleep, 5], url: "http://h", version: 3}`, true},
		{"", `app: {url: "http://h", version: {command: [git]}}`, true},
		{"", `app: {url: "http://h", version: [git]}`, false},
		{"", `app: {url: "http://h", env: {A: 1, B: true, C: ""}}`, true},
		{"", `app: {url: "http://h", env: {A: ~}}`, false},
		{"", `app: {url: "http://h", services: [{name: db, command: [d], ready: "tcp:1"}]}`, true},
		{"", `app: {url: "http://h", services: [{name: DB, command: [d]}]}`, false},
		{"", `app: {url: "http://h", services: [{name: db, command: []}]}`, false},
		{"", `scenarios: []`, false},
		{"", `scenarios: [tasks-reactive]`, true},
		{"", `scenarios: tasks-reactive`, false},
		{"scenario", head + `arrivals: {rate: 4/s, for: 60s}`, true},
		{"scenario", head + `arrivals: {rate: 4, for: 60s}`, false},
		{"scenario", head + `arrivals: {rate: 4/day, for: 60s}`, false},
		{"scenario", head + `arrivals: {rate: 4/s}`, false},
		{"scenario", head + "arrivals: {rate: 4/s, for: 1m}\nthink: 0..200ms", true},
		{"scenario", head + "arrivals: {rate: 4/s, for: 1m}\nthink: 5", false},
		{"scenario", head + "arrivals: {rate: 4/s, for: 1m}\ntransport: http", false},
		{"scenario", head + "arrivals: {rate: 4/s, for: 1m}\ncompression: on", false},
		{"scenario", head + "arrivals: {rate: 4/s, for: 1m}\nvars: {a: [1]}", false},
		{"step", `{call: {method: m}, pause: 1s}`, false},
		{"step", `{}`, false},
		{"step", `{repeat: 3}`, false},
		{"step", `{repeat: 3, steps: [{pause: 1s}]}`, true},
		{"step", `{repeat: 0, steps: [{pause: 1s}]}`, false},
		{"step", `{repeat: 3, steps: []}`, false},
		{"step", `{pause: 1s, steps: []}`, false},
		{"step", `{pause: 1s..2s}`, true},
		{"step", `{each: {a: b, c: d}, steps: [{pause: 1s}]}`, false},
		{"step", `{await: {collection: c, id: a, gone: true}}`, true},
		{"step", `{await: {collection: c}}`, false},
		{"step", `{await: {collection: c, id: a, match: {b: c}}}`, false},
		{"step", `{call: {method: m, params: {a: 1}}}`, false},
		{"step", `{call: {method: m, params: [{a: [1, ~]}], think: 0s, find: {match: {a: 1}, append: {ids: _id}}}}`, true},
		{"step", `{call: {method: m, find: {}}}`, false},
		{"step", `{subscribe: {name: ""}}`, false},
	} {
		schemaErr := schemas[tt.definition].Validate(asJSON(t, []byte(tt.text)))
		var parseErr error
		switch tt.definition {
		case "":
			_, parseErr = Parse(File, []byte(tt.text), os.ReadFile)
		case "scenario":
			_, parseErr = scenario.Parse("s.yml", []byte(tt.text))
		case "step":
			_, parseErr = scenario.Parse("s.yml", []byte("name: s\narrivals: {rate: 1/s, for: 1s}\nsession:\n  - "+tt.text))
		}
		if (parseErr == nil) != tt.want {
			t.Errorf("%s: Parse says %v, want accepted %v", tt.text, parseErr, tt.want)
		}
		if tt.want && schemaErr != nil {
			t.Errorf("%s: the schema refuses what Parse accepts: %v", tt.text, schemaErr)
		}
		if !tt.want && schemaErr == nil && !strings.Contains(tt.text, "1h30m") {
			t.Errorf("%s: the schema accepts what Parse refuses", tt.text)
		}
	}
}
