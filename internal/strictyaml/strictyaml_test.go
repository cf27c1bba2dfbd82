package strictyaml

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func parse(t *testing.T, text string) *Document {
	t.Helper()
	d, err := Parse("f.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestValue(t *testing.T) {
	d := parse(t, `
text: plain
quoted: "20"
int: 0x1F
neg: -5
float: 1.50
exp: 1e-7
text2: "1e-7"
yes: true
none: ~
date: 2027-03-01
block: |
  two
  lines
list: [1, {a: b}]
empty: {}
base: &base {a: 1, b: 2}
other: &other {b: 3, c: 4}
alias: *base
merged: {<<: *base, b: 9}
several:
  <<: [*base, *other]
  d: 5
`)
	one, two := int64(1), int64(2)
	want := map[string]any{
		"text": "plain", "quoted": "20", "int": int64(31), "neg": int64(-5), "float": 1.5, "exp": 1e-7, "text2": "1e-7", "yes": true, "none": nil,
		"date": "2027-03-01", "block": "two\nlines\n", "list": []any{one, map[string]any{"a": "b"}}, "empty": map[string]any{},
		"base": map[string]any{"a": one, "b": two}, "other": map[string]any{"b": int64(3), "c": int64(4)},
		"alias":   map[string]any{"a": one, "b": two},
		"merged":  map[string]any{"a": one, "b": int64(9)},
		"several": map[string]any{"a": one, "b": two, "c": int64(4), "d": int64(5)},
	}
	if diff := cmp.Diff(want, d.Root.Value()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := d.Err(); err != nil {
		t.Error(err)
	}
}

func TestText(t *testing.T) {
	f := parse(t, "a: 1.50\nb: \"x y\"\nc: true\nd: 3000").Root.Fields("a", "b", "c", "d")
	for name, want := range map[string]string{"a": "1.50", "b": "x y", "c": "true", "d": "3000"} {
		if got := f[name].Text(); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// Each fault stands at its place, and all come at once, in the order of the file.
func TestFaults(t *testing.T) {
	d := parse(t, `
naem: x
think: 5
list: {a: b}
map: [1]
flag: perhaps
text: [a]
gone:
deep:
  - far: {a: 1e999}
zebra: 1
`)
	f := d.Root.Fields("name", "think", "list", "map", "flag", "text", "gone", "deep", "absent")
	if got := f["name"].Text(); got != "x" {
		t.Errorf("got %q: a misspelt key must be read as the nearest", got)
	}
	f["absent"].Fault("nobody sees this")
	if f["absent"].Text() != "" || f["absent"].Bool() || f["absent"].Duration() != 0 || f["absent"].Items() != nil || f["absent"].Value() != nil {
		t.Error("what is absent must read as zero")
	}
	f["think"].Duration()
	f["list"].Items()
	f["map"].Entries()
	f["flag"].Bool()
	f["text"].Text()
	f["gone"].Text()
	f["deep"].Items()[0].Fields("far")["far"].Fields("a")["a"].Fault("too far")
	if !f["think"].Faulty() || f["deep"].Faulty() {
		t.Error("exactly what has a fault is faulty")
	}
	want := strings.TrimSpace(`
f.yml:2:1: unknown key "naem", did you mean "name"?
f.yml:3:8: "5" is not a duration such as 500ms, 60s or 2m
f.yml:4:7: must be a list
f.yml:5:6: must be a mapping of keys to values
f.yml:6:7: "perhaps" must be true or false
f.yml:7:7: must be text
f.yml:8:6: has no value: text is needed
f.yml:10:14: too far
f.yml:11:1: unknown key "zebra", known are: absent, deep, flag, gone, list, map, name, text, think`)
	if diff := cmp.Diff(want, d.Err().Error()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSyntax(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "f.yml:1:1: the file is empty"},
		{"comment", "# a\n", "f.yml:1:1: the file is empty"},
		{"tab", "a:\n\tb: 1\n", "f.yml:2:1: found character"},
		{"open", "a: [\n", "f.yml:1:4: sequence end token ']' not found"},
		{"twice", "a: 1\n'a': 2\n", `f.yml:2:1: mapping key "a" already defined`},
		{"latin", "a: \xe4\n", "f.yml: is not UTF-8 text"},
		{"long", strings.Repeat("a", MaxSize+1), "f.yml: is longer than"},
	} {
		_, err := Parse("f.yml", []byte(tt.text))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestStructure(t *testing.T) {
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		a, b := string(rune('0'+i)), string(rune('1'+i))
		laughs += "a" + b + ": &a" + b + " [" + strings.Repeat("*a"+a+", ", 10) + "]\n"
	}
	for _, tt := range []struct{ name, text, want string }{
		{"two documents", "a: 1\n---\nb: 2\n", "f.yml:3:1: the file holds more than one document"},
		{"no anchor", "a: *b\n", "f.yml:1:4: no anchor &b stands before *b"},
		{"circle", "a: &b [*b]\n", "f.yml:1:8: no anchor &b stands before *b"},
		{"tag", "a: !!int '1'\n", "f.yml:1:4: tags such as !!int are not understood"},
		{"merge text", "a: {<<: b}\n", "f.yml:1:9: only a mapping can be merged"},
		{"merge texts", "a: {<<: [b]}\n", "f.yml:1:10: only a mapping can be merged"},
		{"same key", "a: 1\na: 2", "already defined"},
		{"same key in other words", "1: a\n'1': b\n", "f.yml:2:1"},
		{"deep", strings.Repeat("[", 150) + strings.Repeat("]", 150), "f.yml:1:102: is nested more than 100 deep"},
		{"many", laughs, "aliases make the file hold more than 100000 values"},
		{"larger", "a: 99999999999999999999999", "f.yml:1:4: 99999999999999999999999 is not a number"},
		{"large", "a: 9007199254740993", "f.yml:1:4: 9007199254740993 is not a number that JSON can hold"},
	} {
		d, err := Parse("f.yml", []byte(tt.text))
		if err == nil {
			d.Root.Value()
			err = d.Err()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "500ms": 500 * time.Millisecond, "1h30m": 90 * time.Minute} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "-1s", "1 s", "9999999h", "NaN"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

// FuzzParse holds Parse to never panicking, and values to being what JSON can hold, unchanged on the way there and back.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"a: [1, {b: c}]", "a: &x {p: 1}\nb: {<<: *x}", "? a\n: |\n  b", "- !!str 1\n- ~\n- .nan", "%YAML 1.2\n---\na: 'b'\n..."} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse("f.yml", text)
		if err != nil {
			return
		}
		v := d.Root.Value()
		if d.Err() != nil {
			return
		}
		once, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%v is no JSON: %v", v, err)
		}
		again, err := Parse("f.json", once)
		if err != nil {
			return // not all JSON is YAML that this parser reads
		}
		twice, err := json.Marshal(again.Root.Value())
		if again.Err() != nil {
			return // 1e20 is written with all its digits, which is one too many for a whole number
		}
		if err != nil {
			t.Fatal(err)
		}
		if string(once) != string(twice) {
			t.Fatalf("%s became %s", once, twice)
		}
	})
}

type form struct {
	Text   string            `yaml:"text"`
	Whole  int               `yaml:"whole,omitempty"`
	Ratio  float64           `yaml:"ratio"`
	On     bool              `yaml:"on"`
	For    time.Duration     `yaml:"for"`
	Words  []string          `yaml:"words"`
	Map    map[string]string `yaml:"map"`
	Inner  *form             `yaml:"inner"`
	Either either            `yaml:"either"`
	Hex    hexadecimal       `yaml:"hex"`
	Hidden string            `yaml:"-"`
	Free   string
}

// either is a text or a list of them.
type either struct {
	Text string
	List []string
}

func (e *either) UnmarshalYAML(decode func(any) error) error {
	if decode(&e.Text) == nil {
		return nil
	}
	return decode(&e.List)
}

type hexadecimal int

func (h *hexadecimal) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 16, 64)
	*h = hexadecimal(n)
	return err
}

func TestDecode(t *testing.T) {
	got := form{Text: "kept", Ratio: 2, Words: []string{"replaced"}, Map: map[string]string{"a": "kept", "b": "replaced"}}
	d := parse(t, `
whole: 3
on: true
for: 1m30s
words: [a, 2, true]
map: {b: 2}
inner: {ratio: 1, either: [a, b]}
either: a
hex: 10
`)
	d.Root.Decode(&got)
	if err := d.Err(); err != nil {
		t.Fatal(err)
	}
	want := form{
		Text: "kept", Whole: 3, Ratio: 2, On: true, For: 90 * time.Second, Words: []string{"a", "2", "true"},
		Map: map[string]string{"a": "kept", "b": "2"}, Inner: &form{Ratio: 1, Either: either{List: []string{"a", "b"}}},
		Either: either{Text: "a"}, Hex: 16,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDecodeFaults(t *testing.T) {
	got := form{Text: "kept", Whole: 7, Ratio: 2, For: time.Second}
	want := got
	want.Inner, want.Map = &form{}, map[string]string{}
	d := parse(t, `
text: [a]
whole: 1.5
ratio: much
on: 1
for: 5
words: a
map: {a: [b]}
inner: {whole: 99999999999999999999, txt: {}}
either: {a: b}
hex: zz
hidden: x
free: x
`)
	d.Root.Decode(&got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is at fault stays as it was: -want +got:\n%s", diff)
	}
	const faults = `f.yml:2:7: must be text
f.yml:3:8: "1.5" must be a whole number
f.yml:4:8: "much" must be a number
f.yml:5:5: "1" must be true or false
f.yml:6:6: "5" is not a duration such as 500ms, 60s or 2m
f.yml:7:8: must be a list
f.yml:8:10: must be text
f.yml:9:16: "99999999999999999999" must be a whole number
f.yml:9:38: unknown key "txt", did you mean "text"?
f.yml:9:43: must be text
f.yml:10:9: must be a list
f.yml:11:6: strconv.ParseInt: parsing "zz": invalid syntax
f.yml:12:1: unknown key "hidden", known are: either, for, hex, inner, map, on, ratio, text, whole, words
f.yml:13:1: unknown key "free", known are: either, for, hex, inner, map, on, ratio, text, whole, words`
	if diff := cmp.Diff(faults, d.Err().Error()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAt(t *testing.T) {
	root := parse(t, "a:\n  b: [x, {c: y}]\n").Root
	for path, want := range map[string]string{
		"a.b[1].c": "f.yml:2:14", "a.b[1].d": "f.yml:2:10", "a.b[2].c": "f.yml:2:6", "a.x": "f.yml:2:3", "z": "f.yml:1:1", "": "f.yml:1:1",
		"a.b[0].c": "f.yml:2:7", "a[0]": "f.yml:2:3",
	} {
		n := root.At(path)
		n.doc.faults = nil
		n.Fault("here")
		if got := n.doc.Err().Error(); got != want+": here" {
			t.Errorf("%q: got %s, want %s", path, got, want)
		}
	}
	if (Node{}).At("a[0].b").Present() {
		t.Error("nothing has no parts")
	}
}
