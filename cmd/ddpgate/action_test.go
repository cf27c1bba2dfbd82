package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/github"
	"github.com/ddpgate/ddpgate/internal/githubtest"
	"github.com/ddpgate/ddpgate/report"
)

// headSHA is the head of the pull request that these tests are about.
var headSHA = strings.Repeat("a1", 20)

// A job is what a runner gives a step of ours, on a GitHub that is a fake.
type testJob struct {
	*githubtest.Fake
	t   *testing.T
	env map[string]string
	log bytes.Buffer
}

func pullEvent(from string) string {
	return fmt.Sprintf(`{"pull_request": {"number": 7, "state": "open", "head": {"sha": %q, "ref": "faster", "repo": {"full_name": %q}},
		"base": {"sha": "b2", "ref": "devel", "repo": {"full_name": %q}}, "labels": [{"name": "slow-is-fine"}]}}`, headSHA, from, githubtest.Repository)
}

func newJob(t *testing.T, event, payload string) *testJob {
	t.Helper()
	dir := t.TempDir()
	j := &testJob{Fake: githubtest.New(t), t: t}
	server := httptest.NewServer(j.Fake)
	t.Cleanup(server.Close)
	j.env = map[string]string{
		"GITHUB_API_URL": server.URL + "/api/v3", "GITHUB_GRAPHQL_URL": server.URL + "/api/graphql", "GITHUB_SERVER_URL": "https://ghe.example",
		"GITHUB_REPOSITORY": githubtest.Repository, "GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": filepath.Join(dir, "event.json"),
		"GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary.md"), "GITHUB_RUN_ID": "99",
		"GITHUB_WORKSPACE": dir, "RUNNER_TEMP": dir, "DDPGATE_INPUT_GITHUB_TOKEN": githubtest.Token, "GITHUB_TOKEN": githubtest.Token,
	}
	if err := os.WriteFile(j.env["GITHUB_EVENT_PATH"], []byte(payload), 0o644); err != nil {
		t.Fatal(err)
	}
	return j
}

func (j *testJob) command() *command {
	return &command{Stdin: strings.NewReader(""), Stdout: &j.log, Stderr: &j.log, Env: func(k string) string { return j.env[k] }}
}

// tell publishes what a measuring came to, as the action does after it.
func (j *testJob) tell(came outcome) int {
	j.t.Helper()
	a, err := j.command().action()
	if err != nil {
		j.t.Fatal(err)
	}
	return a.tell(j.t.Context(), came)
}

// text returns a file that the step wrote, empty if it did not.
func (j *testJob) text(variable string) string {
	b, _ := os.ReadFile(j.env[variable])
	return string(b)
}

// output returns a step's output.
func (j *testJob) output(name string) string {
	_, rest, found := strings.Cut(j.text("GITHUB_OUTPUT"), name+"<<_GitHubActionsFileCommandDelimeter_\n")
	if !found {
		return ""
	}
	value, _, _ := strings.Cut(rest, "\n_GitHubActionsFileCommandDelimeter_\n")
	return value
}

// came is a verdict with the exit code that it has where inconclusive warns.
func came(o gate.Outcome, reason string) outcome {
	v := &gate.Verdict{Outcome: o, Reason: reason, Design: gate.Pairs, Metrics: []gate.Finding{{Scenario: "tiny", Metric: "ram", Outcome: o, Gated: true, Base: 1e8, Head: 2e8, Change: 1}}}
	return outcome{heard: heard{shown: report.Comparison{Verdict: v}}, code: v.Exit(true)}
}

