package ddp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"unicode/utf16"
	"unicode/utf8"
)

// A Frame is what a SockJS frame from a server is.
type Frame int

// The SockJS frames.
const (
	BadFrame       Frame = iota
	OpenFrame            // o
	HeartbeatFrame       // h
	MessageFrame         // a[…] or m…
	CloseFrame           // c[code,"reason"]
)

// FrameOf returns a server frame's kind, and what follows its first letter.
func FrameOf(frame []byte) (Frame, []byte) {
	if len(frame) == 0 {
		return BadFrame, nil
	}
	body := frame[1:]
	switch frame[0] {
	case 'o':
		return OpenFrame, body
	case 'h':
		return HeartbeatFrame, body
	case 'a', 'm':
		return MessageFrame, body
	case 'c':
		return CloseFrame, body
	}
	return BadFrame, body
}

// CloseReason reads the body of a close frame.
func CloseReason(body []byte) (code int, reason string, err error) {
	parts := []any{&code, &reason}
	if err := json.Unmarshal(body, &parts); err != nil {
		return 0, "", fmt.Errorf("sockjs close frame: %w", err)
	}
	return code, reason, nil
}

// SockJSMessages calls f with each message of a SockJS body (an array of strings, or one string), unescaped into scratch. It
// returns scratch, perhaps grown. A message is good until f returns.
func SockJSMessages(body, scratch []byte, f func(message []byte) error) ([]byte, error) {
	i := skipSpace(body, 0)
	if i < len(body) && body[i] == '"' {
		return unescapeTo(body, i, scratch, f)
	}
	var failed error
	err := Elements(body, func(v []byte) bool {
		scratch, failed = unescapeTo(v, 0, scratch, f)
		return failed == nil
	})
	if failed != nil {
		return scratch, failed
	}
	return scratch, err
}

func unescapeTo(b []byte, i int, scratch []byte, f func([]byte) error) ([]byte, error) {
	scratch, ok := unescape(scratch[:0], b[i:])
	if !ok {
		return scratch, errSyntax
	}
	return scratch, f(scratch)
}

// unescape appends the content of the JSON string that opens at the start of raw.
func unescape(dst, raw []byte) ([]byte, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return dst, false
	}
	for i := 1; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			return dst, true
		case c < 0x20:
			return dst, false
		case c != '\\':
			dst = append(dst, c)
		default:
			if i++; i >= len(raw) {
				return dst, false
			}
			var n int
			if dst, n = unescapeOne(dst, raw[i:]); n == 0 {
				return dst, false
			}
			i += n - 1
		}
	}
	return dst, false
}

// unescapeOne appends what the escape after a backslash stands for; n is its length, 0 for a bad one.
func unescapeOne(dst, raw []byte) (_ []byte, n int) {
	switch raw[0] {
	case '"', '\\', '/':
		return append(dst, raw[0]), 1
	case 'n':
		return append(dst, '\n'), 1
	case 't':
		return append(dst, '\t'), 1
	case 'r':
		return append(dst, '\r'), 1
	case 'b':
		return append(dst, '\b'), 1
	case 'f':
		return append(dst, '\f'), 1
	case 'u':
		return unescapeRune(dst, raw)
	}
	return dst, 0
}

func unescapeRune(dst, raw []byte) ([]byte, int) {
	r, ok := hex4(raw[1:])
	if !ok {
		return dst, 0
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(dst, r), 5
	}
	if len(raw) >= 11 && raw[5] == '\\' && raw[6] == 'u' {
		if low, ok := hex4(raw[7:]); ok {
			if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
				return utf8.AppendRune(dst, full), 11
			}
		}
	}
	return utf8.AppendRune(dst, utf8.RuneError), 5
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// AppendSockJS appends a message as a client's SockJS frame, ["…"]; a server puts an a before it.
func AppendSockJS(dst, message []byte) []byte {
	dst = append(dst, '[')
	dst = AppendString(dst, message)
	return append(dst, ']')
}

const letters = "abcdefghijklmnopqrstuvwxyz0123456789"

// SockJSPath returns a fresh path of a SockJS session over WebSocket: three digits of a server, eight characters of a session.
func SockJSPath() string {
	var session [8]byte
	for i := range session {
		session[i] = letters[rand.IntN(len(letters))]
	}
	return fmt.Sprintf("/sockjs/%03d/%s/websocket", rand.IntN(1000), session[:])
}
