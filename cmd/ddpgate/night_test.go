package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/github"
	"github.com/ddpgate/ddpgate/internal/githubtest"
	"github.com/ddpgate/ddpgate/record"
)

// A nightJob is a job that runs every night, on one key of one store.
type nightJob struct {
	*testJob
	made int // nights
}

func newNightJob(t *testing.T, event, payload string) *nightJob {
	j := &nightJob{testJob: newJob(t, event, payload)}
	t.Chdir(j.env["GITHUB_WORKSPACE"])
	for name, value := range map[string]string{"BASELINE": "nightly", "UPDATE_BASELINE": "true", "HISTORY": "true", "STORE": "dir:store"} {
		j.env[inputPrefix+name] = value
	}
	return j
}

func newScheduled(t *testing.T) *nightJob {
	t.Helper()
	return newNightJob(t, "schedule", `{"schedule": "23 3 * * *"}`)
}

// save appends nights to the key's history, whose head uses so many times the processor time of base.
func (j *nightJob) save(n int, worse float64) (last baseline.Entry) {
	j.t.Helper()
	for range n {
		last = j.keep(worse, func(*record.Record) {})
	}
	return last
}

// keep appends one night, after a change to its record.
func (j *nightJob) keep(worse float64, change func(*record.Record)) baseline.Entry {
	j.t.Helper()
	store, err := baseline.Open("dir:store", nil)
	if err != nil {
		j.t.Fatal(err)
	}
	rec := pairs(worse * (1 + 0.003*float64(j.made%3)))
	j.made++
	rec.Created = rec.Created.AddDate(0, 0, j.made)
	rec.Commit, rec.Apps[record.Head] = fmt.Sprintf("%040x", j.made), record.App{Version: fmt.Sprint("v", j.made)}
	change(rec)
	e, err := store.Save(j.t.Context(), "nightly", rec, time.Now())
	if err != nil {
		j.t.Fatal(err)
	}
	return e
}

// night does what the action does after a night's measuring came to pass, and returns the exit code.
func (j *nightJob) night() int { return j.after(came(gate.Pass, "why")) }

func (j *nightJob) after(measured outcome) int {
	j.t.Helper()
	a, err := j.command().action()
	if err != nil {
		j.t.Fatal(err)
	}
	_ = os.Remove(j.env["GITHUB_OUTPUT"]) // each night is a job of its own
	measured.night = a.follow(j.t.Context(), measured)
	return a.tell(j.t.Context(), measured)
}

// standing says of each issue whether it is open, oldest first.
func (j *nightJob) standing() string {
	var all []string
	for _, i := range j.Issues() {
		all = append(all, i.State)
	}
	return strings.Join(all, " ")
}

// expect holds a night against its exit code, the issues after it and how often the newest of them was commented on.
func (j *nightJob) expect(what string, code int, issues string, comments int) {
	j.t.Helper()
	j.log.Reset()
	if got := j.night(); got != code {
		j.t.Fatalf("%s: exit code %d, want %d:\n%s", what, got, code, j.log.String())
	}
	if got := j.standing(); got != issues {
		j.t.Fatalf("%s: issues %q, want %q:\n%s", what, got, issues, j.log.String())
	}
	all := j.Issues()
	if n := len(all); n > 0 {
		if got := j.Comments(all[n-1].Number); len(got) != comments {
			j.t.Fatalf("%s: comments %+v, want %d", what, got, comments)
		}
	}
}

// newest is the newest issue's first line.
func (j *nightJob) newest() githubtest.Issue {
	j.t.Helper()
	all := j.Issues()
	if len(all) == 0 {
		j.t.Fatal("there is no issue")
	}
	return all[len(all)-1]
}

// promote takes a night as it is, as a maintainer does.
func (j *nightJob) promote(id, reason string) {
	j.t.Helper()
	if code := j.command().Main(context.Background(), []string{"baseline", "promote", "nightly", id, "--store", "dir:store", "--accept", reason}); code != exitPass {
		j.t.Fatalf("promote: exit code %d:\n%s", code, j.log.String())
	}
}

