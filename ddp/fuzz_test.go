package ddp

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// seeds calls add with each line of the transcripts that has a frame.
func seeds(f *testing.F, add func(l line)) {
	f.Helper()
	for _, file := range transcripts(f) {
		for _, s := range scripts(f, file) {
			for _, l := range s.lines {
				if l.Frame != "" {
					add(l)
				}
			}
		}
	}
}

// FuzzMessage holds Parse against encoding/json: it reads every object that is one, and the same in it.
func FuzzMessage(f *testing.F) {
	seeds(f, func(l line) {
		_, body := FrameOf([]byte(l.Frame))
		_, _ = SockJSMessages(body, nil, func(m []byte) error { // what is none is added as it is
			f.Add(bytes.Clone(m))
			return nil
		})
		f.Add([]byte(l.Frame))
	})
	f.Add([]byte(`{"\u006dsg":"a\u0064ded","id":"\ud83d\ude00","fields":{"a":[{}]},"id":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Message
		err := m.Parse(b)
		m.Lists("1")
		var fields map[string]json.RawMessage
		if !utf8.Valid(b) || json.Unmarshal(b, &fields) != nil || fields == nil {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		for _, fault := range disagreements(&m, fields) {
			t.Errorf("%q: %s", b, fault)
		}
	})
}

// FuzzSockJS holds the framing against encoding/json, both ways.
func FuzzSockJS(f *testing.F) {
	seeds(f, func(l line) { f.Add([]byte(l.Frame)) })
	f.Fuzz(func(t *testing.T, b []byte) {
		again, err := unframed(t, AppendSockJS(nil, b))
		if err != nil || len(again) != 1 || again[0] != string(b) {
			t.Errorf("%q comes back as %q, %v", b, again, err)
		}
		kind, body := FrameOf(b)
		if kind == CloseFrame {
			_, _, _ = CloseReason(body) // must only not panic
		}
		got, err := unframed(t, body)
		var want []*string
		if !utf8.Valid(body) || json.Unmarshal(body, &want) != nil || slices.Contains(want, nil) {
			return
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("%q: got %q, %v", body, got, err)
		}
		for i := range want {
			if got[i] != *want[i] {
				t.Errorf("%q: got %q, want %q", body, got[i], *want[i])
			}
		}
	})
}

func unframed(t *testing.T, body []byte) (messages []string, err error) {
	t.Helper()
	scratch := []byte("kept out of it")
	_, err = SockJSMessages(body, scratch[:0], func(m []byte) error {
		messages = append(messages, string(m))
		return nil
	})
	return messages, err
}

// FuzzInflate holds the inflater to a limit and to ending, whatever it is given, and to giving back what a server compressed.
func FuzzInflate(f *testing.F) {
	seeds(f, func(l line) {
		wire, err := hex.DecodeString(l.Wire)
		if err != nil || len(wire) < 2 {
			return
		}
		f.Add(wire[2:], uint16(len(l.Frame)/2))
		f.Add([]byte(l.Frame), uint16(7))
	})
	f.Fuzz(func(t *testing.T, b []byte, cut uint16) {
		const limit = 1 << 16
		broken := new(inflater)
		for range 2 {
			out, err := broken.message(nil, append(bytes.Clone(b), tail...), limit)
			var large *ConnError
			if len(out) > limit && !errors.As(err, &large) {
				t.Fatalf("got %d bytes, over the limit, %v", len(out), err)
			}
			if err != nil {
				break
			}
		}
		d, sound := newDeflater(t), new(inflater)
		at := min(int(cut), len(b))
		for _, want := range [][]byte{b[:at], b[at:], b, nil, b} {
			got, err := sound.message(nil, d.message(t, want), int64(len(want)))
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("got %q, %v, want %q", got, err, want)
			}
		}
	})
}

// FuzzEJSON holds what can be read to staying the same when it is written and read again.
func FuzzEJSON(f *testing.F) {
	seeds(f, func(l line) {
		var m Message
		if m.Parse([]byte(l.Frame)) == nil {
			for _, part := range [][]byte{m.Fields, m.Result, m.Error, m.Params} {
				f.Add(part)
			}
		}
	})
	for _, c := range ejsonCases {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := UnmarshalEJSON(b)
		if err != nil {
			if json.Valid(b) && !bytes.ContainsAny(b, "$eE0123456789") {
				t.Fatalf("%q: %v", b, err)
			}
			return
		}
		written, err := MarshalEJSON(v)
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		again, err := UnmarshalEJSON(written)
		if err != nil || !same(v, again) {
			t.Fatalf("%q: written as %s, read as %#v, %v, want %#v", b, written, again, err, v)
		}
	})
}

// same is reflect.DeepEqual, but for NaN, which is the same as itself.
func same(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || math.IsNaN(a) && math.IsNaN(b))
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			if other, has := b[k]; !has || !same(a[k], other) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

type object = map[string]any

// ejsonCases are texts and what they mean. What npm's ejson writes for the value is the text again.
var ejsonCases = []struct {
	text  string
	value any
}{
	{`{"$date":0}`, time.Unix(0, 0).UTC()},
	{`{"$date":1796055775578}`, time.Date(2026, 11, 30, 16, 22, 55, 578e6, time.UTC)},
	{`{"$date":-62135596800000}`, time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)},
	{`{"$binary":"AQID"}`, []byte{1, 2, 3}},
	{`{"$binary":""}`, []byte{}},
	{`{"$InfNaN":0}`, math.NaN()},
	{`{"$InfNaN":1}`, math.Inf(1)},
	{`{"$InfNaN":-1}`, math.Inf(-1)},
	{`{"$escape":{"$date":1}}`, object{"$date": 1.0}},
	{`{"$escape":{"$escape":{"$date":1}}}`, object{"$escape": time.UnixMilli(1).UTC()}},
	{`{"$escape":{"$date":{"$date":0}}}`, object{"$date": time.Unix(0, 0).UTC()}},
	{`{"$type":"oid","$value":"507f1f77bcf86cd799439011"}`, Custom{"oid", json.RawMessage(`"507f1f77bcf86cd799439011"`)}},
	{`{"$type":"money","$value":{"cents":5,"since":{"$date":0}}}`, Custom{"money", json.RawMessage(`{"cents":5,"since":{"$date":0}}`)}},
	{`[{"a":[{"$date":0},null,true,"é<>&",1.5]}]`, []any{object{"a": []any{time.Unix(0, 0).UTC(), nil, true, "é<>&", 1.5}}}},
	// What only looks like one of EJSON's own is an object like any other.
	{`{"$date":0,"a":1}`, object{"$date": 0.0, "a": 1.0}},
	{`{"$type":"oid","$value":1,"a":1}`, object{"$type": "oid", "$value": 1.0, "a": 1.0}},
	{`{"$other":1}`, object{"$other": 1.0}},
	{`{}`, object{}},
}

func TestEJSON(t *testing.T) {
	for _, c := range ejsonCases {
		v, err := UnmarshalEJSON([]byte(c.text))
		if err != nil || !same(v, c.value) {
			t.Errorf("%s: got %#v, %v, want %#v", c.text, v, err, c.value)
		}
		text, err := MarshalEJSON(c.value)
		if err != nil || string(text) != c.text {
			t.Errorf("%#v: got %s, %v, want %s", c.value, text, err, c.text)
		}
	}
}

func TestEJSONRefuses(t *testing.T) {
	for _, text := range []string{``, `{`, `1 2`, `{"$date":1e300}`, `{"$binary":"A"}`, `1e999`, `[1e999]`, `{"a":{"$binary":"~"}}`} {
		if v, err := UnmarshalEJSON([]byte(text)); err == nil {
			t.Errorf("%s: got %#v, want an error", text, v)
		}
	}
	for _, v := range []any{struct{}{}, []any{make(chan int)}, object{"a": func() {}}} {
		if text, err := MarshalEJSON(v); err == nil {
			t.Errorf("%T: got %s, want an error", v, text)
		}
	}
}

// Whatever Go holds of EJSON's values is the same after it was written and read.
func TestEJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := ejsonValue(3).Draw(t, "value")
		text, err := MarshalEJSON(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := UnmarshalEJSON(text)
		if err != nil || !same(got, want) {
			t.Fatalf("%s: got %#v, %v, want %#v", text, got, err, want)
		}
	})
}

func ejsonValue(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Bool().AsAny(),
		rapid.String().AsAny(),
		rapid.Float64().AsAny(),
		rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}).AsAny(),
		rapid.SliceOf(rapid.Byte()).Filter(func(b []byte) bool { return b != nil }).AsAny(),
		rapid.Map(rapid.Int64Range(-8640e12, 8640e12), func(ms int64) any { return time.UnixMilli(ms).UTC() }),
		rapid.Map(rapid.StringMatching(`[a-z]+`), func(name string) any { return Custom{name, json.RawMessage(`{"a":[1]}`)} }),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	keys := rapid.OneOf(rapid.SampledFrom([]string{"$date", "$binary", "$InfNaN", "$escape", "$type", "$value"}), rapid.String())
	inner := ejsonValue(depth - 1)
	return rapid.OneOf(append(leaves,
		rapid.Map(rapid.SliceOfN(inner, 0, 4), func(v []any) any { return v }).Filter(func(v any) bool { return v.([]any) != nil }),
		rapid.Map(rapid.MapOfN(keys, inner, 0, 3), func(m map[string]any) any { return m }),
	)...)
}
