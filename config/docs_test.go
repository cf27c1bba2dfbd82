package config

import (
	"encoding/json"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ddpgate/ddpgate/scenario"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

type block struct{ kind, text string }

// blocks returns the fenced blocks of a Markdown file.
func blocks(t *testing.T, file string) []block {
	t.Helper()
	var found []block
	for _, m := range regexp.MustCompile("(?ms)^```([a-z ]+)\n(.*?)^```$").FindAllStringSubmatch(read(t, file), -1) {
		found = append(found, block{m[1], m[2]})
	}
	if len(found) < 5 {
		t.Fatalf("%s: found %d blocks only", file, len(found))
	}
	return found
}

// chat is the first example of scenarios.md; config.md names it as a file.
func chat(t *testing.T) []byte { return []byte(blocks(t, "../docs/scenarios.md")[0].text) }

// Each example of a configuration is one that is accepted, or is followed by what its author is told.
func TestExamplesOfConfigurations(t *testing.T) {
	readFile := func(file string) ([]byte, error) {
		if file != "scenarios/chat.yml" {
			return nil, fs.ErrNotExist
		}
		return chat(t), nil
	}
	schema := compiled(t, "")
	all := blocks(t, "../docs/config.md")
	for i, b := range all {
		_, err := Parse(File, []byte(b.text), readFile)
		switch b.kind {
		case "yaml":
			if err != nil {
				t.Errorf("%s\n%v", b.text, err)
				continue
			}
			if err := schema.Validate(asJSON(t, []byte(b.text))); err != nil {
				t.Errorf("%s\n%v", b.text, err)
			}
		case "yaml wrong":
			wantFaults(t, all[i+1], err)
		}
	}
}

// Each example of a scenario is one that is accepted, whole or as steps, or is followed by what its author is told.
func TestExamplesOfScenarios(t *testing.T) {
	schema := compiled(t, "scenario")
	all := blocks(t, "../docs/scenarios.md")
	for i, b := range all {
		text := b.text
		if strings.HasPrefix(text, "- ") {
			text = "name: steps\narrivals: {rate: 1/s, for: 1s}\nsession:\n" + text
		}
		_, err := scenario.Parse("scenario.yml", []byte(text))
		switch b.kind {
		case "yaml":
			if err != nil {
				t.Errorf("%s\n%v", b.text, err)
				continue
			}
			if err := schema.Validate(asJSON(t, []byte(text))); err != nil {
				t.Errorf("%s\n%v", b.text, err)
			}
		case "yaml wrong":
			wantFaults(t, all[i+1], err)
		}
	}
}

func wantFaults(t *testing.T, want block, err error) {
	t.Helper()
	if err == nil || want.kind != "text" {
		t.Fatalf("got %v, want faults, and the block after it to tell them", err)
	}
	if diff := cmp.Diff(want.text, err.Error()+"\n"); diff != "" {
		t.Errorf("-documented +got:\n%s", diff)
	}
}

// Every key stands in a table under a heading, with its default.
func TestDocsKnowEveryKey(t *testing.T) {
	config, scenarios := read(t, "../docs/config.md"), read(t, "../docs/scenarios.md")
	place := map[string]string{
		"app": section(t, config, "## app"), "service": section(t, config, "### services"), "version": section(t, config, "### version"),
		"metrics": section(t, config, "### metrics"),
		"runs":    section(t, config, "## runs"), "cpus": section(t, config, "### cpus"), "gate": section(t, config, "## gate"), "acceptance": section(t, config, "### accept"),
		"baseline": section(t, config, "## baseline"), "": config,
		"scenario": section(t, scenarios, "## The scenario"), "arrivals": section(t, scenarios, "### arrivals"), "step": section(t, scenarios, "## Steps"),
		"subscribe": section(t, scenarios, "### subscribe"), "unsubscribe": section(t, scenarios, "### unsubscribe"),
		"call": section(t, scenarios, "### call"), "await": section(t, scenarios, "### await"), "find": section(t, scenarios, "### await"),
		"login": section(t, scenarios, "### login"), "secret": section(t, scenarios, "### login"), "moment": section(t, scenarios, "### pause"),
	}
	for definition, o := range schemaObjects(t) {
		for key, raw := range o.Properties {
			text := place[definition]
			switch definition {
			case "", "step": // their keys have sections of their own
				if !strings.Contains(text, "## "+key+"\n") && !strings.Contains(text, "`"+key+"`") {
					t.Errorf("there is no section for %s", key)
				}
				continue
			case "version", "secret", "moment":
				if !strings.Contains(text, key+":") {
					t.Errorf("%s.%s is not documented", definition, key)
				}
				continue
			}
			row := regexp.MustCompile("(?m)^\\| `" + key + "` \\|.*\\|$").FindString(text)
			if row == "" {
				t.Errorf("%s has no row for %q", definition, key)
				continue
			}
			var property struct{ Default any }
			if err := json.Unmarshal(raw, &property); err != nil {
				t.Fatal(err)
			}
			if property.Default == nil {
				continue
			}
			value, err := json.Marshal(property.Default)
			if err != nil {
				t.Fatal(err)
			}
			if want := "| `" + strings.Trim(string(value), `"`) + "` |"; !strings.Contains(row, want) {
				t.Errorf("%s.%s: got %s, want the default %s", definition, key, row, want)
			}
		}
	}
}

// section returns the text under a heading, up to the next of the same level or above.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n"+heading+"\n")
	if !found {
		t.Fatalf("no heading %q", heading)
	}
	level, _, _ := strings.Cut(heading, " ")
	if end := regexp.MustCompile(`(?m)^#{1,` + string(rune('0'+len(level))) + `} `).FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	return rest
}

// The table of built-in scenarios says what they are.
func TestDocsKnowTheBuiltInScenarios(t *testing.T) {
	text := section(t, read(t, "../docs/scenarios.md"), "## Built in")
	row := regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|.*\\| ([0-9]+) sessions at ([0-9]+/s)(?:, ([0-9]+) tasks, think time ([0-9]+) ms)? \\|$")
	rows := row.FindAllStringSubmatch(text, -1)
	if len(rows) != len(scenario.Names()) {
		t.Errorf("got %d rows, want one for each of %v", len(rows), scenario.Names())
	}
	for _, r := range rows {
		s, err := scenario.Builtin(r[1])
		if err != nil {
			t.Error(err)
			continue
		}
		rate, err := scenario.ParseRate(r[3])
		if err != nil {
			t.Fatal(err)
		}
		said := []string{r[2], r[4], r[5]}
		is := []string{string(scenario.AppendValue(nil, s.Arrivals.Sessions())), "", ""}
		if tasks, has := s.Vars["tasks"]; has {
			is[1], is[2] = string(scenario.AppendValue(nil, tasks)), string(scenario.AppendValue(nil, int64(s.Think.Mean()/time.Millisecond)))
		}
		if diff := cmp.Diff(said, is); diff != "" || rate != s.Arrivals.Rate {
			t.Errorf("%s: rate %v; -documented +is:\n%s", r[1], s.Arrivals.Rate, diff)
		}
	}
}
