package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/ddpgate/ddpgate/github"
	"github.com/ddpgate/ddpgate/internal/nearest"
)

// inputPrefix begins the environment variables by which action.yml hands its inputs on: DDPGATE_INPUT_MAX_RUNS is max-runs.
// They are not called INPUT_…: GitHub sets no such variable for a composite action, and some other runners do.
const inputPrefix = "DDPGATE_INPUT_"

// inputs are what the action is asked for, as text.
type inputs struct {
	config, app, url, baseApp       string
	scenarios, runs, maxRuns        string
	thresholds, confidence, budget  string
	acceptLabel                     string
	baseline, store, updateBaseline string
	commentMode, inconclusive       string
	nodeMetrics                     string
	directory, token                string
}

// What the input comment may say.
const (
	commentAuto   = "auto"
	commentAlways = "always"
	commentNever  = "never"
)

// readInputs reads the inputs and puts the defaults in.
func readInputs(env func(string) string) inputs {
	get := func(name, otherwise string) string {
		value := strings.TrimSpace(env(inputPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))))
		if value == "" {
			return otherwise
		}
		return value
	}
	return inputs{
		config: get("config", ""), app: get("app", ""), url: get("url", ""), baseApp: get("base-app", ""),
		scenarios: get("scenarios", ""), runs: get("runs", ""), maxRuns: get("max-runs", ""),
		thresholds: get("thresholds", ""), confidence: get("confidence", ""), budget: get("budget", ""),
		acceptLabel: get("accept-label", ""),
		baseline:    get("baseline", ""), store: get("store", ""), updateBaseline: get("update-baseline", "false"),
		commentMode: get("comment", commentAuto), inconclusive: get("inconclusive", "warn"), nodeMetrics: get("node-metrics", "false"),
		directory: get("working-directory", ""), token: get("github-token", ""),
	}
}

// check returns every mistake in the inputs that the command line does not find.
func (i *inputs) check(job github.Job) error {
	var faults []error
	choice := func(input, value string, known ...string) {
		for _, word := range known {
			if value == word {
				return
			}
		}
		faults = append(faults, fmt.Errorf("input %s: %w", input, nearest.Unknown("choice", value, known)))
	}
	choice("comment", i.commentMode, commentAuto, commentAlways, commentNever)
	choice("inconclusive", i.inconclusive, "warn", "fail")
	choice("node-metrics", i.nodeMetrics, "true", "false")
	choice("update-baseline", i.updateBaseline, "true", "false")
	if i.updateBaseline == "true" && i.baseline == "" {
		faults = append(faults, errors.New("input update-baseline: it needs the key to save under, in the input baseline"))
	}
	if _, err := i.thresholdFlags(); err != nil {
		faults = append(faults, err)
	}
	wanted := i.commentMode != commentNever && job.Pull.Number != 0 && !job.ReadOnly()
	if i.token == "" && wanted {
		faults = append(faults, errors.New("input github-token: it is missing, and without it there is no comment; comment: never needs none"))
	}
	return errors.Join(faults...)
}

// args is the command line that does what is asked for, but for the directory. Where there are pairs, the baseline is only written.
func (i *inputs) args(out string, pairs bool) []string {
	var args []string
	flag := func(name, value string) {
		if value != "" {
			args = append(args, "--"+name+"="+value)
		}
	}
	flag("config", i.config)
	args = append(args, "run", "--out="+out)
	flag("head-app", i.app)
	flag("base-app", i.baseApp)
	flag("url", i.url)
	if i.nodeMetrics == "true" {
		args = append(args, "--node-metrics")
	}
	flag("runs", i.runs)
	flag("max-runs", i.maxRuns)
	flag("budget", i.budget)
	flag("confidence", i.confidence)
	flag("inconclusive", i.inconclusive)
	flag("store", i.store)
	if i.updateBaseline == "true" {
		flag("save-baseline", i.baseline)
	}
	if !pairs {
		flag("baseline", i.baseline)
	}
	thresholds, _ := i.thresholdFlags() // checked
	args = append(args, thresholds...)
	if names := words(i.scenarios); len(names) > 0 {
		args = append(append(args, "--"), names...)
	}
	return args
}

// thresholdFlags reads the thresholds, one a line or separated by commas: ram=10%, or ram: 10%.
func (i *inputs) thresholdFlags() ([]string, error) {
	var flags []string
	var faults []error
	for _, item := range strings.FieldsFunc(i.thresholds, func(r rune) bool { return r == ',' || r == '\n' }) {
		item = strings.TrimSpace(item)
		at := strings.IndexAny(item, "=:")
		switch {
		case item == "":
		case at < 1:
			faults = append(faults, fmt.Errorf("input thresholds: %q is not of the form metric=percent", item))
		default:
			flags = append(flags, "--threshold="+strings.TrimSpace(item[:at])+"="+strings.TrimSpace(item[at+1:]))
		}
	}
	return flags, errors.Join(faults...)
}

// words are separated by blanks, ends of lines or commas.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == ',' })
}

// lines are an error's faults, one a line.
func lines(err error) []string { return strings.Split(strings.TrimRight(err.Error(), "\n"), "\n") }

// placed is how a fault says where it is.
var placed = regexp.MustCompile(`^([^\s:][^:]*):(\d+):(\d+): `)

// filePlace is the place that a fault names, relative to the repository's root, which is where GitHub looks.
func filePlace(env func(string) string, fault string) github.Place {
	m := placed.FindStringSubmatch(fault)
	if m == nil {
		return github.Place{}
	}
	path, err := filepath.Abs(m[1])
	if err != nil {
		return github.Place{}
	}
	if rel, err := filepath.Rel(env("GITHUB_WORKSPACE"), path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	line, _ := strconv.Atoi(m[2])
	column, _ := strconv.Atoi(m[3])
	return github.Place{File: filepath.ToSlash(path), Line: line, Column: column}
}

// namedInput finds the input that a fault is about.
var namedInput = regexp.MustCompile(`^input ([a-z-]+): `)

// workflowPlace is where the workflow gives the input that a fault names: GitHub says which file that is, the line is looked for.
func workflowPlace(env func(string) string, fault string) github.Place {
	m := namedInput.FindStringSubmatch(fault)
	_, file, ok := strings.Cut(env("GITHUB_WORKFLOW_REF"), "/.github/")
	if m == nil || !ok {
		return github.Place{}
	}
	file, _, _ = strings.Cut(".github/"+file, "@")
	at := github.Place{File: file}
	text, err := os.ReadFile(filepath.Join(env("GITHUB_WORKSPACE"), file))
	if err != nil {
		return at
	}
	gives := regexp.MustCompile(`^\s+` + regexp.QuoteMeta(m[1]) + `:`)
	scanner := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; scanner.Scan(); n++ {
		if gives.MatchString(scanner.Text()) {
			at.Line = n
			return at
		}
	}
	return at
}
