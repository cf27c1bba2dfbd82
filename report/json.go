package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"

	"github.com/ddpgate/ddpgate/gate"
)

//go:embed verdict.schema.json
var verdictSchema []byte

// VerdictSchema returns the JSON Schema (draft 2020-12) of what JSON writes. The caller owns the copy.
func VerdictSchema() []byte { return bytes.Clone(verdictSchema) }

// ErrUnjudged says that a report needs a verdict where there is none.
var ErrUnjudged = errors.New("nothing was judged")

// JSON writes the verdict as one object, the one that compare --json prints. Without a verdict it fails with ErrUnjudged.
func JSON(w io.Writer, c Comparison) error {
	if c.Verdict == nil {
		return ErrUnjudged
	}
	v := *c.Verdict
	if v.Metrics == nil {
		v.Metrics = []gate.Finding{}
	}
	if v.Environment.Match == "" {
		v.Environment.Match = gate.Unknown
	}
	if v.Environment.Differs == nil {
		v.Environment.Differs = []string{}
	}
	return indented(w, v)
}

// indented writes a value as JSON that is inert wherever it is shown: what HTML or a terminal would obey is escaped.
func indented(w io.Writer, value any) error {
	encoded, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", inert(encoded))
	return err
}

// inert escapes the characters of JSON that do not print. They can only stand in strings, line ends apart.
func inert(encoded []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(encoded) {
		switch high, low := utf16.EncodeRune(r); {
		case r == '\n' || unicode.IsPrint(r):
			out.WriteRune(r)
		case high != unicode.ReplacementChar:
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}
