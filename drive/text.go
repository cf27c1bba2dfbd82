package drive

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ddpgate/ddpgate/ddp"
	"github.com/ddpgate/ddpgate/scenario"
)

// A text is JSON with references to slots in it.
type text []piece

type piece struct {
	raw  []byte
	slot int  // -1: raw as it is
	bare bool // of a slot: without the quotes, inside of a string
}

// expand appends the text with the slots' values.
func (t text) expand(dst []byte, slots [][]byte) []byte {
	for _, p := range t {
		switch {
		case p.slot < 0:
			dst = append(dst, p.raw...)
		case p.bare:
			dst = append(dst, unquoted(slots[p.slot])...)
		default:
			dst = append(dst, slots[p.slot]...)
		}
	}
	return dst
}

// unquoted returns what stands within a raw JSON string's quotes; any other value as it is.
func unquoted(raw []byte) []byte {
	if len(raw) >= 2 && raw[0] == '"' {
		return raw[1 : len(raw)-1]
	}
	return raw
}

func (t text) refersTo(slot int) bool {
	return slices.ContainsFunc(t, func(p piece) bool { return p.slot == slot })
}

// text compiles a JSON value whose strings are templates.
func (c *compiler) text(t text, v any) (text, error) {
	var err error
	switch v := v.(type) {
	case string:
		return c.template(t, v)
	case []any:
		t = t.plain("[")
		for i, e := range v {
			if i > 0 {
				t = t.plain(",")
			}
			if t, err = c.text(t, e); err != nil {
				return nil, err
			}
		}
		return t.plain("]"), nil
	case map[string]any:
		return c.object(t, v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return t.plain(string(raw)), nil
}

func (c *compiler) object(t text, v map[string]any) (text, error) {
	t = t.plain("{")
	for i, name := range slices.Sorted(maps.Keys(v)) {
		if i > 0 {
			t = t.plain(",")
		}
		t = t.plain(string(ddp.AppendString(nil, []byte(name))) + ":")
		var err error
		if t, err = c.text(t, v[name]); err != nil {
			return nil, err
		}
	}
	return t.plain("}"), nil
}

// plain appends raw JSON, joined to what stands before it.
func (t text) plain(raw string) text {
	if n := len(t); n > 0 && t[n-1].slot < 0 {
		t[n-1].raw = append(t[n-1].raw, raw...)
		return t
	}
	return append(t, piece{raw: []byte(raw), slot: -1})
}

// template compiles a text with references. One that is a single reference takes the variable's value as it is.
func (c *compiler) template(t text, s string) (text, error) {
	parsed, err := scenario.ParseTemplate(s)
	if err != nil {
		return nil, err
	}
	for _, name := range parsed.Refs() {
		if _, known := c.scope[name]; !known {
			return nil, fmt.Errorf("variable %s is not known", name)
		}
	}
	if name, sole := parsed.Sole(); sole {
		return append(t, piece{slot: c.scope[name]}), nil
	}
	t = t.plain(`"`)
	parsed.Each(func(part string, ref bool) {
		if ref {
			t = append(t, piece{slot: c.scope[part], bare: true})
			return
		}
		t = t.plain(string(unquoted(ddp.AppendString(nil, []byte(part)))))
	})
	return t.plain(`"`), nil
}
