// Package arch holds the house in order: which room may import which is a table, and a test.
package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ddpgate/ddpgate"

// rooms says which packages of ours each room may import directly. docs/design.md shows the same table.
// Test files are free: a test of any room may run the real thing from another.
var rooms = map[string][]string{
	"cmd/ddpgate": {"report", "github", "config", "runner", "fleet", "gate", "baseline", "drive", "probe", "record",
		"scenario", "ddp", "app", "meter", "metric", "stat", "internal/tasksapp", "internal/build", "internal/nearest"},
	"lambda":              {"fleet", "probe", "internal/build"},
	"report":              {"report/chart", "gate", "record", "metric", "stat"},
	"report/chart":        {},
	"github":              {},
	"config":              {"scenario", "gate", "baseline", "app", "meter", "internal/affinity", "internal/nearest", "internal/strictyaml"},
	"runner":              {"drive", "app", "meter", "probe", "scenario", "record", "metric", "internal/affinity", "internal/tasksapp", "internal/usage"},
	"fleet":               {"drive", "scenario", "metric", "ddp", "internal/nearest", "internal/objects", "internal/usage"},
	"gate":                {"record", "metric", "stat", "internal/nearest"},
	"gate/oc":             {"gate", "record", "stat"},
	"gate/steps":          {"gate", "record", "stat"},
	"baseline":            {"record", "internal/nearest", "internal/objects"},
	"drive":               {"scenario", "ddp", "metric", "internal/usage"},
	"probe":               {"internal/cgroup"},
	"record":              {"scenario", "metric", "internal/nearest"},
	"scenario":            {"internal/nearest", "internal/strictyaml"},
	"ddp":                 {},
	"app":                 {"internal/affinity", "internal/cgroup"},
	"meter":               {"internal/cgroup"},
	"metric":              {},
	"stat":                {},
	"internal/tasksapp":   {"ddp"},
	"internal/affinity":   {},
	"internal/cgroup":     {},
	"internal/build":      {},
	"internal/nearest":    {},
	"internal/objects":    {},
	"internal/usage":      {},
	"internal/strictyaml": {"internal/nearest"},
	"internal/githubtest": {},
	"internal/lambdatest": {},
	"internal/arch":       {},
}

// why says what a forbidden import would break, by the room that wants it.
var why = map[string]string{
	"gate":         "the gate judges records and knows neither how they were made nor where they are kept",
	"stat":         "statistics work on numbers only",
	"drive":        "the driver knows the load, not the app's process, its meters or the record",
	"runner":       "how to drive and whether the evidence is settled are handed in as functions by cmd",
	"report/chart": "a chart draws numbers and words, and knows nothing of what they are of",
	"report":       "a report renders what was judged and measured, and does nothing else",
}

func TestImports(t *testing.T) {
	for room, imports := range importsOfOurs(t, "../..") {
		allowed, known := rooms[room]
		if !known {
			t.Errorf("package %s has no room in the table: add it here and in docs/design.md, or move its code", room)
			continue
		}
		for _, imported := range imports {
			if !slices.Contains(allowed, imported) {
				reason := why[room]
				if reason == "" {
					reason = "data goes one way"
				}
				t.Errorf("%s imports %s, which is not in its row of the table (%s): %s", room, imported, strings.Join(allowed, ", "), reason)
			}
		}
	}
}

// importsOfOurs returns, by directory, the packages of this module that its files other than tests import.
func importsOfOurs(t *testing.T, root string) map[string][]string {
	t.Helper()
	found := make(map[string][]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); path != root && (strings.HasPrefix(n, ".") || n == "testdata" || n == "node_modules" || n == "tools") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		room := filepath.ToSlash(dir)
		found[room] = append(found[room], ours(t, f.Imports)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 3 {
		t.Fatalf("found %d packages under %s: the walk is broken", len(found), root)
	}
	return found
}

func ours(t *testing.T, specs []*ast.ImportSpec) []string {
	t.Helper()
	var rooms []string
	for _, spec := range specs {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if room, found := strings.CutPrefix(path, module+"/"); found {
			rooms = append(rooms, room)
		}
	}
	return rooms
}
