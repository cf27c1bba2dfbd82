package strictyaml

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

const (
	maxValues = 100_000 // what a file may hold with its aliases expanded
	maxDepth  = 100
)

type kind int

const (
	null kind = iota
	scalar
	list
	mapping
	broken // of whatever kind: its fault is found already
)

// A value is a YAML value with aliases and merge keys resolved.
type value struct {
	kind      kind
	line, col int
	text      string // of a scalar, as written, without quotes
	scalar    any    // string, bool, int64, uint64 or float64
	items     []*value
	pairs     []pair
	size      int // values in it, itself included
}

type pair struct {
	key   *value // its text is the key
	value *value
}

func at(t *token.Token) value {
	if t == nil || t.Position == nil {
		return value{line: 1, col: 1, size: 1}
	}
	return value{line: t.Position.Line, col: t.Position.Column, size: 1}
}

// document returns a document's value; nil if it has none.
func (d *Document) document(body ast.Node) *value {
	switch body.(type) {
	case nil, *ast.DirectiveNode, *ast.CommentGroupNode:
		return nil
	}
	return d.value(body, 0)
}

func (d *Document) value(n ast.Node, depth int) *value {
	if n == nil {
		v := value{line: 1, col: 1, size: 1}
		return &v
	}
	v := at(n.GetToken())
	if depth > maxDepth {
		d.fault(&v, "is nested more than %d deep", maxDepth)
		v.kind = broken
		return &v
	}
	switch n := n.(type) {
	case *ast.AnchorNode:
		a := d.value(n.Value, depth+1)
		d.anchor[n.Name.GetToken().Value] = a
		return a
	case *ast.AliasNode:
		return d.alias(&v, n.Value.GetToken().Value)
	case *ast.MappingNode:
		d.mapping(&v, n.Values, depth)
	case *ast.MappingValueNode:
		d.mapping(&v, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		v.kind = list
		for _, item := range n.Values {
			i := d.value(item, depth+1)
			v.items = append(v.items, i)
			v.size += i.size
		}
	case ast.ScalarNode:
		d.scalar(&v, n)
	default:
		d.fault(&v, "%s is not understood here", n.GetToken().Value)
		v.kind = broken
	}
	return &v
}

// alias returns the value of an anchor that stands before it.
func (d *Document) alias(v *value, name string) *value {
	v.kind = broken
	a, found := d.anchor[name]
	if !found {
		d.fault(v, "no anchor &%s stands before *%s", name, name)
		return v
	}
	if d.left -= a.size; d.left < 0 {
		d.fault(v, "aliases make the file hold more than %d values", maxValues)
		return v
	}
	return a
}

func (d *Document) scalar(v *value, n ast.ScalarNode) {
	v.kind, v.text, v.scalar = scalar, n.GetToken().Value, n.GetValue()
	switch n := n.(type) {
	case *ast.NullNode:
		v.kind = null
	case *ast.TagNode:
		d.fault(v, "tags such as %s are not understood; put text in quotes", v.text)
	case *ast.StringNode:
		v.text = n.Value
		if n.Token.Type == token.StringType && number.MatchString(n.Value) {
			v.scalar = float(n.Value)
		}
	case *ast.LiteralNode:
		v.text = n.Value.Value
		v.scalar = v.text
	}
}

// number is how YAML 1.2 writes numbers. The parser takes those without a point for text, 1e3, and those too large for it.
var number = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// float returns infinity for what no float can hold exactly: a whole number with too many digits.
func float(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !strings.ContainsAny(text, ".eE") {
		return math.Inf(1)
	}
	return f
}

func (d *Document) mapping(v *value, entries []*ast.MappingValueNode, depth int) {
	v.kind = mapping
	if len(entries) > 0 {
		// The place of a mapping in block style is that of its first key, not of the colon behind it.
		if first := at(entries[0].Key.GetToken()); first.line < v.line || first.line == v.line && first.col < v.col {
			v.line, v.col = first.line, first.col
		}
	}
	var merged []pair
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		item := d.value(e.Value, depth+1)
		v.size += item.size
		if e.Key.IsMergeKey() {
			merged = append(merged, d.merge(item)...)
			continue
		}
		key, ok := d.key(e.Key)
		if !ok {
			continue
		}
		if seen[key.text] {
			d.fault(key, "key %q stands twice", key.text)
			continue
		}
		seen[key.text] = true
		v.pairs = append(v.pairs, pair{key, item})
	}
	for _, p := range merged {
		if !seen[p.key.text] {
			seen[p.key.text] = true
			v.pairs = append(v.pairs, p)
		}
	}
}

func (d *Document) key(n ast.MapKeyNode) (*value, bool) {
	var inner ast.Node = n
	if k, explicit := n.(*ast.MappingKeyNode); explicit {
		inner = k.Value
	}
	k := at(n.GetToken())
	switch inner := inner.(type) {
	case *ast.StringNode:
		k.text = inner.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		k.text = inner.GetToken().Value
	default:
		d.fault(&k, "a key must be plain text")
		return nil, false
	}
	return &k, true
}

// merge returns the pairs that the value of a merge key, <<, stands for: those of one mapping, or of several, the first
// one first.
func (d *Document) merge(v *value) []pair {
	switch v.kind {
	case mapping:
		return v.pairs
	case list:
		var pairs []pair
		for _, item := range v.items {
			if item.kind != mapping {
				d.fault(item, "only a mapping can be merged")
				continue
			}
			pairs = append(pairs, item.pairs...)
		}
		return pairs
	}
	if v.kind != broken {
		d.fault(v, "only a mapping can be merged")
	}
	return nil
}
