// Package strictyaml reads the YAML files that people write by hand, and tells them all that is wrong with one at once:
// each fault with its file, line and column, an unknown key with the nearest known one.
package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
)

// MaxSize is how long a file may be, in bytes.
const MaxSize = 1 << 20

// A Fault is one thing that is wrong at one place of a file.
type Fault struct {
	File      string
	Line, Col int // from 1
	Message   string
}

// Error says where the fault is and what it is: file:line:col: message.
func (f *Fault) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Col, f.Message)
}

// A Document is one file while it is read. It collects the faults that its readers find. It may not be used by several
// goroutines.
type Document struct {
	Root   Node
	file   string
	faults []*Fault
	left   int // how many more values aliases may multiply the file to
	anchor map[string]*value
}

// Parse reads a file of one YAML document. The error tells what is wrong with its syntax; what else is wrong is among the
// document's faults, Err, when its reader has gone through it.
func Parse(file string, text []byte) (*Document, error) {
	d := &Document{file: file, left: maxValues, anchor: make(map[string]*value)}
	if len(text) > MaxSize {
		return nil, fmt.Errorf("%s: is longer than %d bytes", file, MaxSize)
	}
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%s: is not UTF-8 text", file)
	}
	tree, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, syntax(file, err)
	}
	var root *value
	for _, doc := range tree.Docs {
		v := d.document(doc.Body)
		if v != nil && root != nil {
			d.fault(v, "the file holds more than one document")
		}
		if root == nil {
			root = v
		}
	}
	if root == nil {
		return nil, &Fault{file, 1, 1, "the file is empty"}
	}
	d.Root = Node{d, root}
	return d, nil
}

func syntax(file string, err error) error {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	p := e.GetToken().Position
	return &Fault{file, p.Line, p.Column, e.GetMessage()}
}

func (d *Document) fault(v *value, format string, args ...any) {
	d.faults = append(d.faults, &Fault{d.file, v.line, v.col, fmt.Sprintf(format, args...)})
}

// Err returns all faults found until now, in the order of their places, as one error; nil if there are none.
func (d *Document) Err() error {
	slices.SortStableFunc(d.faults, func(a, b *Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	d.faults = slices.CompactFunc(d.faults, func(a, b *Fault) bool { return *a == *b })
	errs := make([]error, len(d.faults))
	for i, f := range d.faults {
		errs[i] = f
	}
	return errors.Join(errs...)
}
