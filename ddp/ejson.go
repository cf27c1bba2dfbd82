package ddp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// A Custom is a value of a type that EJSON does not know by itself: the name and the raw JSON that the type made of it. It
// is kept as it came.
type Custom struct {
	Type  string
	Value json.RawMessage
}

// UnmarshalEJSON reads an EJSON value: nil, bool, string, float64 (infinite and NaN too), time.Time in UTC, []byte, Custom,
// []any or map[string]any. An object that only looks like one of EJSON's own ($date with a text, say) stays a map.
func UnmarshalEJSON(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("ejson: %w", err)
	}
	if d.InputOffset() != int64(len(bytes.TrimRight(b, " \n\t\r"))) {
		return nil, fmt.Errorf("ejson: more than one value")
	}
	return fromJSON(v)
}

func fromJSON(v any) (any, error) {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return nil, fmt.Errorf("ejson: number %s: %w", v, err)
		}
		return f, nil
	case []any:
		for i := range v {
			var err error
			if v[i], err = fromJSON(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if special, ok, err := fromSpecial(v); ok || err != nil {
			return special, err
		}
		return v, eachMember(v)
	}
	return v, nil
}

func eachMember(m map[string]any) error {
	for k := range m {
		var err error
		if m[k], err = fromJSON(m[k]); err != nil {
			return err
		}
	}
	return nil
}

// fromSpecial reads the objects by which EJSON says what JSON cannot; ok is false for any other.
func fromSpecial(m map[string]any) (v any, ok bool, err error) {
	switch {
	case len(m) == 1 && m["$date"] != nil:
		n, isNumber := m["$date"].(json.Number)
		if !isNumber {
			return nil, false, nil
		}
		ms, err := n.Float64()
		if err != nil || math.Abs(ms) > 8.64e15 {
			return nil, false, fmt.Errorf("ejson: date %s is out of range", n)
		}
		return time.UnixMilli(int64(ms)).UTC(), true, nil
	case len(m) == 1 && m["$binary"] != nil:
		s, isText := m["$binary"].(string)
		if !isText {
			return nil, false, nil
		}
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return nil, false, fmt.Errorf("ejson: binary: %w", err)
		}
		return b, true, nil
	case len(m) == 1 && m["$InfNaN"] != nil:
		return infNaN(m["$InfNaN"])
	case len(m) == 1 && m["$escape"] != nil:
		inner, isObject := m["$escape"].(map[string]any)
		if !isObject {
			return nil, false, nil
		}
		return inner, true, eachMember(inner)
	case len(m) == 2 && m["$type"] != nil:
		return fromCustom(m)
	}
	return nil, false, nil
}

func infNaN(v any) (any, bool, error) {
	n, isNumber := v.(json.Number)
	if !isNumber {
		return nil, false, nil
	}
	switch n.String() {
	case "1":
		return math.Inf(1), true, nil
	case "-1":
		return math.Inf(-1), true, nil
	case "0":
		return math.NaN(), true, nil
	}
	return nil, false, nil
}

func fromCustom(m map[string]any) (any, bool, error) {
	name, isText := m["$type"].(string)
	value, has := m["$value"]
	if !isText || !has {
		return nil, false, nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, false, fmt.Errorf("ejson: type %s: %w", name, err)
	}
	return Custom{name, raw}, true, nil
}

// MarshalEJSON writes what UnmarshalEJSON reads, and Go's integers.
func MarshalEJSON(v any) ([]byte, error) {
	plain, err := toJSON(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(plain); err != nil {
		return nil, fmt.Errorf("ejson: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

func toJSON(v any) (any, error) {
	switch v := v.(type) {
	case time.Time:
		return map[string]any{"$date": v.UnixMilli()}, nil
	case []byte:
		return map[string]any{"$binary": base64.StdEncoding.EncodeToString(v)}, nil
	case float64:
		return fromFloat(v), nil
	case Custom:
		return map[string]any{"$type": v.Type, "$value": v.Value}, nil
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = toJSON(v[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		return fromMap(v)
	case nil, bool, string, int, int64, uint64, json.RawMessage, json.Number:
		return v, nil
	}
	return nil, fmt.Errorf("ejson: a %T cannot be written", v)
}

func fromFloat(f float64) any {
	switch {
	case math.IsNaN(f):
		return map[string]any{"$InfNaN": 0}
	case math.IsInf(f, 0):
		return map[string]any{"$InfNaN": int(math.Copysign(1, f))}
	}
	return f
}

// fromMap escapes an object that a reader would take for one of EJSON's own.
func fromMap(m map[string]any) (any, error) {
	out := make(map[string]any, len(m))
	for k, member := range m {
		var err error
		if out[k], err = toJSON(member); err != nil {
			return nil, err
		}
	}
	for _, k := range []string{"$date", "$binary", "$InfNaN", "$escape"} {
		if _, has := m[k]; has && len(m) == 1 {
			return map[string]any{"$escape": out}, nil
		}
	}
	if _, has := m["$type"]; has && len(m) == 2 {
		return map[string]any{"$escape": out}, nil
	}
	return out, nil
}
