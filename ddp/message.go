package ddp

import (
	"bytes"
	"time"
)

// A Kind is what a message's msg field says. The zero value is a message that DDP does not know.
type Kind int

// The kinds of message, of both directions.
const (
	Unknown Kind = iota
	Connect
	Connected
	Failed
	Ping
	Pong
	Sub
	Unsub
	NoSub
	Added
	AddedBefore
	Changed
	Removed
	MovedBefore
	Ready
	Method
	Result
	Updated
	Error
)

var kinds = [...]string{Unknown: "", Connect: "connect", Connected: "connected", Failed: "failed", Ping: "ping", Pong: "pong",
	Sub: "sub", Unsub: "unsub", NoSub: "nosub", Added: "added", AddedBefore: "addedBefore", Changed: "changed",
	Removed: "removed", MovedBefore: "movedBefore", Ready: "ready", Method: "method", Result: "result", Updated: "updated",
	Error: "error"}

// String returns the msg field's text.
func (k Kind) String() string { return kinds[k] }

func kindOf(msg []byte) Kind {
	for k := Connect; int(k) < len(kinds); k++ {
		if string(msg) == kinds[k] {
			return k
		}
	}
	return Unknown
}

// A Message is one DDP message, read only as deep as its top level. Every slice is a part of the connection's buffer and
// holds raw JSON, unless said otherwise; it is good until the handler returns.
type Message struct {
	Kind       Kind
	ID         []byte // text: of a document, method call, subscription or ping
	Collection []byte // text
	Name       []byte // text: of a publication (sub) or a method (method)
	Session    []byte // text
	Version    []byte // text
	Fields     []byte // object
	Params     []byte // array
	Result     []byte // value; nil where the message has none
	Error      []byte // value; nil where the message has none
	Reason     []byte // text
	List       []byte // array of strings: subs, methods, support or cleared
	Raw        []byte // the whole message

	At time.Time // when it was read from the socket; the zero time for one that Parse made
}

// Parse reads a message into m, replacing all of it. An error means that b is no JSON object; a message of an unknown kind
// is none.
func (m *Message) Parse(b []byte) error {
	*m = Message{Raw: b}
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return errSyntax
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return trailing(b, i+1)
	}
	for {
		key, value, next := member(b, i)
		if next < 0 {
			return errSyntax
		}
		m.set(key, value)
		if i = skipSpace(b, next); i >= len(b) {
			return errSyntax
		}
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case '}':
			return trailing(b, i+1)
		default:
			return errSyntax
		}
	}
}

func trailing(b []byte, i int) error {
	if skipSpace(b, i) != len(b) {
		return errSyntax
	}
	return nil
}

func (m *Message) set(key, value []byte) {
	switch string(key) {
	case "msg":
		m.Kind = kindOf(Text(value))
	case "id":
		m.ID = Text(value)
	case "collection":
		m.Collection = Text(value)
	case "name", "method":
		m.Name = Text(value)
	case "session":
		m.Session = Text(value)
	case "version":
		m.Version = Text(value)
	case "reason":
		m.Reason = Text(value)
	case "fields":
		m.Fields = value
	case "params":
		m.Params = value
	case "result":
		m.Result = value
	case "error":
		m.Error = value
	case "subs", "methods", "support", "cleared":
		m.List = value
	default:
		if plain := unescapedKey(key); plain != nil {
			m.set(plain, value)
		}
	}
}

// unescapedKey returns the text of a key that has escapes in it, nil for one that has none.
func unescapedKey(key []byte) []byte {
	if bytes.IndexByte(key, '\\') < 0 {
		return nil
	}
	quoted := append(append([]byte{'"'}, key...), '"')
	plain := Text(quoted)
	if bytes.IndexByte(plain, '\\') >= 0 {
		return nil // no key of a message
	}
	return plain
}

// Lists tells whether the message's list holds the text.
func (m *Message) Lists(text string) bool {
	found := false
	if Elements(m.List, func(v []byte) bool {
		found = string(Text(v)) == text
		return !found
	}) != nil {
		return false
	}
	return found
}
