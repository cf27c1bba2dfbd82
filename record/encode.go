package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// Encode returns the record as it stands in a file: compact JSON, in which its id is what IDOf gives. The record
// itself is left as it was. It fails where Check does, so that nothing is written that could not be read.
func Encode(r *Record) ([]byte, error) {
	b, _, err := encode(r)
	return b, err
}

func encode(r *Record) (b []byte, id string, err error) {
	c := whole(r)
	if err := Check(c); err != nil {
		return nil, "", fmt.Errorf("encode record: %w", err)
	}
	c.ID = "sha256:" + strings.Repeat("0", 2*sha256.Size) // holds the place: the id is not in what it is made of
	if b, err = json.Marshal(c); err != nil {
		return nil, "", fmt.Errorf("encode record: %w", err)
	}
	if id, err = IDOf(b); err != nil {
		return nil, "", fmt.Errorf("encode record: %w", err)
	}
	return append(bytes.Replace(b, []byte(c.ID), []byte(id), 1), '\n'), id, nil
}

// whole returns a copy with its format, without id, and with empty lists and maps where a file must have one and the
// record has none.
func whole(r *Record) *Record {
	c := *r
	c.Format, c.ID = Format, ""
	if c.Command == nil {
		c.Command = []string{}
	}
	if c.Apps == nil {
		c.Apps = map[string]App{}
	}
	c.Scenarios = append([]Scenario{}, r.Scenarios...)
	for i := range c.Scenarios {
		s := &c.Scenarios[i]
		s.Runs = append([]Run{}, s.Runs...)
		for j := range s.Runs {
			run := &s.Runs[j]
			if run.Metrics == nil {
				run.Metrics = map[string]float64{}
			}
			run.Series = maps.Clone(run.Series)
			maps.DeleteFunc(run.Series, func(_ string, points []float64) bool { return points == nil })
		}
	}
	return &c
}

// IDOf returns the id of an encoded record: "sha256:" and the hexadecimal SHA-256 of its JSON without white space and without
// the id, its top-level members sorted by name. It rests on every field of the file, those included that this build does
// not know.
func IDOf(encoded []byte) (string, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &members); err != nil {
		return "", err
	}
	return idOf(members)
}

func idOf(members map[string]json.RawMessage) (string, error) {
	rest := make(map[string]json.RawMessage, len(members))
	for name, value := range members {
		if name != "id" {
			rest[name] = value
		}
	}
	canonical, err := json.Marshal(rest)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
