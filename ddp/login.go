package ddp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// ResumeParams returns the params of Meteor's method login for a resume token.
func ResumeParams(token string) []byte {
	b := AppendString([]byte(`[{"resume":`), []byte(token))
	return append(b, "}]"...)
}

// PasswordParams returns the params of Meteor's method login for a user, by name or by an address with an @, and a password,
// of which only the digest is sent.
func PasswordParams(user, password string) []byte {
	b := []byte(`[{"user":{"username":`)
	if strings.Contains(user, "@") {
		b = []byte(`[{"user":{"email":`)
	}
	b = AppendString(b, []byte(user))
	b = append(b, `},"password":{"digest":"`...)
	b = append(b, PasswordDigest(password)...)
	return append(b, `","algorithm":"sha-256"}}]`...)
}

// PasswordDigest returns what Meteor's clients send in a password's place: its SHA-256 in hexadecimal digits.
func PasswordDigest(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}
