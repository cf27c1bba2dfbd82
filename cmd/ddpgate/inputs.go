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

	"github.com/ddpgate/ddpgate/baseline"
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
	history, issueMode              string
	commentMode, inconclusive       string
	nodeMetrics                     string
	directory, token                string
}

// What the inputs comment and issue may say.
const (
	postAuto   = "auto"
	postAlways = "always"
	postNever  = "never"
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
		history: get("history", "false"), issueMode: get("issue", postAuto),
		commentMode: get("comment", postAuto), inconclusive: get("inconclusive", "warn"), nodeMetrics: get("node-metrics", "false"),
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
	choice("comment", i.commentMode, postAuto, postAlways, postNever)
	choice("issue", i.issueMode, postAuto, postAlways, postNever)
	choice("history", i.history, "true", "false")
	choice("inconclusive", i.inconclusive, "warn", "fail")
	choice("node-metrics", i.nodeMetrics, "true", "false")
	choice("update-baseline", i.updateBaseline, "true", "false")
	if i.updateBaseline == "true" {
		if i.baseline == "" {
			faults = append(faults, errors.New("input update-baseline: it needs the key to save under, in the input baseline"))
		} else if err := baseline.CheckKey(i.baseline); err != nil {
			faults = append(faults, fmt.Errorf("input baseline: %w", err))
		}
	}
	if i.history == "true" && i.updateBaseline != "true" {
		faults = append(faults, errors.New("input history: it needs the record in the history, by update-baseline: true"))
	}
	if i.issueMode == postAlways && i.history != "true" {
		faults = append(faults, errors.New("input issue: it needs the verdict on the history, by history: true"))
	}
	if _, err := i.thresholdFlags(); err != nil {
		faults = append(faults, err)
	}
	wanted := i.commentMode != postNever && job.Pull.Number != 0 && !job.ReadOnly()
	if i.token == "" && wanted {
		faults = append(faults, errors.New("input github-token: it is missing, and without it there is no comment; comment: never needs none"))
	}
	if i.token == "" && i.keepsIssue(job) {
		faults = append(faults, errors.New("input github-token: it is missing, and without it there is no issue; issue: never needs none"))
	}
	return errors.Join(faults...)
}

// keepsIssue says whether the job keeps the issue of the key's history. A pull request's run, or one that follows it, never does: it
// may be anybody's.
func (i *inputs) keepsIssue(job github.Job) bool {
	ofPull := job.Pull.Number != 0 || strings.HasPrefix(job.Event, "pull_request") || strings.HasPrefix(job.Head.Event, "pull_request")
	return i.history == "true" && i.issueMode != postNever && !ofPull
}

// flags are a command line in the making.
type flags []string

// add adds a flag that has a value.
func (f *flags) add(name, value string) {
	if value != "" {
		*f = append(*f, "--"+name+"="+value)
	}
}

// strictly adds how strictly it is judged, and the store.
func (f *flags) strictly(i *inputs) {
	f.add("confidence", i.confidence)
	f.add("inconclusive", i.inconclusive)
	f.add("store", i.store)
}

// args is the command line that does what is asked for, but for the directory. Where there are pairs, the baseline is only written.
func (i *inputs) args(out string, pairs bool) []string {
	var f flags
	f.add("config", i.config)
	f = append(f, "run", "--out="+out)
	f.add("head-app", i.app)
	f.add("base-app", i.baseApp)
	f.add("url", i.url)
	if i.nodeMetrics == "true" {
		f = append(f, "--node-metrics")
	}
	f.add("runs", i.runs)
	f.add("max-runs", i.maxRuns)
	f.add("budget", i.budget)
	f.strictly(i)
	if i.updateBaseline == "true" {
		f.add("save-baseline", i.baseline)
		if i.history == "true" { // nights add up, and what a history is judged by is in the slim record
			f = append(f, "--slim")
		}
	}
	if !pairs {
		f.add("baseline", i.baseline)
	}
	thresholds, _ := i.thresholdFlags() // checked
	f = append(f, thresholds...)
	if names := words(i.scenarios); len(names) > 0 {
		f = append(append(f, "--"), names...)
	}
	return f
}

// historyArgs is the command line that judges the history of the key, as strictly as the record.
func (i *inputs) historyArgs() []string {
	var f flags
	f.add("config", i.config)
	f = append(f, "history", "--gate")
	f.strictly(i)
	thresholds, _ := i.thresholdFlags() // checked
	return append(append(f, thresholds...), "--", i.baseline)
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
