package drive

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"time"

	"github.com/ddpgate/ddpgate/ddp"
)

// A mirror is a session's own copy of the collections that its steps look into, no more of them than they ask for.
type mirror map[string]*collection

type collection struct {
	name   string
	extent extent
	docs   map[string]*entry
}

// An entry is one document. One that is gone is kept until a step has looked at it.
type entry struct {
	fields  map[string][]byte // raw values
	at      time.Time         // when it last changed
	made    time.Time         // when what made it was asked for
	asked   time.Time         // when what last changed it was asked for
	gone    bool
	own     bool // carries the session's name
	foreign bool // carries another session's
	seen    bool // by a step, as it is now
	logged  bool // for the audit
}

func newMirror(collections map[string]extent) mirror {
	if len(collections) == 0 {
		return nil
	}
	m := make(mirror, len(collections))
	for name, extent := range collections {
		m[name] = &collection{name: name, extent: extent}
	}
	return m
}

// added notes a new document; again is true when it was there already. The caller has seen to it that it is to be kept.
func (c *collection) added(m *ddp.Message) (e *entry, again bool) {
	if old := c.docs[string(m.ID)]; old != nil && !old.gone {
		return old, true
	}
	e = &entry{fields: make(map[string][]byte), at: m.At}
	e.set(m.Fields)
	e.fields["_id"] = ddp.AppendString(nil, m.ID)
	if c.docs == nil {
		c.docs = make(map[string]*entry)
	}
	c.docs[string(m.ID)] = e
	return e, false
}

// set notes fields. What is no object notes nothing: the message was read as far as its top level only.
func (e *entry) set(fields []byte) {
	_ = ddp.Members(fields, func(key, value []byte) bool {
		e.fields[string(key)] = bytes.Clone(value)
		return true
	})
}

// changed notes new and cleared fields of a document that is kept.
func (c *collection) changed(m *ddp.Message) *entry {
	e := c.docs[string(m.ID)]
	if e == nil || e.gone {
		return nil
	}
	e.at, e.seen = m.At, false
	e.set(m.Fields)
	_ = ddp.Elements(m.List, func(v []byte) bool {
		delete(e.fields, string(ddp.Text(v)))
		return true
	})
	return e
}

// removed notes that a document is gone, if it was kept.
func (c *collection) removed(m *ddp.Message) *entry {
	e := c.docs[string(m.ID)]
	if e == nil || e.gone {
		return nil
	}
	e.gone, e.at, e.seen = true, m.At, false
	return e
}

// find returns the entry that holds all the wanted fields, and is there; nil if none is.
func (c *collection) find(want []wanted) *entry {
	for _, e := range c.docs {
		if !e.gone && e.holds(want) {
			return e
		}
	}
	return nil
}

// A wanted is a field and the raw JSON value that it must have.
type wanted struct {
	name  string
	value []byte
}

func (e *entry) holds(want []wanted) bool {
	for _, w := range want {
		if !sameJSON(e.fields[w.name], w.value) {
			return false
		}
	}
	return true
}

// holdsAll is holds for a raw document. Most documents in a list are others' and fail on their first wanted field.
func holdsAll(document []byte, want []wanted) bool {
	found := 0
	_ = ddp.Members(document, func(key, value []byte) bool {
		for _, w := range want {
			if string(key) != w.name {
				continue
			}
			if !sameJSON(value, w.value) {
				return false
			}
			found++
		}
		return found < len(want)
	})
	return found == len(want)
}

// value returns a raw document's field.
func value(document []byte, name string) (raw []byte) {
	_ = ddp.Members(document, func(key, v []byte) bool {
		if string(key) == name {
			raw = bytes.Clone(v)
		}
		return raw == nil
	})
	return raw
}

// sameJSON tells whether two raw JSON values are equal, whatever way they are written.
func sameJSON(a, b []byte) bool {
	switch {
	case bytes.Equal(a, b):
		return len(a) > 0
	case len(a) == 0 || len(b) == 0:
		return false
	case a[0] == '"' && b[0] == '"':
		return (bytes.IndexByte(a, '\\') >= 0 || bytes.IndexByte(b, '\\') >= 0) && bytes.Equal(ddp.Text(a), ddp.Text(b))
	case a[0] == '{' && b[0] == '{', a[0] == '[' && b[0] == '[':
		var x, y any
		return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
	}
	x, isX := number(a)
	y, isY := number(b)
	return isX && isY && x == y
}

func number(raw []byte) (f float64, ok bool) {
	digits := bytes.TrimPrefix(raw, []byte("-"))
	if len(digits) == 0 || digits[0] < '0' || digits[0] > '9' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil
}