func TestTheActionTellsItsVerdict(t *testing.T) {
	tests := map[string]struct {
		outcome gate.Outcome
		code    int
		note    string // of the log
		first   string // line of the comment and the summary
	}{
		"pass":         {gate.Pass, exitPass, "", "### ✅ Pass: why"},
		"regression":   {gate.Regression, exitRegression, "::error::regression: why", "### ❌ Regression: why"},
		"inconclusive": {gate.Inconclusive, exitPass, "::warning::inconclusive: why", "### ❔ Inconclusive: why"},
		"unmeasured":   {gate.Unmeasured, exitUnmeasured, "::error::not measured: why", "### ⚠️ Not measured: why"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, "pull_request", pullEvent(githubtest.Repository))
			if code := j.tell(came(tc.outcome, "why")); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			if got := strings.TrimSpace(j.log.String()); got != tc.note {
				t.Errorf("log %q, want %q", got, tc.note)
			}
			all := j.Comments(7)
			if len(all) != 1 || !strings.HasPrefix(all[0].Body, tc.first+"\n") {
				t.Fatalf("comments %+v, want one that begins with %q", all, tc.first)
			}
			if !strings.Contains(all[0].Body, "(<https://ghe.example/meteor/meteor/actions/runs/99>)") {
				t.Errorf("no link to the run in:\n%s", all[0].Body)
			}
			if got := j.text("GITHUB_STEP_SUMMARY"); !strings.HasPrefix(got, tc.first+"\n") {
				t.Errorf("summary %q", got)
			}
			if got := j.output("verdict"); got != name {
				t.Errorf("output verdict %q", got)
			}
			if got, want := j.output("regressions"), map[bool]string{true: "1", false: "0"}[tc.outcome == gate.Regression]; got != want {
				t.Errorf("output regressions %q, want %q", got, want)
			}
			var v gate.Verdict
			b, err := os.ReadFile(j.output("summary-json"))
			if err == nil {
				err = json.Unmarshal(b, &v)
			}
			if err != nil || v.Outcome != tc.outcome {
				t.Errorf("summary-json: %v, %v", v.Outcome, err)
			}
			if b, err := os.ReadFile(j.output("report-markdown")); err != nil || !bytes.HasPrefix(b, []byte(tc.first)) {
				t.Errorf("report-markdown: %s, %v", b, err)
			}
			if b, err := os.ReadFile(j.output("report-html")); err != nil || !bytes.Contains(b, []byte("<!doctype html>")) && !bytes.Contains(b, []byte("<!DOCTYPE html>")) {
				t.Errorf("report-html: %.100s, %v", b, err)
			}
		})
	}
}

// TestTheCommentGoesWithTheVerdict pushes again and again: one comment, which says what is and, once it was bad, that it is over.
func TestTheCommentGoesWithTheVerdict(t *testing.T) {
	j := newJob(t, "pull_request", pullEvent(githubtest.Repository))
	for _, step := range []struct {
		outcome gate.Outcome
		want    string
	}{
		{gate.Pass, "### ✅ Pass: "}, {gate.Pass, "### ✅ Pass: "}, {gate.Regression, "### ❌ Regression: "}, {gate.Inconclusive, "### ❔ Inconclusive: "},
		{gate.Pass, "### ✅ Resolved: "}, {gate.Pass, "### ✅ Resolved: "}, {gate.Regression, "### ❌ Regression: "},
	} {
		j.tell(came(step.outcome, "why"))
		if all := j.Comments(7); len(all) != 1 || !strings.HasPrefix(all[0].Body, step.want) {
			t.Fatalf("after %v: %+v, want one comment that begins with %q", step.outcome, all, step.want)
		}
	}
	j.env["DDPGATE_INPUT_CONFIG"] = "perf/other.yml"
	j.tell(came(gate.Pass, "why"))
	if n := len(j.Comments(7)); n != 2 {
		t.Errorf("%d comments, want another for another configuration", n)
	}
}

// TestToHaveBeenMeasuredIsNoPass: without anything to hold the app against, nothing is resolved and no check succeeds.
func TestToHaveBeenMeasuredIsNoPass(t *testing.T) {
	alone := came(gate.Pass, "why")
	alone.shown.Verdict.Design = gate.Alone
	j := newJob(t, "pull_request", pullEvent(githubtest.Repository))
	for _, step := range []struct {
		outcome
		want string
	}{{came(gate.Regression, "why"), "### ❌ Regression: "}, {alone, "### Measured: "}, {came(gate.Pass, "why"), "### ✅ Pass: "}} {
		j.tell(step.outcome)
		if all := j.Comments(7); len(all) != 1 || !strings.HasPrefix(all[0].Body, step.want) {
			t.Errorf("%+v, want one comment that begins with %q", all, step.want)
		}
	}
	for want, tc := range map[github.Conclusion]publication{
		github.Neutral: {shown: alone.shown}, github.Success: {shown: came(gate.Pass, "why").shown}, github.Failure: {shown: came(gate.Unmeasured, "why").shown},
	} {
		if got := tc.check("x", headSHA, true).Conclusion; got != want {
			t.Errorf("check %q, want %q", got, want)
		}
	}
	if got := (publication{shown: came(gate.Inconclusive, "why").shown}).check("x", headSHA, false).Conclusion; got != github.Failure {
		t.Errorf("check %q of an inconclusive verdict that fails", got)
	}
}

