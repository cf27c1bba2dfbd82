package probe

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// Meteor returns the Meteor release of the app in a directory, a bundle or a source tree; empty where there is none.
func Meteor(dir string) string {
	for _, file := range []string{"star.json", "bundle/star.json"} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			continue
		}
		var star struct {
			Release string `json:"meteorRelease"`
		}
		if json.Unmarshal(text, &star) == nil && star.Release != "" {
			return strings.TrimPrefix(star.Release, "METEOR@")
		}
	}
	return strings.TrimPrefix(firstLine(filepath.Join(dir, ".meteor/release")), "METEOR@")
}
