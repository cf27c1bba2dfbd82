// Package nearest finds the known word that somebody most likely meant, for error messages.
package nearest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Word returns the known word with the smallest edit distance to got, ignoring case; of several, the first in
// alphabetical order. It returns "" when none is near: more than two letters and more than a third of the longer word differ,
// and neither is the start of the other.
func Word(got string, known []string) string {
	low := strings.ToLower(got)
	best, distance := "", -1
	for _, k := range slices.Sorted(slices.Values(known)) {
		d := levenshtein.ComputeDistance(low, strings.ToLower(k))
		if n := max(len(got), len(k)); d > max(n/3, min(2, n-2)) && !startOf(low, strings.ToLower(k)) {
			continue
		}
		if distance < 0 || d < distance {
			best, distance = k, d
		}
	}
	return best
}

func startOf(a, b string) bool {
	return len(a) >= 3 && len(b) >= 3 && (strings.HasPrefix(b, a) || strings.HasPrefix(a, b))
}

// Unknown is the error for a word that is none of the known ones: what it is, what was given, the nearest known
// word, or all of them where none is near.
func Unknown(what, got string, known []string) error {
	if w := Word(got, known); w != "" {
		return fmt.Errorf("unknown %s %q, did you mean %q?", what, got, w)
	}
	if len(known) == 0 {
		return fmt.Errorf("unknown %s %q: there are none", what, got)
	}
	return fmt.Errorf("unknown %s %q, known are: %s", what, got, strings.Join(slices.Sorted(slices.Values(known)), ", "))
}
