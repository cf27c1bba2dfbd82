package scenario

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func builtIn(t *testing.T, name string) *Scenario {
	t.Helper()
	s, err := Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWith(t *testing.T) {
	s := builtIn(t, "tasks-reactive")
	before := s.Identity()
	rate, length, timeout := 10.0, 5*time.Second, 30*time.Second
	transport, compression := WebSocket, Off
	got, err := s.With(Overrides{
		Rate: &rate, For: &length, Think: &Range{0, 20 * time.Millisecond}, Timeout: &timeout,
		Transport: &transport, Compression: &compression, Vars: map[string]string{"tasks": "3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := *builtIn(t, "tasks-reactive")
	want.Arrivals, want.Think, want.Timeout = Arrivals{10, 5 * time.Second}, Range{0, 20 * time.Millisecond}, 30*time.Second
	want.Transport, want.Compression, want.Vars = WebSocket, Off, map[string]any{"tasks": int64(3)}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if s.Identity() != before {
		t.Error("With changed the scenario that it was called on")
	}
	if got.Identity() == before {
		t.Error("overrides must be part of the identity")
	}
	if got.Actions() != 50*8 {
		t.Errorf("got %d actions, want 8 a session with 3 tasks", got.Actions())
	}
}

func TestWithoutOverridesIsTheSame(t *testing.T) {
	s := builtIn(t, "tasks-nonreactive")
	got, err := s.With(Overrides{})
	if err != nil || got.Identity() != s.Identity() {
		t.Errorf("got %v, %v, want the same identity", got, err)
	}
}

func TestWithFaults(t *testing.T) {
	typed, err := Parse("typed.yml", []byte(`{name: typed, arrivals: {rate: 1/s, for: 1s}, vars: {n: 1, f: 0.5, b: true, s: x},
session: [{repeat: "${n}", steps: [{call: {method: m}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	zero := 0.0
	short := time.Millisecond
	for _, tt := range []struct {
		name string
		o    Overrides
		want []string
	}{
		{"unknown", Overrides{Vars: map[string]string{"nn": "1", "zebra": "2"}}, []string{`unknown variable "nn"`, `unknown variable "zebra", known are: b, f, n, s`}},
		{"types", Overrides{Vars: map[string]string{"n": "1.5", "f": "x", "b": "maybe"}}, []string{
			`variable n: "1.5" is not a whole number`, `variable f: "x" is not a number`, `variable b: "maybe" is neither true nor false`}},
		{"too often", Overrides{Vars: map[string]string{"n": "10001"}}, []string{`repeats "10001" times`}},
		{"infinite", Overrides{Vars: map[string]string{"f": "inf"}}, []string{"no number that JSON can hold"}},
		{"no rate", Overrides{Rate: &zero}, []string{"arrivals.rate: arrivals need a rate above 0"}},
		{"impatient", Overrides{Timeout: &short, Think: &Range{time.Second, time.Second}}, []string{"timeout: a session pauses for 1s at least"}},
		{"backwards", Overrides{Think: &Range{time.Second, 0}}, []string{"think: a pause must be between"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := typed.With(tt.o)
			if err == nil || got != nil {
				t.Fatalf("got %v, %v, want an error", got, err)
			}
			for _, want := range append(tt.want, "scenario typed: ") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to say %q", err, want)
				}
			}
		})
	}
	if s, err := typed.With(Overrides{Vars: map[string]string{"n": "7", "f": "2", "b": "false", "s": "1"}}); err != nil {
		t.Error(err)
	} else if diff := cmp.Diff(map[string]any{"n": int64(7), "f": 2.0, "b": false, "s": "1"}, s.Vars); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Whatever is changed in a scenario changes its identity: every field of its JSON is changed in turn.
func TestIdentityCoversEverything(t *testing.T) {
	s, err := Parse("everything.yml", []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{s.Identity(): "nothing"}
	changed := 0
	for _, path := range leaves(reflect.ValueOf(s), "") {
		fresh, err := Parse("everything.yml", []byte(everything))
		if err != nil {
			t.Fatal(err)
		}
		if !change(reflect.ValueOf(fresh), path) {
			t.Fatalf("%s cannot be changed", path)
		}
		id := fresh.Identity()
		if other, taken := seen[id]; taken {
			t.Errorf("changing %s gives the same identity as changing %s", path, other)
		}
		seen[id] = path
		changed++
	}
	if changed < 35 {
		t.Errorf("changed %d fields only: the walk is broken", changed)
	}
}

// leaves returns the paths of all text, numbers and truth values under v.
func leaves(v reflect.Value, path string) []string {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return leaves(v.Elem(), path)
	case reflect.Struct:
		var all []string
		for i := range v.NumField() {
			all = append(all, leaves(v.Field(i), path+"."+v.Type().Field(i).Name)...)
		}
		return all
	case reflect.Slice:
		var all []string
		for i := range v.Len() {
			all = append(all, leaves(v.Index(i), path+"."+string(rune('0'+i)))...)
		}
		return all
	case reflect.Map:
		var all []string
		for _, key := range slices.Sorted(maps.Keys(keys(v))) {
			all = append(all, path+"."+strings.ReplaceAll(key, ".", "\x00"))
		}
		return all
	}
	return []string{path}
}

func keys(m reflect.Value) map[string]bool {
	all := make(map[string]bool)
	for _, k := range m.MapKeys() {
		all[k.String()] = true
	}
	return all
}

func change(v reflect.Value, path string) bool {
	for _, step := range strings.Split(path, ".")[1:] {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		switch v.Kind() {
		case reflect.Struct:
			v = v.FieldByName(step)
		case reflect.Slice:
			v = v.Index(int(step[0] - '0'))
		case reflect.Map:
			v.SetMapIndex(reflect.ValueOf(strings.ReplaceAll(step, "\x00", ".")), reflect.ValueOf("changed").Convert(v.Type().Elem()))
			return true
		}
	}
	switch {
	case v.Kind() == reflect.Interface && v.CanSet():
		v.Set(reflect.ValueOf("changed"))
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "x")
	case v.CanInt():
		v.SetInt(v.Int() + 1)
	case v.CanFloat():
		v.SetFloat(v.Float() + 1)
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		return false
	}
	return true
}

// The identity is written into records that are kept for years: it may not change by accident.
func TestIdentityIsStable(t *testing.T) {
	for name, want := range map[string]string{
		"tasks-reactive":    "sha256:b62602926063e1d2eb27649cf62695227c10a136085ce34d3f4b21c0f59ee25e",
		"tasks-nonreactive": "sha256:35b68c18f3dd74e169d47ee8f4c3781e900c71775c8f8a3139a58c0aec9bf634",
	} {
		if got := builtIn(t, name).Identity(); got != want {
			t.Errorf("%s: got %s, want %s: records made before are no longer comparable", name, got, want)
		}
	}
}

// Of two ways to write the same scenario none matters.
func TestIdentityIsOfMeaning(t *testing.T) {
	a, err := Parse("a.yml", []byte(`{name: s, arrivals: {rate: 4/s, for: 60s}, vars: {a: 20, b: x}, session: [{call: {method: m, params: [1]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Parse("b.yml", []byte("session:\n- call: {params: [1.0], method: m}\nvars: {b: 'x', a: 20.0}\nthink: 0s\ntimeout: 2m\ntransport: sockjs\narrivals:\n  for: 1m\n  rate: 240/min\nname: s\n"))
	if err != nil {
		t.Fatal(err)
	}
	if a.Identity() != b.Identity() {
		t.Error("the same scenario in other words has another identity")
	}
}

func TestAppendValue(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want string
	}{
		{"a", "a"}, {int64(20), "20"}, {3, "3"}, {20.0, "20"}, {0.5, "0.5"}, {true, "true"}, {nil, "null"},
		{json.Number("7"), "7"}, {[]any{int64(1), "a"}, `[1,"a"]`}, {map[string]any{"a": 1.0}, `{"a":1}`},
	} {
		if got := string(AppendValue([]byte("x"), tt.v)); got != "x"+tt.want {
			t.Errorf("AppendValue(%v) = %q, want %q", tt.v, got, "x"+tt.want)
		}
	}
}