func TestWhereThereIsACommentAtAll(t *testing.T) {
	fork, own := pullEvent("octocat/meteor"), pullEvent(githubtest.Repository)
	denied := &githubtest.Fault{Method: "POST", Path: "/comments", Times: 9, Status: 403, Body: `{"message": "Resource not accessible by integration"}`}
	tests := map[string]struct {
		event, payload, mode string
		fault                *githubtest.Fault
		comments, asked      int
		note                 string
	}{
		"a pull request of this repository": {"pull_request", own, "auto", nil, 1, 1, ""},
		"one from a fork":                   {"pull_request", fork, "auto", nil, 0, 0, ""},
		"one from a fork, with a token":     {"pull_request", fork, "always", nil, 1, 1, ""},
		"one from a fork, without":          {"pull_request", fork, "always", denied, 0, 1, "::warning::posting the comment: "},
		"a token that cannot write":         {"pull_request", own, "auto", denied, 0, 1, "::notice::the token cannot comment"},
		"a push":                            {"push", `{"ref": "refs/heads/devel"}`, "auto", nil, 0, 0, ""},
		"never":                             {"pull_request", own, "never", nil, 0, 0, ""},
		"GitHub refuses":                    {"pull_request", own, "auto", &githubtest.Fault{Method: "POST", Path: "/comments", Times: 9, Status: 422}, 0, 1, "::warning::posting the comment: "},
		"GitHub is tired":                   {"pull_request", own, "auto", &githubtest.Fault{Method: "GET", Path: "/comments", Times: 99, Status: 429, Header: map[string]string{"Retry-After": "0"}}, 0, 0, "::warning::comments of the pull request: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, tc.event, tc.payload)
			j.env["DDPGATE_INPUT_COMMENT"] = tc.mode
			if tc.fault != nil {
				j.Fail(*tc.fault)
			}
			if code := j.tell(came(gate.Regression, "why")); code != exitRegression {
				t.Errorf("exit code %d, want the verdict's, %d", code, exitRegression)
			}
			if n := len(j.Comments(7)); n != tc.comments {
				t.Errorf("%d comments, want %d", n, tc.comments)
			}
			if n := j.Count("POST", "/comments"); n != tc.asked {
				t.Errorf("posted %d times, want %d", n, tc.asked)
			}
			if !strings.Contains(j.log.String(), tc.note) || !strings.Contains(j.log.String(), "::error::regression: why") {
				t.Errorf("log %q, want %q", j.log.String(), tc.note)
			}
			if !strings.Contains(j.text("GITHUB_STEP_SUMMARY"), "### ❌ Regression: why") {
				t.Error("the summary does not say it")
			}
			if strings.Contains(j.log.String(), githubtest.Token) {
				t.Error("the token is in the log")
			}
		})
	}
}

