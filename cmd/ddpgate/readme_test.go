package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/mattn/go-shellwords"

	"github.com/ddpgate/ddpgate/config"
)

// TestReadme holds the first page to what the program takes: its configuration is accepted, and so is each command line. The demo
// itself is run by CI.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands, configurations := 0, 0
	for _, m := range regexp.MustCompile("(?ms)^```(yaml|sh)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		switch kind, body := m[1], m[2]; {
		case kind == "sh":
			for line := range strings.Lines(body) {
				commands += readmeCommand(t, strings.TrimSpace(line))
			}
		case strings.Contains(body, "scenarios:"):
			configurations++
			if _, err := config.Parse(config.File, []byte(body), os.ReadFile); err != nil {
				t.Errorf("%s\n%v", body, err)
			}
		}
	}
	if commands < 4 || configurations != 1 {
		t.Errorf("found %d commands and %d configurations: the page or this test has changed", commands, configurations)
	}
}

// readmeCommand parses a line that runs ddpgate, and counts it.
func readmeCommand(t *testing.T, line string) int {
	t.Helper()
	rest, ours := strings.CutPrefix(line, "ddpgate ")
	if !ours {
		rest, ours = strings.CutPrefix(line, "go run ./cmd/ddpgate ")
	}
	if !ours {
		return 0
	}
	rest, _, _ = strings.Cut(rest, "  #")
	words, err := shellwords.Parse(rest)
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(new(grammar))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(words); err != nil {
		t.Errorf("%s: %v", line, err)
	}
	return 1
}