// TestTheIssueGoesWithTheHistory lives through a year: too little to say, a step, another night of it, recovery, a new step, and one
// that is accepted.
func TestTheIssueGoesWithTheHistory(t *testing.T) {
	j := newScheduled(t)
	j.save(2, 1)
	j.expect("two nights say nothing", exitPass, "", 0)
	if got := j.output("history-verdict"); got != "inconclusive" {
		t.Errorf("output history-verdict %q", got)
	}
	j.save(8, 1)
	j.expect("ten nights as one", exitPass, "", 0)
	j.save(3, 1.3)
	j.expect("a step", exitRegression, "open", 0)
	first := j.newest()
	if !strings.HasPrefix(first.Title, "Performance of nightly: cpu_seconds of tiny changed by +30") || !strings.HasPrefix(first.Body, "### ❌ Regression in the history of nightly: ") {
		t.Errorf("issue %q:\n%s", first.Title, first.Body)
	}
	for _, want := range []string{fmt.Sprintf("%040x", 10), fmt.Sprintf("%040x", 11), "actions/runs/99", "13 records", "baseline promote nightly sha256:"} {
		if !strings.Contains(first.Body, want) {
			t.Errorf("no %q in:\n%s", want, first.Body)
		}
	}
	if got := j.output("issue"); got != first.URL {
		t.Errorf("output issue %q, want %q", got, first.URL)
	}
	j.save(5, 1.3)
	j.expect("the same step", exitRegression, "open", 0)
	if body := j.newest().Body; !strings.Contains(body, "18 records") {
		t.Errorf("the issue was not written anew:\n%s", body)
	}
	j.save(8, 1)
	j.expect("it was made good", exitPass, "closed", 1)
	if i := j.newest(); i.StateReason != "completed" || !strings.HasPrefix(i.Body, "### ✅ Resolved in the history of nightly: ") {
		t.Errorf("closed: %+v", i)
	}
	if c := j.Comments(first.Number)[0].Body; !strings.HasPrefix(c, "Resolved: ") || !strings.Contains(c, "made good since") {
		t.Errorf("the last word:\n%s", c)
	}
	j.expect("it stays so", exitPass, "closed", 1)
	last := j.save(4, 1.4)
	j.expect("a new step is a new issue", exitRegression, "closed open", 0)
	j.promote(last.ID, "new driver")
	j.expect("it was accepted", exitPass, "closed closed", 1)
	if c := j.Comments(j.newest().Number)[0].Body; !strings.Contains(c, "accepted: new driver") {
		t.Errorf("the last word:\n%s", c)
	}
	j.save(5, 1.4)
	j.expect("it stays accepted", exitPass, "closed closed", 1)
}

// TestTheCommandInTheIssueWorks, though the newest night says nothing: none of its runs may be judged, or it did not run the scenario.
func TestTheCommandInTheIssueWorks(t *testing.T) {
	for name, tc := range map[string]struct {
		last     func(*record.Record)
		issue    string
		comments int
	}{
		"a night as the others": {func(*record.Record) {}, "closed", 1},
		"invalid runs": {func(r *record.Record) {
			for i := range r.Scenarios[0].Runs {
				r.Scenarios[0].Runs[i].Outcome = record.Invalid
			}
		}, "closed", 1},
		"a scenario instead of it": {func(r *record.Record) { r.Scenarios[0].Name = "another" }, "open", 0}, // of which too little is known
	} {
		t.Run(name, func(t *testing.T) {
			j := newScheduled(t)
			j.save(10, 1)
			j.save(4, 1.3)
			j.keep(1.3, tc.last)
			j.expect("a step", exitRegression, "open", 0)
			printed := regexp.MustCompile("`ddpgate (baseline promote .*)`").FindStringSubmatch(j.newest().Body)
			if printed == nil {
				t.Fatalf("no command in:\n%s", j.newest().Body)
			}
			if code := j.command().Main(t.Context(), strings.Fields(printed[1])); code != exitPass {
				t.Fatalf("%s: exit code %d:\n%s", printed[1], code, j.log.String())
			}
			j.expect("it was accepted", exitPass, tc.issue, tc.comments)
		})
	}
}