func TestALabelLetsARegressionThrough(t *testing.T) {
	labelled := githubtest.Event{Event: "labeled", Actor: githubtest.User{Login: "hubot"}}
	labelled.Label.Name = "perf-accepted"
	tests := map[string]struct {
		outcome  gate.Outcome
		accept   string
		labels   []string
		broken   bool // labels cannot be read
		code     int
		says     string
		verdict  string
		firstHas string
	}{
		"it is there":             {gate.Regression, "perf-accepted", []string{"perf-accepted"}, false, exitPass, "by the label perf-accepted, which hubot set, until it is taken off", "regression", "⚠️ Regression, accepted: why"},
		"it is not there":         {gate.Regression, "perf-accepted", []string{"bug"}, false, exitRegression, "", "regression", "❌ Regression: why"},
		"none lets through":       {gate.Regression, "", []string{"perf-accepted"}, false, exitRegression, "", "regression", "❌ Regression: why"},
		"it accepts no crash":     {gate.Unmeasured, "perf-accepted", []string{"perf-accepted"}, false, exitUnmeasured, "", "unmeasured", "⚠️ Not measured: why"},
		"the event has it":        {gate.Regression, "slow-is-fine", nil, true, exitPass, "by the label slow-is-fine, until it is taken off", "regression", "⚠️ Regression, accepted: why"},
		"the event has it not":    {gate.Regression, "perf-accepted", []string{"perf-accepted"}, true, exitRegression, "", "regression", "❌ Regression: why"},
		"inconclusive stays that": {gate.Inconclusive, "perf-accepted", []string{"perf-accepted"}, false, exitPass, "", "inconclusive", "❔ Inconclusive: why"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, "pull_request", pullEvent(githubtest.Repository))
			j.env["DDPGATE_INPUT_ACCEPT_LABEL"] = tc.accept
			j.Labels[7], j.Events[7] = tc.labels, []githubtest.Event{labelled}
			if tc.broken {
				j.Fail(githubtest.Fault{Method: "GET", Path: "/labels", Times: 9, Status: 403})
			}
			if code := j.tell(came(tc.outcome, "why")); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			body := j.Comments(7)[0].Body
			if first, _, _ := strings.Cut(body, "\n"); !strings.Contains(first, tc.firstHas) || !strings.Contains(body, tc.says) {
				t.Errorf("comment:\n%s\nwant %q and %q", body, tc.firstHas, tc.says)
			}
			if got := j.output("verdict"); got != tc.verdict {
				t.Errorf("output verdict %q, want %q: a label changes the exit code only", got, tc.verdict)
			}
		})
	}
}

func TestHostileTextStaysText(t *testing.T) {
	evil := "rose\n::error::x\n_GitHubActionsFileCommandDelimeter_\nverdict<<_GitHubActionsFileCommandDelimeter_\npass @octocat <!-- ddpgate:" +
		threadKey("", "") + " pass --> ![x](http://e.vil/p) " + githubtest.Token
	j := newJob(t, "pull_request", pullEvent(githubtest.Repository))
	if code := j.tell(came(gate.Regression, evil)); code != exitRegression {
		t.Errorf("exit code %d", code)
	}
	body := j.Comments(7)[0].Body
	if strings.Count(body, "<!--") != 1 || strings.Contains(body, "\n::error") || !strings.HasSuffix(body, " regression -->") {
		t.Errorf("the comment obeys:\n%s", body)
	}
	if got := j.output("verdict"); got != "regression" || strings.Count(j.text("GITHUB_OUTPUT"), "verdict<<") != 1 {
		t.Errorf("output verdict %q", got)
	}
	for _, line := range strings.Split(j.log.String(), "\n") {
		if strings.HasPrefix(line, "::") && !strings.HasPrefix(line, "::error::regression: rose%0A") {
			t.Errorf("a command in the log: %q", line)
		}
	}
	if strings.Contains(j.log.String()+j.text("GITHUB_STEP_SUMMARY"), githubtest.Token) {
		t.Error("the token is in the log or the summary")
	}
}

