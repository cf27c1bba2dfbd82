package scenario

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/ddpgate/ddpgate/internal/nearest"
)

//go:embed builtin/*.yml
var builtin embed.FS

// Names returns the names of the built-in scenarios, sorted.
func Names() []string {
	files, err := fs.Glob(builtin, "builtin/*.yml")
	if err != nil {
		panic(err) // only for a bad pattern
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(path.Base(f), ".yml")
	}
	return names
}

// Builtin returns the built-in scenario of that name. The error names the nearest one.
func Builtin(name string) (*Scenario, error) {
	file := "builtin/" + name + ".yml"
	text, err := builtin.ReadFile(file)
	if err != nil {
		return nil, nearest.Unknown("scenario", name, Names())
	}
	return Parse(file, text)
}

// Load returns the built-in scenario of that name or, for a name with a slash or the ending .yml or .yaml, the scenario in
// that file, which it reads with readFile.
func Load(name string, readFile func(file string) ([]byte, error)) (*Scenario, error) {
	if !isFile(name) {
		return Builtin(name)
	}
	text, err := readFile(name)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return Parse(name, text)
}

func isFile(name string) bool {
	return strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".yaml")
}