// TestWhatWasClosedByHandStaysClosed until something else gets worse.
func TestWhatWasClosedByHandStaysClosed(t *testing.T) {
	j := newScheduled(t)
	j.save(10, 1)
	j.save(4, 1.3)
	j.expect("a step", exitRegression, "open", 0)
	j.Change(j.newest().Number, func(i *githubtest.Issue) { i.State = "closed" })
	j.save(1, 1.3)
	j.expect("closed by hand", exitRegression, "closed", 0)
	if !strings.Contains(j.newest().Body, "15 records") {
		t.Error("it is not kept up to date")
	}
	j.save(8, 1.9)
	j.expect("a second step", exitRegression, "closed open", 0)
	j.Change(j.newest().Number, func(i *githubtest.Issue) { i.State = "closed" })
	j.save(8, 1)
	j.expect("made good", exitPass, "closed closed", 0)
	j.Change(j.newest().Number, func(i *githubtest.Issue) { i.State = "open" })
	j.expect("opened again by hand, and nothing is wrong", exitPass, "closed open", 0)
	j.save(4, 1.4)
	j.expect("it was right", exitRegression, "closed open", 1)
}

// TestAStepThatMeetsTheNewPin is a new issue: the move of the pin does not close it.
func TestAStepThatMeetsTheNewPin(t *testing.T) {
	j := newScheduled(t)
	j.save(10, 1)
	last := j.save(6, 1.3)
	j.expect("a step", exitRegression, "open", 0)
	j.promote(last.ID, "new driver")
	j.expect("it was accepted", exitPass, "closed", 1)
	for range 8 {
		j.keep(1.15, func(r *record.Record) { r.Apps[record.Base] = record.App{Version: last.Version} })
	}
	j.expect("held against it, a step", exitRegression, "closed open", 0)
	if title := j.newest().Title; !strings.Contains(title, "cpu_seconds of tiny changed by +15") && !strings.Contains(title, "cpu_seconds of tiny changed by +14") {
		t.Errorf("title %q", title)
	}
}

// TestWhatChangedIsTold: a second step is told below the issue, once.
func TestWhatChangedIsTold(t *testing.T) {
	j := newScheduled(t)
	j.save(10, 1)
	j.save(8, 1.3)
	j.expect("a step", exitRegression, "open", 0)
	j.save(8, 1.9)
	j.expect("another", exitRegression, "open", 1)
	if c := j.Comments(j.newest().Number)[0].Body; strings.Count(c, "- **cpu\\_seconds** of tiny: +46") != 1 || strings.Contains(c, "+30") {
		t.Errorf("told:\n%s", c)
	}
	j.save(1, 1.9)
	j.expect("no news", exitRegression, "open", 1)
}

