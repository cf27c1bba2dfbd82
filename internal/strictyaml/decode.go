package strictyaml

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Unmarshaler is what reads itself from YAML with a function that decodes the node into a value of another type.
type Unmarshaler interface {
	UnmarshalYAML(decode func(any) error) error
}

// Decode reads the node into what dst points to: a struct by the yaml tags of its fields, a map with text keys, a slice, a
// scalar, a duration, an Unmarshaler or an encoding.TextUnmarshaler. What the node does not mention stays as it is; maps gain
// keys and lose none. Faults leave their part of dst as it is.
func (n Node) Decode(dst any) { n.decode(reflect.ValueOf(dst).Elem()) }

func (n Node) decode(v reflect.Value) {
	if !n.Present() {
		return
	}
	if v.Kind() == reflect.Pointer {
		fresh := reflect.New(v.Type().Elem())
		n.decode(fresh.Elem())
		v.Set(fresh)
		return
	}
	switch u := v.Addr().Interface().(type) {
	case Unmarshaler:
		n.unmarshal(u)
	case encoding.TextUnmarshaler:
		Scalar(n, func(text string) (struct{}, error) { return struct{}{}, u.UnmarshalText([]byte(text)) })
	case *time.Duration:
		set(n, v, n.Duration())
	case *string:
		set(n, v, n.Text())
	case *bool:
		set(n, v, n.Bool())
	case *int:
		set(n, v, n.whole())
	case *float64:
		set(n, v, n.float())
	default:
		n.compound(v)
	}
}

func (n Node) compound(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		fields := n.Fields(Keys(v.Type())...)
		for i := range v.NumField() {
			if name := key(v.Type().Field(i)); name != "" {
				fields[name].decode(v.Field(i))
			}
		}
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		for _, e := range n.Entries() {
			item := reflect.New(v.Type().Elem()).Elem()
			if e.Value.decode(item); e.Value.Faulty() {
				continue
			}
			v.SetMapIndex(reflect.ValueOf(e.Name), item)
		}
	case reflect.Slice:
		items := n.Items()
		if n.Faulty() {
			return
		}
		fresh := reflect.MakeSlice(v.Type(), len(items), len(items))
		for i, item := range items {
			item.decode(fresh.Index(i))
		}
		v.Set(fresh)
	default:
		panic(fmt.Sprintf("strictyaml: a %s cannot be decoded", v.Type()))
	}
}

func set[T any](n Node, v reflect.Value, value T) {
	if !n.Faulty() {
		v.Set(reflect.ValueOf(value))
	}
}

func (n Node) whole() int {
	if !n.is(scalar, "a whole number") {
		return 0
	}
	switch i := n.v.scalar.(type) {
	case int64:
		return int(i)
	case uint64:
		if i <= Largest {
			return int(i)
		}
	}
	n.Fault("%q must be a whole number", n.v.text)
	return 0
}

func (n Node) float() float64 {
	if !n.is(scalar, "a number") {
		return 0
	}
	switch f := n.number(n.v.scalar).(type) {
	case int64:
		return float64(f)
	case float64:
		return f
	case nil:
		return 0
	}
	n.Fault("%q must be a number", n.v.text)
	return 0
}

// unmarshal lets a value read itself. Of the faults on its way only those that it returns count: it may try one form after
// the other.
func (n Node) unmarshal(u Unmarshaler) {
	err := u.UnmarshalYAML(func(dst any) error {
		attempt := Node{&Document{file: n.doc.file}, n.v}
		attempt.Decode(dst)
		return attempt.doc.Err()
	})
	for _, err := range Each(err) {
		if f := (*Fault)(nil); errors.As(err, &f) {
			n.doc.faults = append(n.doc.faults, f)
			continue
		}
		n.Fault("%v", err)
	}
}

// Each returns the errors that were joined into one, in order; none for nil.
func Each(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if _, wrapped := err.(interface{ Unwrap() error }); !ok || wrapped {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, Each(e)...)
	}
	return all
}

// Keys returns the keys that Decode knows for a struct type, in the order of its fields.
func Keys(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		if name := key(t.Field(i)); name != "" {
			keys = append(keys, name)
		}
	}
	return keys
}

// key returns the key of a field, "" for one that YAML does not set.
func key(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	if name == "-" || !f.IsExported() {
		return ""
	}
	return name
}
