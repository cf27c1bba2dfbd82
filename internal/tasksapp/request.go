package tasksapp

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/ddpgate/ddpgate/ddp"
)

// A request is a client's message, with what a server must know beyond a client.
type request struct {
	ddp.Message
	rawID   []byte // the id as it came, whatever it is
	rawSeed []byte // the randomSeed as it came
}

// parse reads a client's message. ok is false for what is no message at all: it can still be shown as offending.
func parse(text []byte) (r request, ok bool) {
	r.Raw = text
	if !json.Valid(text) {
		r.Raw = nil
		return r, false
	}
	if r.Message.Parse(text) != nil {
		return r, false
	}
	said := false
	ddp.Members(text, func(key, value []byte) bool { // the text is known to be an object
		switch string(key) {
		case "msg":
			said = len(ddp.Text(value)) > 0
		case "id":
			r.rawID = value
		case "randomSeed":
			r.rawSeed = value
		}
		return true
	})
	return r, said
}

// offending returns the message as an answer may quote it, or nil: Meteor quotes objects and arrays only.
func (r request) offending() []byte {
	raw := bytes.TrimSpace(r.Raw)
	if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' {
		return nil
	}
	return compact(raw)
}

// paramsOK tells whether the parameters are a list, or left out.
func (r request) paramsOK() bool { return r.Params == nil || r.Params[0] == '[' }

// seed returns the seed for the ids that the method makes, nil where there is none; ok is false where it is no text.
func (r request) seed() (seed []byte, ok bool) {
	seed = ddp.Text(r.rawSeed)
	return seed, r.rawSeed == nil || seed != nil
}

// argument returns a method's first parameter; ok is false where its fields cannot even be asked for.
func (r request) argument() (value []byte, ok bool) {
	if r.Params == nil {
		return nil, false
	}
	ddp.Elements(r.Params, func(v []byte) bool { // the params are known to be an array
		value = v
		return false
	})
	return value, value != nil && string(value) != "null"
}

// field returns a field of an object in one canonical form, so that equal values are equal bytes; nil where it has none.
func field(object []byte, name string) []byte {
	var found []byte
	if ddp.Members(object, func(key, value []byte) bool {
		if string(key) == name {
			found = canonical(value)
		}
		return true
	}) != nil {
		return nil
	}
	return found
}

func canonical(value []byte) []byte {
	if text := ddp.Text(value); text != nil {
		return quote(text)
	}
	return compact(value)
}

func compact(value []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, value) != nil {
		return nil
	}
	return out.Bytes()
}

func quote(text []byte) []byte { return ddp.AppendString(nil, text) }

// pick chooses the first version of the client's list that is known; ok is false where the client proposed another.
func pick(r request) (version string, ok bool) {
	version = versions[0]
	if r.Version == nil || !r.Lists(string(r.Version)) {
		return version, false
	}
	ddp.Elements(r.List, func(v []byte) bool { // Lists has read it
		known := slices.Contains(versions, string(ddp.Text(v)))
		if known {
			version = string(ddp.Text(v))
		}
		return !known
	})
	return version, version == string(r.Version)
}
