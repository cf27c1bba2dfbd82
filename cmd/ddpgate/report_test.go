package main

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestFormatsAreDocumented holds the formats against what the help and docs/reports.md say there are.
func TestFormatsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/reports.md")
	if err != nil {
		t.Fatal(err)
	}
	field, _ := reflect.TypeFor[reportCmd]().FieldByName("Format")
	formats := new(command).formats()
	for name, f := range formats {
		row := regexp.MustCompile("(?m)^\\| `" + name + "`.*\\|$").FindString(string(page))
		if row == "" || !strings.Contains(row, f.file) {
			t.Errorf("docs/reports.md has the row %q for the format %s with the file %q", row, name, f.file)
		}
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(field.Tag.Get("help")) {
			t.Errorf("the help of --format does not name %s", name)
		}
	}
	for _, named := range regexp.MustCompile(`--format ([a-z-]+)`).FindAllStringSubmatch(string(page), -1) {
		if _, known := formats[named[1]]; !known {
			t.Errorf("docs/reports.md shows --format %s, which there is not", named[1])
		}
	}
}

// TestHistoryFormatsAreDocumented holds the formats of a history against what its help and docs/history.md say there are.
func TestHistoryFormatsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/history.md")
	if err != nil {
		t.Fatal(err)
	}
	field, _ := reflect.TypeFor[historyCmd]().FieldByName("Format")
	row := regexp.MustCompile("(?m)^\\| `--format FORMAT`.*\\|$").FindString(string(page))
	for name, f := range new(historyCmd).formats(new(command)) {
		if !strings.Contains(row, "`"+name+"`") || !strings.Contains(string(page), "`"+f.file+"`") && f.file != "" {
			t.Errorf("docs/history.md does not name the format %s with the file %q: %q", name, f.file, row)
		}
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(field.Tag.Get("help")) {
			t.Errorf("the help of --format does not name %s", name)
		}
	}
}
