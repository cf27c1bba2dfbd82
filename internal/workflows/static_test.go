// Package workflows tests the GitHub Action and the workflows of this repository and of its documentation: what can be read off
// them here, and with the build tag act, how they run.
package workflows

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/ddpgate/ddpgate/config"
)

const root = "../.."

// An action is what these tests need of an action.yml.
type action struct {
	Inputs map[string]struct {
		Description string
		Default     *string
		Required    bool
	}
	Outputs map[string]struct {
		Description string
		Value       string
	}
	Runs struct {
		Using string
		Steps []step
	}
}

type step struct {
	Uses, Run, Shell string
	Env, With        map[string]string
}

// A workflow is what these tests need of a workflow.
type workflow struct {
	On          map[string]any
	Permissions *map[string]string
	Concurrency struct {
		Group  string
		Cancel any `yaml:"cancel-in-progress"`
	}
	Jobs map[string]struct {
		Permissions *map[string]string
		Timeout     int `yaml:"timeout-minutes"`
		Steps       []step
	}
}

func read(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

var actions = []string{"action.yml", "action/comment/action.yml", "action/pin/action.yml"}

// workflowFiles are this repository's workflows and those of the documentation.
func workflowFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, dir := range []string{".github/workflows", "docs/workflows"} {
		found, err := filepath.Glob(filepath.Join(root, dir, "*.yml"))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(found), err)
		}
		for _, f := range found {
			if filepath.Base(f) != config.File {
				files = append(files, filepath.ToSlash(filepath.Join(dir, filepath.Base(f))))
			}
		}
	}
	return files
}

// steps returns every step that runs, by where it is.
func steps(t *testing.T) map[string]step {
	t.Helper()
	all := make(map[string]step)
	for _, path := range actions {
		var a action
		read(t, path, &a)
		for i, s := range a.Runs.Steps {
			all[fmt.Sprintf("%s: step %d", path, i+1)] = s
		}
	}
	for _, path := range workflowFiles(t) {
		var w workflow
		read(t, path, &w)
		for name, job := range w.Jobs {
			for i, s := range job.Steps {
				all[fmt.Sprintf("%s: %s: step %d", path, name, i+1)] = s
			}
		}
	}
	if len(all) < 20 {
		t.Fatalf("found %d steps only", len(all))
	}
	return all
}

// TestNothingIsSplicedIntoScripts: an expression in a script is text that the shell runs, whoever wrote it.
func TestNothingIsSplicedIntoScripts(t *testing.T) {
	for where, s := range steps(t) {
		if strings.Contains(s.Run, "${{") {
			t.Errorf("%s: an expression in its script: hand it over by env", where)
		}
	}
}

// TestActionsArePinned: a tag may be moved to other code, a commit may not. Ours is the exception that its readers are told of.
func TestActionsArePinned(t *testing.T) {
	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	for where, s := range steps(t) {
		if s.Uses != "" && !strings.HasPrefix(s.Uses, "./") && !strings.HasPrefix(s.Uses, "ddpgate/ddpgate") && !pinned.MatchString(s.Uses) {
			t.Errorf("%s: %s is not pinned to a commit", where, s.Uses)
		}
	}
}

