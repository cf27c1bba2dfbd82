package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSchemaIsOne(t *testing.T) {
	if _, err := compile(); err != nil {
		t.Fatal(err)
	}
	mine := Schema()
	mine[0] = 'x'
	if !json.Valid(Schema()) {
		t.Error("a caller's change to its copy changes the schema")
	}
}

// TestSchemaNamesEveryField holds the schema's properties, each described, against the types' fields.
func TestSchemaNamesEveryField(t *testing.T) {
	type object struct {
		Description string                     `json:"description"`
		Properties  map[string]json.RawMessage `json:"properties"`
	}
	var whole struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &whole); err != nil {
		t.Fatal(err)
	}
	var load object
	if err := json.Unmarshal(whole.Defs["scenario"].Properties["load"], &load); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		of     any
		schema object
	}{
		{Record{}, whole.object},
		{Tool{}, whole.Defs["tool"]},
		{Environment{}, whole.Defs["environment"]},
		{App{}, whole.Defs["app"]},
		{Scenario{}, whole.Defs["scenario"]},
		{Load{}, load},
		{Run{}, whole.Defs["run"]},
		{Sessions{}, whole.Defs["sessions"]},
		{Shard{}, whole.Defs["shard"]},
		{Error{}, whole.Defs["error"]},
	} {
		typ := reflect.TypeOf(tt.of)
		if got, want := slices.Sorted(maps.Keys(tt.schema.Properties)), fields(typ); !slices.Equal(got, want) {
			t.Errorf("%s: the schema has %v, the type %v", typ, got, want)
		}
		if tt.schema.Description == "" {
			t.Errorf("%s has no description", typ)
		}
		for name, raw := range tt.schema.Properties {
			if !bytes.Contains(raw, []byte(`"description"`)) && !bytes.Contains(raw, []byte(`"#/$defs/`+name)) {
				t.Errorf("%s: %s has no description", typ, name)
			}
		}
	}
}

func fields(typ reflect.Type) []string {
	var names []string
	for f := range typ.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func TestSchemaFaults(t *testing.T) {
	good := string(encodeOf(t, sample()))
	for _, tt := range []struct{ name, old, new, want string }{
		{"missing", `"created":"2026-11-30T12:00:00Z",`, "", "at /: missing property 'created'"},
		{"missing in a run", `"outcome":"failed",`, "", "at /scenarios/0/runs/0: missing property 'outcome'"},
		{"type", `"time":86.2`, `"time":"86.2"`, "at /scenarios/0/runs/0/metrics/time: got string, want number"},
		{"null", `"time":86.2`, `"time":null`, "at /scenarios/0/runs/0/metrics/time: got null, want number"},
		{"outcome", `"outcome":"failed"`, `"outcome":"fine"`, "at /scenarios/0/runs/0/outcome: value must be one of 'ok', 'failed', 'invalid', 'interrupted'"},
		{"arm", `"arm":"base"`, `"arm":"left"`, "at /scenarios/0/runs/0/arm: value must be one of 'base', 'head'"},
		{"count", `"late":2`, `"late":-2`, "at /scenarios/0/runs/0/sessions/late: minimum: got -2, want 0"},
		{"whole count", `"late":2`, `"late":2.5`, "at /scenarios/0/runs/0/sessions/late: got number, want integer"},
		{"date", `"created":"2026-11-30T12:00:00Z"`, `"created":"30.11.2026"`, "at /created: '30.11.2026' is not valid date-time"},
		{"id", `"id":"sha256:`, `"id":"md5:`, "at /id: 'md5:"},
		{"series", `"t":[0,0.5]`, `"t":[0,"x"]`, "series of type float64"},
		{"number too large", `"time":86.2`, `"time":1e999`, "1e999"},
		{"content", `"planned":240`, `"planned":300`, "300 sessions planned, but 237 started, 2 late and 1 dropped"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := strings.Replace(good, tt.old, tt.new, 1)
			if bad == good {
				t.Fatalf("no %q in the record", tt.old)
			}
			_, err := Decode("bad.json", strings.NewReader(bad))
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestUnknownFieldsAreLeftOut(t *testing.T) {
	later := strings.Replace(string(encodeOf(t, sample())), `"format"`, `"weather":{"rain":true},"format"`, 1)
	if diff := cmp.Diff(sample(), decodeOf(t, []byte(later)), asIs, cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Altered" }, cmp.Ignore())); diff != "" {
		t.Errorf("a field of a later build changes the others:\n%s", diff)
	}
}

func TestWithoutSeries(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{}`, `{}`},
		{`{"series":{"t":[1,2],"u":[3]},"x":1}`, `{"series":{},"x":1}`},
		{"{\"series\" :\n {\"t\":[1]}}", "{\"series\" :\n {}}"},
		{`{"series":{"}":[1],"\\\"{":[2]},"y":{"series":{"a":{"b":{}}}}}`, `{"series":{},"y":{"series":{}}}`},
		{`{"series":5,"x":["series",{"a":1}]}`, `{"series":5,"x":["series",{"a":1}]}`},
		{`{"x":"\"series\":{","y":{"z":1}}`, `{"x":"\"series\":{","y":{"z":1}}`},
		{`{"my series":{"a":1},"series":{}}`, `{"my series":{"a":1},"series":{}}`},
	} {
		if got := string(withoutSeries([]byte(tt.in))); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
}
