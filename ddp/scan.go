package ddp

import (
	"bytes"
	"encoding/json"
	"errors"
)

var errSyntax = errors.New("not valid JSON")

// skipSpace returns the index of the first byte at or after i that is no white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index after the string that opens at i, or -1.
func skipString(b []byte, i int) int {
	for i++; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		if !escaped(b, i) {
			return i + 1
		}
	}
}

// escaped tells whether an odd number of backslashes stands before i.
func escaped(b []byte, i int) bool {
	n := 0
	for i--; i >= 0 && b[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

// skipValue returns the index after the JSON value that starts at i, or -1 where there is none. It reads only as deep as
// it must to find the end: what stands between brackets is not checked.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	start := i
	for i < len(b) && !isDelimiter(b[i]) {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

func isDelimiter(c byte) bool {
	switch c {
	case ',', ']', '}', '{', '[', '"', ':', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// Members calls f with the raw key, without its quotes, and the raw value of each member of a JSON object, until f returns
// false. Both are parts of b.
func Members(b []byte, f func(key, value []byte) bool) error {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return errSyntax
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return nil
	}
	for {
		key, value, next := member(b, i)
		if next < 0 {
			return errSyntax
		}
		if !f(key, value) {
			return nil
		}
		if i = skipSpace(b, next); i >= len(b) {
			return errSyntax
		}
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case '}':
			return nil
		default:
			return errSyntax
		}
	}
}

// member reads "key": value at i; next is the index after it, or -1.
func member(b []byte, i int) (key, value []byte, next int) {
	if i >= len(b) || b[i] != '"' {
		return nil, nil, -1
	}
	end := skipString(b, i)
	if end < 0 {
		return nil, nil, -1
	}
	key = b[i+1 : end-1]
	if i = skipSpace(b, end); i >= len(b) || b[i] != ':' {
		return nil, nil, -1
	}
	i = skipSpace(b, i+1)
	if next = skipValue(b, i); next < 0 {
		return nil, nil, -1
	}
	return key, b[i:next], next
}

// Elements calls f with each raw element of a JSON array, until f returns false. The element is a part of b.
func Elements(b []byte, f func(value []byte) bool) error {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '[' {
		return errSyntax
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return nil
	}
	for {
		end := skipValue(b, i)
		if end < 0 {
			return errSyntax
		}
		if !f(b[i:end]) {
			return nil
		}
		if i = skipSpace(b, end); i >= len(b) {
			return errSyntax
		}
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case ']':
			return nil
		default:
			return errSyntax
		}
	}
}

// Text returns the content of a raw JSON string. Where nothing is escaped it is a part of raw; what is no string gives nil.
func Text(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return nil
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	return []byte(s)
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string.
func AppendString(dst, s []byte) []byte {
	dst = append(dst, '"')
	start := 0
	for i, c := range s {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}