// TestWhereThereIsAnIssueAtAll: whose run it is, what the token may do, and what GitHub says. The exit code is the verdict's.
func TestWhereThereIsAnIssueAtAll(t *testing.T) {
	own, fork := pullEvent(githubtest.Repository), pullEvent("octocat/meteor")
	scheduled := `{"schedule": "23 3 * * *"}`
	denied := &githubtest.Fault{Method: "POST", Path: "/issues", Times: 9, Status: 403, Body: `{"message": "Resource not accessible by integration"}`}
	gone := &githubtest.Fault{Method: "POST", Path: "/issues", Times: 9, Status: 410, Body: `{"message": "Issues are disabled for this repo"}`}
	tests := map[string]struct {
		event, payload, mode string
		fault                *githubtest.Fault
		issues               string
		note                 string
	}{
		"a night":                            {"schedule", scheduled, "auto", nil, "open", ""},
		"a night by hand":                    {"workflow_dispatch", `{}`, "always", nil, "open", ""},
		"never":                              {"schedule", scheduled, "never", nil, "", ""},
		"a pull request":                     {"pull_request", own, "always", nil, "", ""},
		"one from a fork":                    {"pull_request", fork, "always", nil, "", ""},
		"the run after a pull request's":     {"workflow_run", runEvent("octocat/meteor"), "always", nil, "", ""},
		"a token that cannot write":          {"schedule", scheduled, "auto", denied, "", "::notice::the token cannot write issues"},
		"one that must":                      {"schedule", scheduled, "always", denied, "", "::warning::opening the issue: "},
		"a repository without issues":        {"schedule", scheduled, "auto", gone, "", "::notice::the repository has no issues"},
		"one that must have them":            {"schedule", scheduled, "always", gone, "", "::warning::opening the issue: "},
		"GitHub refuses":                     {"schedule", scheduled, "auto", &githubtest.Fault{Method: "POST", Path: "/issues", Times: 9, Status: 422}, "", "::warning::opening the issue: "},
		"GitHub is tired":                    {"schedule", scheduled, "auto", &githubtest.Fault{Method: "GET", Path: "/issues", Times: 99, Status: 429, Header: map[string]string{"Retry-After": "0"}}, "", "::warning::issues of the repository: "},
		"GitHub is tired, and rests a while": {"schedule", scheduled, "auto", &githubtest.Fault{Method: "GET", Path: "/issues", Times: 2, Status: 429, Header: map[string]string{"Retry-After": "0"}}, "open", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			j := newNightJob(t, tc.event, tc.payload)
			j.env[inputPrefix+"ISSUE"], j.env[inputPrefix+"COMMENT"] = tc.mode, "never"
			j.save(10, 1)
			j.save(4, 1.3)
			if tc.fault != nil {
				j.Fail(*tc.fault)
			}
			if code := j.night(); code != exitRegression {
				t.Errorf("exit code %d, want the verdict's, %d", code, exitRegression)
			}
			if got := j.standing(); got != tc.issues {
				t.Errorf("issues %q, want %q", got, tc.issues)
			}
			log := j.log.String()
			if !strings.Contains(log, tc.note) || tc.note == "" && (strings.Contains(log, "::notice::") || strings.Contains(log, "::warning::")) {
				t.Errorf("log %s\nwant %q", log, tc.note)
			}
			if !strings.Contains(log, "\n::error::history of nightly: regression: cpu_seconds of tiny changed by +30") {
				t.Errorf("the log does not say it:\n%s", log)
			}
			if got := j.text("GITHUB_STEP_SUMMARY"); !strings.Contains(got, "### ❌ Regression in the history of nightly: ") || !strings.Contains(got, "▁") {
				t.Errorf("the summary does not say it:\n%s", got)
			}
			if got, has := j.output("issue"), tc.issues != ""; (got != "") != has {
				t.Errorf("output issue %q", got)
			}
			if b, err := os.ReadFile(j.output("history-json")); err != nil || !bytes.Contains(b, []byte(`"verdict": "regression"`)) {
				t.Errorf("history-json: %.100s, %v", b, err)
			}
			if b, err := os.ReadFile(j.output("history-html")); err != nil || !bytes.Contains(bytes.ToLower(b), []byte("<!doctype html>")) || !bytes.Contains(b, []byte("cpu_seconds")) {
				t.Errorf("history-html: %.100s, %v", b, err)
			}
			if strings.Contains(log, githubtest.Token) {
				t.Error("the token is in the log")
			}
		})
	}
}

