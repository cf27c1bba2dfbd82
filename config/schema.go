package config

import (
	"bytes"
	_ "embed"
)

//go:embed config.schema.json
var schema []byte

// Schema returns the JSON Schema (draft 7, which editors understand) of the file. The caller owns the copy. What it refuses,
// Parse refuses too, and not the other way round.
func Schema() []byte { return bytes.Clone(schema) }
