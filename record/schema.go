package record

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed record.schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of the file. The caller owns the copy.
func Schema() []byte { return bytes.Clone(schema) }

// validate holds an encoded record, which must be JSON, against the schema. Series are left to the decoder that knows their
// type: they are most of a record, and one by one their numbers would take a second.
func validate(encoded []byte) error {
	compiled, err := compiledSchema()
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(withoutSeries(encoded)))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	verr := new(jsonschema.ValidationError)
	if err := compiled.Validate(doc); errors.As(err, &verr) {
		var f faults
		f.schema(verr, message.NewPrinter(language.English))
		return fmt.Errorf("%w: %w", ErrInvalid, f.err())
	} else if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// compiledSchema is made at its first use: it never changes, and to make it takes five times as long as to read a small record.
var compiledSchema = sync.OnceValues(compile)

func compile() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("record schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	const where = "record.schema.json"
	if err := c.AddResource(where, doc); err != nil {
		return nil, fmt.Errorf("record schema: %w", err)
	}
	compiled, err := c.Compile(where)
	if err != nil {
		return nil, fmt.Errorf("record schema: %w", err)
	}
	return compiled, nil
}

// schema adds the faults at the ends of the tree, each with the place in the file.
func (f *faults) schema(e *jsonschema.ValidationError, p *message.Printer) {
	for _, cause := range e.Causes {
		f.schema(cause, p)
	}
	if len(e.Causes) == 0 {
		f.add("at /%s: %s", strings.Join(e.InstanceLocation, "/"), e.ErrorKind.LocalizedString(p))
	}
}

// withoutSeries returns the JSON with each object that is named series emptied.
func withoutSeries(b []byte) []byte {
	var out []byte
	kept := 0 // b[:kept] is in out
	for i := 0; i < len(b); {
		if b[i] != '"' {
			i++
			continue
		}
		end := stringEnd(b, i)
		name := string(b[i:end]) == `"series"`
		i = end
		if !name {
			continue
		}
		rest := bytes.TrimLeft(b[i:], " \t\r\n:")
		if len(rest) > 0 && rest[0] == '{' {
			open := len(b) - len(rest) + 1
			out = append(out, b[kept:open]...)
			kept = objectEnd(b, open) - 1
			i = kept
		}
	}
	return append(out, b[kept:]...)
}

// stringEnd returns the index after the string that starts at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(b))
}

// objectEnd returns the index after the object in which i stands.
func objectEnd(b []byte, i int) int {
	for depth := 1; i < len(b); {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
			continue
		case '{':
			depth++
		case '}':
			depth--
		}
		if i++; depth == 0 {
			break
		}
	}
	return i
}