// TestTheWorseVerdictDecides: that on the night or that on the history.
func TestTheWorseVerdictDecides(t *testing.T) {
	tests := map[string]struct {
		night   gate.Outcome
		nights  int
		worse   float64 // in the last four
		strict  bool    // what is inconclusive fails
		code    int
		history string
	}{
		"both pass":                        {gate.Pass, 14, 1, true, exitPass, "pass"},
		"a bad night":                      {gate.Regression, 14, 1, true, exitRegression, "pass"},
		"a bad history":                    {gate.Pass, 14, 1.3, true, exitRegression, "regression"},
		"it was not measured, worse":       {gate.Unmeasured, 14, 1.3, true, exitRegression, "regression"},
		"it was not measured":              {gate.Unmeasured, 14, 1, true, exitUnmeasured, "pass"},
		"too little history":               {gate.Pass, 5, 1, true, exitInconclusive, "inconclusive"},
		"too little history, let through":  {gate.Pass, 5, 1, false, exitPass, "inconclusive"},
		"too little, and not measured":     {gate.Unmeasured, 5, 1, true, exitUnmeasured, "inconclusive"},
		"no history at all, not measured":  {gate.Unmeasured, 0, 1, true, exitUnmeasured, "unmeasured"},
		"an improvement is nothing to say": {gate.Pass, 14, 0.7, true, exitPass, "pass"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			j := newScheduled(t)
			if tc.strict {
				j.env[inputPrefix+"INCONCLUSIVE"] = "fail"
			}
			j.save(max(0, tc.nights-4), 1)
			j.save(min(4, tc.nights), tc.worse)
			if code := j.after(came(tc.night, "why")); code != tc.code {
				t.Errorf("exit code %d, want %d:\n%s", code, tc.code, j.log.String())
			}
			if got := j.output("history-verdict"); got != tc.history {
				t.Errorf("output history-verdict %q, want %q", got, tc.history)
			}
			if want := map[bool]string{true: "open"}[tc.history == "regression"]; j.standing() != want {
				t.Errorf("issues %q, want %q", j.standing(), want)
			}
		})
	}
}

// TestAHistoryIsNotFollowed where nobody asked, and after a mistake.
func TestAHistoryIsNotFollowed(t *testing.T) {
	j := newScheduled(t)
	j.save(10, 1)
	j.save(4, 1.3)
	failed := came(gate.Unmeasured, "why")
	failed.err, failed.code = usage(fmt.Errorf("the store cannot be reached")), exitUsage
	if code := j.after(failed); code != exitUsage || j.output("history-verdict") != "" || j.standing() != "" {
		t.Errorf("after a mistake: exit code %d, history-verdict %q, issues %q", code, j.output("history-verdict"), j.standing())
	}
	j.env[inputPrefix+"HISTORY"] = "false"
	if code := j.night(); code != exitPass || j.output("history-verdict") != "" || j.standing() != "" || strings.Contains(j.text("GITHUB_STEP_SUMMARY"), "history") {
		t.Errorf("not asked for: exit code %d, history-verdict %q, issues %q", code, j.output("history-verdict"), j.standing())
	}
}