// TestInputsGoThroughTheEnvironment holds action.yml's inputs against what it hands on: every one, under the name that is read.
func TestInputsGoThroughTheEnvironment(t *testing.T) {
	for _, path := range actions {
		var a action
		read(t, path, &a)
		if a.Runs.Using != "composite" {
			t.Errorf("%s runs as %q", path, a.Runs.Using)
		}
		handed := make(map[string]string)
		for _, s := range a.Runs.Steps {
			for variable, value := range s.Env {
				name, ok := strings.CutPrefix(value, "${{ inputs.")
				if !ok {
					continue
				}
				name = strings.TrimSuffix(name, " }}")
				handed[name] = variable
				want := "DDPGATE_INPUT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
				if strings.HasPrefix(variable, "DDPGATE_INPUT_") && variable != want {
					t.Errorf("%s: %s is handed on as %s, want %s", path, name, variable, want)
				}
			}
		}
		for name, input := range a.Inputs {
			if handed[name] == "" {
				t.Errorf("%s: input %s is not handed on by env", path, name)
			}
			if input.Description == "" || input.Default == nil && !input.Required {
				t.Errorf("%s: input %s wants a description and a default", path, name)
			}
		}
		for name := range handed {
			if _, known := a.Inputs[name]; !known {
				t.Errorf("%s: %s is handed on and is no input", path, name)
			}
		}
		for name, output := range a.Outputs {
			if output.Description == "" || !regexp.MustCompile(`^\$\{\{ steps\.(gate|pin)\.outputs\.`+name+` \}\}$`).MatchString(output.Value) {
				t.Errorf("%s: output %s is %q", path, name, output.Value)
			}
		}
	}
}

func TestWorkflowsAskForLittle(t *testing.T) {
	for _, path := range workflowFiles(t) {
		var w workflow
		read(t, path, &w)
		if w.Permissions == nil || len(*w.Permissions) > 0 {
			t.Errorf("%s: permissions at the top are not {}", path)
		}
		if w.Concurrency.Group == "" {
			t.Errorf("%s: no concurrency group", path)
		}
		if _, pulls := w.On["pull_request"]; pulls && w.Concurrency.Cancel != true && !strings.Contains(fmt.Sprint(w.Concurrency.Cancel), "pull_request") {
			t.Errorf("%s: a newer push does not cancel the run before", path)
		}
		if _, risky := w.On["pull_request_target"]; risky {
			t.Errorf("%s: pull_request_target would run a stranger's code with rights", path)
		}
		for name, job := range w.Jobs {
			if job.Permissions == nil || job.Timeout == 0 {
				t.Errorf("%s: job %s has no permissions or no timeout-minutes of its own", path, name)
				continue
			}
			_, pulls := w.On["pull_request"]
			for _, s := range job.Steps {
				if s.With["update-baseline"] == "true" && (pulls || w.Concurrency.Cancel != false) {
					t.Errorf("%s: who writes baselines must wait in line, and be no pull request", path)
				}
				checksOut := strings.HasPrefix(s.Uses, "actions/checkout@")
				if checksOut && s.With["persist-credentials"] == "" {
					t.Errorf("%s: job %s leaves its token in the checkout without saying so", path, name)
				}
			}
		}
		for _, at := range schedules(w) {
			if strings.HasPrefix(at, "0 ") {
				t.Errorf("%s: it starts on the hour, when everybody's does: %s", path, at)
			}
		}
	}
}

func schedules(w workflow) []string {
	var all []string
	entries, _ := w.On["schedule"].([]any)
	for _, e := range entries {
		if entry, ok := e.(map[string]any); ok {
			all = append(all, fmt.Sprint(entry["cron"]))
		}
	}
	return all
}

func TestConfigurationsAreRead(t *testing.T) {
	for _, path := range []string{".github/ddpgate.yml", "docs/workflows/ddpgate.yml"} {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := config.Parse(path, text, os.ReadFile); err != nil {
			t.Error(err)
		}
	}
}

// TestThePageNamesEverything: docs/action.md has a row for every input and output, and shows the workflows that there are.
func TestThePageNamesEverything(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/action.md"))
	if err != nil {
		t.Fatal(err)
	}
	var a action
	read(t, "action.yml", &a)
	for _, name := range slices.Concat(slices.Collect(maps.Keys(a.Inputs)), slices.Collect(maps.Keys(a.Outputs))) {
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("docs/action.md has no row for %s", name)
		}
	}
	for _, path := range workflowFiles(t) {
		if short, ours := strings.CutPrefix(path, "docs/"); ours && !strings.Contains(string(page), "("+short+")") {
			t.Errorf("docs/action.md does not link to %s", short)
		}
	}
}
