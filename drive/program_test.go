package drive

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ddpgate/ddpgate/scenario"
)

// listing writes a program as lines.
func listing(p *program) string {
	var b strings.Builder
	for i, o := range p.ops {
		fmt.Fprintf(&b, "%d ", i)
		switch o.kind {
		case opSubscribe, opUnsubscribe, opCall, opLogin, opAwait, opPause:
			fmt.Fprintf(&b, "%s", o.what)
		case opLoop:
			fmt.Fprintf(&b, "loop times %d list %d slot %d to %d", o.times, o.list, o.slot, o.to)
		case opOnly:
			fmt.Fprintf(&b, "only %s to %d", o.only, o.to)
		case opNext:
			fmt.Fprintf(&b, "next to %d", o.to)
		}
		if o.params != nil {
			fmt.Fprintf(&b, " %s", source(o.params))
		}
		if o.doc != nil {
			for _, f := range o.doc.fields {
				fmt.Fprintf(&b, " %s=%s", f.name, source(f.value))
			}
			for _, a := range o.doc.append {
				fmt.Fprintf(&b, " %s>%d", a.field, a.list)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// source writes a text with its slots as <n>, bare ones as (n).
func source(t text) string {
	var b strings.Builder
	for _, p := range t {
		switch {
		case p.slot < 0:
			b.Write(p.raw)
		case p.bare:
			fmt.Fprintf(&b, "(%d)", p.slot)
		default:
			fmt.Fprintf(&b, "<%d>", p.slot)
		}
	}
	return b.String()
}

func TestCompile(t *testing.T) {
	for _, tt := range []struct {
		name, session string
		want          string
		collections   map[string]extent
	}{
		{"steps", `
  - subscribe: {name: p, params: [1, x, {b: 2, a: null}]}
  - unsubscribe: {name: p}
  - pause: 1s
  - login: {token: {env: T}}
  - call: {method: m}
`, `0 step 1 (subscribe to p) [1,"x",{"a":null,"b":2}]
1 step 2 (unsubscribe from p)
2 step 3 (pause)
3 step 4 (login)
4 step 5 (call m)
`, map[string]extent{}},
		{"variables", `
  - call: {method: m, params: ["${session}", "${load}", "${b}", "a${a} \"${b}\""]}
`, `0 step 1 (call m) [<0>,<1>,<3>,"a(2) \"(3)\""]
`, map[string]extent{}},
		{"loops", `
  - repeat: 2
    steps:
      - await: {collection: c, match: {x: "${i}"}, append: {ids: _id, names: name}}
      - each: {id: ids}
        steps:
          - call: {method: m, params: ["${i}", "${id}"]}
  - call: {method: n}
`, `0 loop times 2 list 0 slot 4 to 6
1 step 2 (await c) x=<4> _id>0 name>1
2 loop times -1 list 0 slot 5 to 5
3 step 4 (call m) [<4>,<5>]
4 next to 2
5 next to 0
6 step 5 (call n)
`, map[string]extent{"c": allDocs}},
		{"a loop in a loop counts for itself", `
  - repeat: 2
    steps:
      - repeat: 3
        steps:
          - call: {method: m, params: ["${i}"]}
      - call: {method: m, params: ["${i}"]}
`, `0 loop times 2 list 0 slot 4 to 6
1 loop times 3 list 0 slot 5 to 4
2 step 3 (call m) [<5>]
3 next to 1
4 step 4 (call m) [<4>]
5 next to 0
`, map[string]extent{}},
		{"only", `
  - only: first
    steps:
      - call: {method: m}
      - only: first
        steps:
          - call: {method: n}
  - only: others
    steps:
      - pause: {until: arrived}
`, `0 only first to 4
1 step 2 (call m)
2 only first to 4
3 step 4 (call n)
4 only others to 6
5 step 6 (pause)
`, map[string]extent{}},
		{"own documents", `
  - await: {collection: c, match: {x: "by ${session}"}, append: {ids: _id}}
  - each: {id: ids}
    steps:
      - await: {collection: c, id: "${id}", gone: true}
  - await: {collection: d, match: {x: "${session}", y: "${load}"}}
`, `0 step 1 (await c) x="by (0)" _id>0
1 loop times -1 list 0 slot 4 to 4
2 step 3 (await c) _id=<4>
3 next to 1
4 step 4 (await d) x=<0> y=<1>
`, map[string]extent{"c": ownDocs, "d": ownDocs}},
		{"others' documents", `
  - await: {collection: c, match: {x: "${session}"}}
  - await: {collection: c, match: {x: "${load}"}}
  - await: {collection: d, match: {x: "${load}"}}
  - await: {collection: d, match: {x: 1}}
  - await: {collection: d, match: {x: "${session}"}}
`, `0 step 1 (await c) x=<0>
1 step 2 (await c) x=<1>
2 step 3 (await d) x=<1>
3 step 4 (await d) x=1
4 step 5 (await d) x=<0>
`, map[string]extent{"c": loadDocs, "d": allDocs}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := parsed(t, tt.session, "vars: {a: 1, b: x}")
			p, err := compile(&sc)
			if err != nil {
				t.Fatal(err)
			}
			if got := listing(p); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
			if !reflect.DeepEqual(p.collections, tt.collections) {
				t.Errorf("looks into %v, want %v", p.collections, tt.collections)
			}
		})
	}
}

// A scenario that did not come from Parse may be unsound: that is said before anything starts.
func TestCompileRefuses(t *testing.T) {
	call := func(v any) []scenario.Step {
		return []scenario.Step{{Call: &scenario.Call{Method: "m", Params: []any{v}}}}
	}
	for _, tt := range []struct {
		steps []scenario.Step
		want  string
	}{
		{call("${nobody}"), "step 1: variable nobody is not known"},
		{call("${open"), "step 1: "},
		{call(map[string]any{"a": []any{"${nobody}"}}), "step 1: variable nobody is not known"},
		{call(make(chan int)), "step 1: "},
		{[]scenario.Step{{}}, "step 1: does nothing"},
		{[]scenario.Step{{Repeat: &scenario.Repeat{Times: "0", Steps: call(1)}}}, "step 1: repeats"},
		{[]scenario.Step{{Only: &scenario.Only{Sessions: scenario.First, Steps: call("${nobody}")}}}, "step 2: variable nobody is not known"},
	} {
		_, err := Run(t.Context(), scenario.Scenario{Name: "s", Session: tt.steps}, Options{URL: "http://127.0.0.1:1"})
		if err == nil || !strings.HasPrefix(err.Error(), "scenario s: "+tt.want[:7]) || !strings.Contains(err.Error(), tt.want[8:]) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
	sc := parsed(t, "  - pause: 1s\n")
	if _, err := Run(t.Context(), sc, Options{URL: "ftp://app.test"}); err == nil {
		t.Error("an address is taken that is none")
	}
}

// A text expands to valid JSON whatever its variables hold.
func TestExpand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.String().Draw(t, "value")
		number := rapid.Int64Range(-1<<50, 1<<50).Draw(t, "number")
		c := compiler{scope: map[string]int{"a": 0, "b": 1}}
		compiled, err := c.text(nil, []any{"${a}", "<${a}|${b}>", "${b}", map[string]any{value + "k": "${a}"}})
		if err != nil {
			t.Fatal(err)
		}
		quoted, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		raw := compiled.expand([]byte("kept"), [][]byte{quoted, fmt.Append(nil, number)})
		var got []any
		if err := json.Unmarshal(raw[4:], &got); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		want := []any{value, fmt.Sprintf("<%s|%d>", value, number), float64(number), map[string]any{value + "k": value}}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestSameJSON(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`"a"`, `"a"`, true}, {`"a"`, `"b"`, false}, {`"\u0061"`, `"a"`, true}, {`"a\\"`, `"a\u005c"`, true}, {`"a"`, `a`, false},
		{`1`, `1`, true}, {`1`, `1.0`, true}, {`1e2`, `100`, true}, {`1`, `2`, false}, {`1`, `"1"`, false}, {`-0`, `0`, true},
		{`true`, `true`, true}, {`true`, `false`, false}, {`true`, `1`, false}, {`null`, `null`, true}, {`null`, `0`, false}, {`null`, `false`, false},
		{`{"a":1,"b":[2]}`, `{ "b": [2.0], "a": 1 }`, true}, {`{"a":1}`, `{"a":1,"b":null}`, false}, {`[1,2]`, `[2,1]`, false}, {`[]`, `{}`, false},
		{``, ``, false}, {`1`, ``, false}, {`{`, `{}`, false}, {`NaN`, `NaN`, true}, {`NaN`, `nan`, false}, {`Inf`, `infinity`, false},
	} {
		if got := sameJSON([]byte(tt.a), []byte(tt.b)); got != tt.want {
			t.Errorf("%s and %s: got %v, want %v", tt.a, tt.b, got, tt.want)
		}
		if got := sameJSON([]byte(tt.b), []byte(tt.a)); got != tt.want {
			t.Errorf("%s and %s: got %v, want %v", tt.b, tt.a, got, tt.want)
		}
	}
}

// sameJSON agrees with encoding/json on whatever is JSON.
func FuzzSameJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,"b\u0061",null]}`), []byte(`{ "a": [1.0, "ba", null] }`))
	f.Add([]byte(`1`), []byte(`1e0`))
	f.Add([]byte(`"\ud800"`), []byte(`"\ufffd"`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var x, y any
		if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil || strings.TrimSpace(string(a)) != string(a) || strings.TrimSpace(string(b)) != string(b) {
			return
		}
		if strings.ToValidUTF8(string(a)+string(b), "") != string(a)+string(b) {
			return // what is no text is compared as it is
		}
		if got, want := sameJSON(a, b), reflect.DeepEqual(x, y); got != want {
			t.Errorf("%s and %s: got %v, want %v", a, b, got, want)
		}
	})
}