func TestMistakesAreToldWhereTheyAre(t *testing.T) {
	const workflow = "on: pull_request\njobs:\n  perf:\n    steps:\n      - uses: ddpgate/ddpgate@v1\n        with:\n          runs: many\n          comment: allways\n"
	tests := map[string]struct {
		inputs map[string]string
		config string
		want   string
	}{
		"an unknown choice":         {map[string]string{"COMMENT": "allways"}, "", `::error file=.github/workflows/perf.yml,line=8::input comment: unknown choice "allways", did you mean "always"?`},
		"one that is not there":     {map[string]string{"INCONCLUSIVE": "wrn"}, "", `::error file=.github/workflows/perf.yml::input inconclusive: unknown choice "wrn", did you mean "warn"?`},
		"a threshold that is none":  {map[string]string{"THRESHOLDS": "ram"}, "", `input thresholds: "ram" is not of the form metric=percent`},
		"a missing token":           {map[string]string{"GITHUB_TOKEN": ""}, "", `input github-token: it is missing`},
		"a baseline without a key":  {map[string]string{"UPDATE_BASELINE": "true"}, "", `input update-baseline: it needs the key`},
		"a configuration at fault":  {nil, "runs: {min: 1}\nscenaros: []\n", `::error col=1,file=ddpgate.yml,line=2::ddpgate.yml:2:1: unknown key`},
		"one that is not there yet": {map[string]string{"CONFIG": "nowhere.yml"}, "", `nowhere.yml`},
		"a directory that is none":  {map[string]string{"WORKING_DIRECTORY": "nowhere"}, "", `input working-directory: chdir nowhere`},
		"runs that are no number":   {map[string]string{"RUNS": "many"}, "", `--runs`},
		"an unknown scenario":       {map[string]string{"SCENARIOS": "tasks-reactiv"}, "", `did you mean "tasks-reactive"?`},
		"an unknown metric":         {map[string]string{"THRESHOLDS": "cpu_second: 10%"}, "", `did you mean "cpu_seconds"?`},
		"what looks like a flag":    {map[string]string{"SCENARIOS": "--no-gate"}, "", `unknown scenario "--no-gate"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, "pull_request", pullEvent(githubtest.Repository))
			dir := j.env["GITHUB_WORKSPACE"]
			t.Chdir(dir)
			if err := os.MkdirAll(".github/workflows", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(".github/workflows/perf.yml", []byte(workflow), 0o644); err != nil {
				t.Fatal(err)
			}
			if tc.config != "" {
				if err := os.WriteFile("ddpgate.yml", []byte(tc.config), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			j.env["GITHUB_WORKFLOW_REF"] = "meteor/meteor/.github/workflows/perf.yml@refs/pull/7/merge"
			for k, v := range tc.inputs {
				j.env[inputPrefix+k] = v
			}
			if code := j.command().Main(context.Background(), []string{"action"}); code != exitUsage {
				t.Errorf("exit code %d, want %d", code, exitUsage)
			}
			if !slices.ContainsFunc(strings.Split(j.log.String(), "\n"), func(line string) bool {
				return strings.HasPrefix(line, "::error") && strings.Contains(line, tc.want)
			}) {
				t.Errorf("no annotation with %q in:\n%s", tc.want, j.log.String())
			}
			if got := j.output("verdict"); got != "unmeasured" {
				t.Errorf("output verdict %q, want unmeasured", got)
			}
		})
	}
}

// TestInputsBecomeACommandLine holds every input against the flag that it becomes.
func TestInputsBecomeACommandLine(t *testing.T) {
	env := map[string]string{
		"CONFIG": "perf.yml", "APP": "node main.js", "URL": "http://127.0.0.1:3000", "BASE_APP": "node base.js", "SCENARIOS": "tasks-reactive,\n chat.yml ",
		"RUNS": "5", "MAX_RUNS": "9", "THRESHOLDS": "ram: 10%\ntime = 5%, ok=1%", "CONFIDENCE": "0.95", "BUDGET": "45m", "STORE": "dir:x",
		"INCONCLUSIVE": "fail", "NODE_METRICS": "true", "BASELINE": "main", "UPDATE_BASELINE": "true", "HISTORY": "true", "ISSUE": "never",
	}
	i := readInputs(func(k string) string { return env[strings.TrimPrefix(k, inputPrefix)] })
	if err := i.check(github.Job{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"--config=perf.yml", "run", "--out=r.json", "--head-app=node main.js", "--base-app=node base.js",
		"--url=http://127.0.0.1:3000", "--node-metrics", "--runs=5", "--max-runs=9", "--budget=45m", "--confidence=0.95", "--inconclusive=fail", "--store=dir:x",
		"--save-baseline=main", "--slim", "--threshold=ram=10%", "--threshold=time=5%", "--threshold=ok=1%", "--", "tasks-reactive", "chat.yml"}
	if got := i.args("r.json", true); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	maps.DeleteFunc(env, func(k, _ string) bool { return k != "BASELINE" })
	i = readInputs(func(k string) string { return env[strings.TrimPrefix(k, inputPrefix)] })
	if got, want := i.args("r.json", false), []string{"run", "--out=r.json", "--inconclusive=warn", "--baseline=main"}; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestActionYMLAndTheCommandAgree: what action.yml hands on is what is read, no more and no less.
func TestActionYMLAndTheCommandAgree(t *testing.T) {
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	asked := make(map[string]bool)
	readInputs(func(k string) string { asked[k] = true; return "" })
	handed := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^ +(DDPGATE_INPUT_[A-Z_]+):`).FindAllStringSubmatch(string(text), -1) {
		handed[m[1]] = true
	}
	if !maps.Equal(asked, handed) {
		t.Errorf("read: %v\nhanded on: %v", slices.Sorted(maps.Keys(asked)), slices.Sorted(maps.Keys(handed)))
	}
}