// TestAStoreThatBreaksMeanwhile is said, and is not taken for a history that passes.
func TestAStoreThatBreaksMeanwhile(t *testing.T) {
	j := newScheduled(t)
	j.save(10, 1)
	j.save(4, 1.3)
	j.night()
	if err := os.RemoveAll(filepath.Join("store", "keys")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("store", "keys"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	j.log.Reset()
	if code := j.night(); code == exitPass || j.standing() != "open" || !strings.Contains(j.log.String(), "::error") {
		t.Errorf("exit code %d, issues %q:\n%s", code, j.standing(), j.log.String())
	}
}

// TestMistakesAboutTheHistory: every one is told, with the nearest word where there is one.
func TestMistakesAboutTheHistory(t *testing.T) {
	for name, tc := range map[string]struct {
		inputs map[string]string
		want   string
	}{
		"an unknown choice":      {map[string]string{"ISSUE": "allways"}, `input issue: unknown choice "allways", did you mean "always"?`},
		"neither true nor false": {map[string]string{"HISTORY": "ture"}, `input history: unknown choice "ture", did you mean "true"?`},
		"a history of nothing":   {map[string]string{"HISTORY": "true", "UPDATE_BASELINE": "false"}, `input history: it needs the record in the history, by update-baseline: true`},
		"an issue about nothing": {map[string]string{"HISTORY": "false", "ISSUE": "always"}, `input issue: it needs the verdict on the history, by history: true`},
		"a key that is a word":   {map[string]string{"BASELINE": "auto"}, `input baseline: "auto" cannot be a key: it stands for the record of the nearest earlier commit`},
		"no key at all":          {map[string]string{"BASELINE": "../up"}, `input baseline: "../up" cannot be a key`},
		"no token":               {map[string]string{"GITHUB_TOKEN": ""}, `input github-token: it is missing, and without it there is no issue; issue: never needs none`},
	} {
		t.Run(name, func(t *testing.T) {
			j := newScheduled(t)
			for k, v := range tc.inputs {
				j.env[inputPrefix+k] = v
			}
			if code := j.command().Main(context.Background(), []string{"action"}); code != exitUsage || !strings.Contains(j.log.String(), "::error::"+tc.want) {
				t.Errorf("exit code %d, want %d; log %q, want %q", code, exitUsage, j.log.String(), tc.want)
			}
		})
	}
	j := newScheduled(t)
	j.env[inputPrefix+"GITHUB_TOKEN"], j.env[inputPrefix+"ISSUE"] = "", "never"
	if _, err := j.command().action(); err != nil {
		t.Errorf("no token where none is needed: %v", err)
	}
}

// TestAHostileHistoryIsOnlyShown has a scenario and a reason say what they like.
func TestAHostileHistoryIsOnlyShown(t *testing.T) {
	thread := shortHash(6, "nightly")
	evil := "x\n<!-- ddpgate:" + thread + " resolved -->\n@octocat ```\n::error::x\n" + githubtest.Token
	var nights []gate.Night
	for i := range 14 {
		rec := pairs(1)
		if i >= 10 {
			rec = pairs(1.3)
		}
		rec.Created, rec.Scenarios[0].Name = rec.Created.AddDate(0, 0, i), evil
		nights = append(nights, gate.Observe(rec, evil))
	}
	for i := range nights[:13] {
		nights[i].Accepted = ""
	}
	nights[13].Accepted = ""
	h, err := gate.JudgeHistory(nights, gate.Policy{}, historySeed)
	if err != nil {
		t.Fatal(err)
	}
	edit := watch{history: h, key: "nightly", link: "https://ghe.example/run"}.edit(github.Issue{})
	if !edit.New || strings.Contains(edit.Body, "<!--") || strings.Contains(edit.Body, "\n@octocat") || strings.Contains(edit.Title, "\n") {
		t.Errorf("it obeys: %+v", edit)
	}
	j := newScheduled(t)
	night := outcome{heard: heard{history: h}, code: exitRegression}
	measured := came(gate.Pass, "why")
	measured.night = &night
	for range 2 {
		j.tell(measured)
	}
	if got := j.standing(); got != "open" {
		t.Errorf("issues %q, want one", got)
	}
	for line := range strings.Lines(j.log.String()) {
		if strings.HasPrefix(line, "::") && !strings.HasPrefix(line, "::error::history of nightly: ") {
			t.Errorf("a command in the log: %q", line)
		}
	}
	if strings.Contains(j.log.String()+j.text("GITHUB_STEP_SUMMARY"), githubtest.Token) {
		t.Error("the token is in the log or the summary")
	}
}

// TestAStateTellsEveryNight: what a state keeps comes out again, however much is worse.
func TestAStateTellsEveryNight(t *testing.T) {
	nights := func(worse float64) []gate.Night {
		var all []gate.Night
		for i := range 14 {
			rec := pairs(1)
			if i >= 10 {
				rec = pairs(worse)
			}
			rec.Created = rec.Created.AddDate(0, 0, i)
			one := rec.Scenarios[0]
			for k := range 40 {
				one.Name = fmt.Sprint("tiny-", k)
				rec.Scenarios = append(rec.Scenarios, one)
			}
			all = append(all, gate.Observe(rec, ""))
		}
		return all
	}
	h, err := gate.JudgeHistory(nights(1.3), gate.Policy{}, historySeed)
	if err != nil {
		t.Fatal(err)
	}
	w := watch{history: h, key: "nightly"}
	first := w.edit(github.Issue{})
	again := w.edit(github.Issue{Number: 1, Open: true, State: first.State})
	if again.New || again.Comment != "" || again.State != first.State || len(first.State) > 256 {
		t.Errorf("the same history is news: %+v", again)
	}
	if h, err = gate.JudgeHistory(nights(1), gate.Policy{}, historySeed); err != nil {
		t.Fatal(err)
	}
	if over := (watch{history: h, key: "nightly"}).edit(github.Issue{Number: 1, Open: true, State: first.State}); !over.Close || !strings.Contains(over.Comment, "No longer seen: 30 changes") {
		t.Errorf("over: %+v", over)
	}
}
