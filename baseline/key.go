package baseline

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

const maxKey = 100

// A key is one or more parts as branches have them, so that a branch's name can be a key.
var (
	keyForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9][A-Za-z0-9._+-]*)*$`)
	idForm  = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// CheckKey returns an error for what cannot be a key's name: letters, digits and ._+- in parts that begin with a letter or
// digit, with / between them, 100 bytes at most, and not Auto.
func CheckKey(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a key must have a name")
	case name == Auto:
		return fmt.Errorf("%q cannot be a key: it stands for the record of the nearest earlier commit", name)
	case len(name) > maxKey:
		return fmt.Errorf("key %.20q… has %d bytes, at most %d are allowed", name, len(name), maxKey)
	case !keyForm.MatchString(name):
		return fmt.Errorf("%q cannot be a key: letters, digits and ._+- in parts that begin with a letter or digit, with / between them", name)
	}
	return nil
}

// suffix ends the name of a key's file.
const suffix = ".jsonl"

// fileOf returns the name of a key's file: the key, with / escaped.
func fileOf(key string) string { return url.PathEscape(key) + suffix }

// keyOf returns the key whose file this is.
func keyOf(file string) (key string, ok bool) {
	name, found := strings.CutSuffix(file, suffix)
	key, err := url.PathUnescape(name)
	return key, found && err == nil && CheckKey(key) == nil && fileOf(key) == file
}
