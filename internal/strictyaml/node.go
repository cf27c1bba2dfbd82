package strictyaml

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/internal/nearest"
)

// A Node is a value at its place in a file. Its methods put a fault into the document when the value is not of the kind
// asked for, and return the zero value then. The zero Node is a value that is not there: it has no faults and every method
// returns the zero value.
type Node struct {
	doc *Document
	v   *value
}

// Present reports whether the value is there.
func (n Node) Present() bool { return n.v != nil }

// Fault puts a fault at the node's place into the document.
func (n Node) Fault(format string, args ...any) {
	if n.Present() {
		n.doc.fault(n.v, format, args...)
	}
}

// Faulty reports whether a fault was found at exactly the node's place.
func (n Node) Faulty() bool {
	if !n.Present() {
		return false
	}
	for _, f := range n.doc.faults {
		if f.Line == n.v.line && f.Col == n.v.col {
			return true
		}
	}
	return false
}

// IsScalar reports whether the value is text, a number or a truth value.
func (n Node) IsScalar() bool { return n.Present() && n.v.kind == scalar }

// IsList reports whether the value is a list.
func (n Node) IsList() bool { return n.Present() && n.v.kind == list }

// IsMapping reports whether the value is a mapping.
func (n Node) IsMapping() bool { return n.Present() && n.v.kind == mapping }

// is reports whether the value is there and of the kind, with a fault if it is of another.
func (n Node) is(k kind, want string) bool {
	switch {
	case !n.Present() || n.v.kind == broken:
		return false
	case n.v.kind == k:
		return true
	case n.v.kind == null:
		n.Fault("has no value: %s is needed", want)
	default:
		n.Fault("must be %s", want)
	}
	return false
}

// Text returns a scalar as it is written, without quotes: a number or truth value as its text.
func (n Node) Text() string {
	if !n.is(scalar, "text") {
		return ""
	}
	return n.v.text
}

// Bool returns a truth value.
func (n Node) Bool() bool {
	if !n.is(scalar, "true or false") {
		return false
	}
	b, ok := n.v.scalar.(bool)
	if !ok {
		n.Fault("%q must be true or false", n.v.text)
	}
	return b
}

// Duration returns a duration that is written with its unit, such as 500ms.
func (n Node) Duration() time.Duration { return Scalar(n, ParseDuration) }

// Scalar returns what parse makes of the node's text; its error becomes a fault.
func Scalar[T any](n Node, parse func(text string) (T, error)) T {
	var zero T
	if !n.is(scalar, "a value") {
		return zero
	}
	v, err := parse(n.v.text)
	if err != nil {
		n.Fault("%v", err)
		return zero
	}
	return v
}

// Items returns the values of a list.
func (n Node) Items() []Node {
	if !n.is(list, "a list") {
		return nil
	}
	items := make([]Node, len(n.v.items))
	for i, v := range n.v.items {
		items[i] = Node{n.doc, v}
	}
	return items
}

// An Entry is a key with its value. The key's place is that of Key.
type Entry struct {
	Key   Node
	Name  string
	Value Node
}

// Entries returns what a mapping with free keys holds, in the order of the file.
func (n Node) Entries() []Entry {
	if !n.is(mapping, "a mapping of keys to values") {
		return nil
	}
	entries := make([]Entry, len(n.v.pairs))
	for i, p := range n.v.pairs {
		entries[i] = Entry{Node{n.doc, p.key}, p.key.text, Node{n.doc, p.value}}
	}
	return entries
}

// Fields returns the values of a mapping that has only known keys, by key. Each other key is a fault that names the
// nearest known one, and is read as that one where it is missing: so the faults within are found as well, and nobody is told
// that the key is missing.
func (n Node) Fields(known ...string) map[string]Node {
	fields := make(map[string]Node, len(known))
	meant := make(map[string]Node)
	for _, e := range n.Entries() {
		if slices.Contains(known, e.Name) {
			fields[e.Name] = e.Value
			continue
		}
		e.Key.Fault("%v", nearest.Unknown("key", e.Name, known))
		if word := nearest.Word(e.Name, known); word != "" {
			meant[word] = e.Value
		}
	}
	for word, value := range meant {
		if !fields[word].Present() {
			fields[word] = value
		}
	}
	return fields
}

// Largest is the greatest whole number that every reader of JSON, JavaScript too, keeps exactly.
const Largest = 1<<53 - 1

// Value returns the value as JSON has it: nil, bool, int64, float64, string, []any or map[string]any.
func (n Node) Value() any {
	if !n.Present() {
		return nil
	}
	switch n.v.kind {
	case list:
		items := make([]any, 0, len(n.v.items))
		for _, i := range n.Items() {
			items = append(items, i.Value())
		}
		return items
	case mapping:
		fields := make(map[string]any, len(n.v.pairs))
		for _, e := range n.Entries() {
			fields[e.Name] = e.Value.Value()
		}
		return fields
	case scalar:
		return n.number(n.v.scalar)
	}
	return nil
}

func (n Node) number(v any) any {
	switch v := v.(type) {
	case uint64:
		if v <= Largest {
			return int64(v)
		}
	case int64:
		if -Largest <= v && v <= Largest {
			return v
		}
	case float64:
		if v == 0 {
			return 0.0 // -0 too
		}
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			return v
		}
	default:
		return v
	}
	n.Fault("%s is not a number that JSON can hold", n.v.text)
	return nil
}

// Field returns the value of a mapping's key, the zero Node if there is none.
func (n Node) Field(key string) Node {
	if n.IsMapping() {
		for _, p := range n.v.pairs {
			if p.key.text == key {
				return Node{n.doc, p.value}
			}
		}
	}
	return Node{}
}

// At returns the value at a path such as services[1].name, or the nearest one around it that is there.
func (n Node) At(path string) Node {
	for path != "" {
		end := 1 + strings.IndexAny(path[1:]+".", ".[")
		step := path[:end]
		path = path[end:]
		next := n.Field(strings.TrimPrefix(step, "."))
		if index, isIndex := strings.CutPrefix(step, "["); isIndex {
			next = n.index(strings.TrimSuffix(index, "]"))
		}
		if !next.Present() {
			return n
		}
		n = next
	}
	return n
}

func (n Node) index(text string) Node {
	i, err := strconv.Atoi(text)
	if err != nil || !n.Present() || n.v.kind != list || i < 0 || i >= len(n.v.items) {
		return Node{}
	}
	return Node{n.doc, n.v.items[i]}
}
