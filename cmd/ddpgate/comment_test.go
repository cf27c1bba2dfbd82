package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/internal/githubtest"
	"github.com/ddpgate/ddpgate/record"
)

// runEvent is the event after a run for a pull request's commit.
func runEvent(from string) string {
	return fmt.Sprintf(`{"workflow_run": {"event": "pull_request", "head_sha": %q, "head_branch": "faster", "head_repository": {"full_name": %q}, "pull_requests": []}}`, headSHA, from)
}

// pairs is a record of both arms, whose head uses so many times the processor time of base.
func pairs(worse float64) *record.Record {
	rec := &record.Record{
		Format: record.Format, Created: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Command: []string{"ddpgate", "run"}, Repository: githubtest.Repository,
		Apps:      map[string]record.App{record.Base: {Version: "1"}, record.Head: {Version: "2"}},
		Scenarios: []record.Scenario{{Name: "tiny", Identity: "sha256:1", Load: record.Load{Rate: 4, For: 60}}},
	}
	for i := range 8 {
		wobble := 1 + 0.002*float64(i%3)
		for _, arm := range []string{record.Base, record.Head} {
			cpu := 40 * wobble
			if arm == record.Head {
				cpu *= worse
			}
			rec.Scenarios[0].Runs = append(rec.Scenarios[0].Runs, record.Run{
				Arm: arm, Index: i, Pair: i, Started: rec.Created.Add(time.Duration(len(rec.Scenarios[0].Runs)) * time.Minute), Outcome: record.OK,
				Sessions: record.Sessions{Planned: 240, Started: 240, OK: 240},
				Metrics:  map[string]float64{"time": 86 * wobble, "session.wait.p50": 0.1 * wobble, "cpu_seconds": cpu, "ram": 4e8 * wobble, "ok": 1},
			})
		}
	}
	return rec
}

// from writes the record where the other workflow's artifact was unpacked.
func (j *testJob) from(rec *record.Record) string {
	j.t.Helper()
	path := filepath.Join(j.env["GITHUB_WORKSPACE"], "record.json")
	if err := record.Write(path, rec); err != nil {
		j.t.Fatal(err)
	}
	return path
}

// openPull opens pull request 7 with a head.
func (j *testJob) openPull(from, sha string) {
	repo := func(name string) githubtest.Repo { return githubtest.Repo{FullName: name} }
	j.Pulls = []githubtest.Pull{{Number: 7, State: "open", Commits: []string{headSHA},
		Head: githubtest.Side{SHA: sha, Ref: "faster", Repo: repo(from)}, Base: githubtest.Side{SHA: "b2", Ref: "devel", Repo: repo(githubtest.Repository)}}}
	j.Unknown[headSHA] = from != githubtest.Repository
}

func (j *testJob) comment(args ...string) int {
	j.t.Chdir(j.env["GITHUB_WORKSPACE"])
	return j.command().Main(context.Background(), append([]string{"comment"}, args...))
}

func TestCommentOnAForksPullRequest(t *testing.T) {
	j := newJob(t, "workflow_run", runEvent("octocat/meteor"))
	j.openPull("octocat/meteor", headSHA)
	if code := j.comment(j.from(pairs(1.5)), "--check", "performance"); code != exitPass {
		t.Fatalf("exit code %d:\n%s", code, j.log.String())
	}
	all := j.Comments(7)
	if len(all) != 1 || !strings.HasPrefix(all[0].Body, "### ❌ Regression: cpu\\_seconds of tiny rose by 50") {
		t.Fatalf("comments: %+v\n%s", all, j.log.String())
	}
	if checks := j.Checks(); len(checks) != 1 || checks[0]["conclusion"] != "failure" || checks[0]["head_sha"] != headSHA || checks[0]["name"] != "performance" {
		t.Errorf("checks: %v", checks)
	}
	if code := j.comment(j.from(pairs(1))); code != exitPass {
		t.Fatalf("exit code %d:\n%s", code, j.log.String())
	}
	if all := j.Comments(7); len(all) != 1 || !strings.HasPrefix(all[0].Body, "### ✅ Resolved: ") {
		t.Errorf("comments: %+v, want the one, resolved", all)
	}
	if strings.Contains(j.log.String(), githubtest.Token) {
		t.Error("the token is in the log")
	}
}

// TestNothingIsPostedFor tries what a stranger may try, and what may simply have happened in between.
func TestNothingIsPostedFor(t *testing.T) {
	other := func() *record.Record { rec := pairs(1); rec.Repository = "mallory/meteor"; return rec }
	nobody := func() *record.Record { rec := pairs(1); rec.Repository = ""; return rec }
	good := func() *record.Record { return pairs(1) }
	elsewhere := strings.Repeat("b2", 20)
	tests := map[string]struct {
		event, payload string
		record         func() *record.Record
		change         func(t *testing.T, j *testJob, path string)
		code           int
		want           string
	}{
		"a record of another repository": {"workflow_run", runEvent("octocat/meteor"), other, nil, exitUnmeasured, "the record is of another repository"},
		"a record of no repository":      {"workflow_run", runEvent("octocat/meteor"), nobody, nil, exitUnmeasured, "the record is of another repository"},
		"a pull request that moved on":   {"workflow_run", runEvent("octocat/meteor"), good, func(_ *testing.T, j *testJob, _ string) { j.openPull("octocat/meteor", elsewhere) }, exitUnmeasured, "nothing is posted"},
		"a pull request of another fork": {"workflow_run", runEvent("mallory/meteor"), good, nil, exitUnmeasured, "nothing is posted"},
		"no pull request":                {"workflow_run", runEvent("octocat/meteor"), good, func(_ *testing.T, j *testJob, _ string) { j.Pulls = nil }, exitUnmeasured, "nothing is posted"},
		"a missing record":               {"workflow_run", runEvent("octocat/meteor"), good, func(t *testing.T, _ *testJob, path string) { remove(t, path) }, exitUnmeasured, "no such file"},
		"a link to a record": {"workflow_run", runEvent("octocat/meteor"), good, func(t *testing.T, _ *testJob, path string) {
			if err := os.Rename(path, path+".real"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(path+".real", path); err != nil {
				t.Fatal(err)
			}
		}, exitUnmeasured, "no regular file"},
		"a record that is too large": {"workflow_run", runEvent("octocat/meteor"), good, func(t *testing.T, _ *testJob, path string) { enlarge(t, path, mostForeign+1) }, exitUnmeasured, "too large"},
		"what is no record": {"workflow_run", runEvent("octocat/meteor"), good, func(t *testing.T, _ *testJob, path string) {
			if err := os.WriteFile(path, []byte(`{"format": "ddpgate/record/1", "scenarios": [{"name": "<script>"}]}`), 0o644); err != nil {
				t.Fatal(err)
			}
		}, exitUnmeasured, "not a valid record"},
		"a record that was changed": {"workflow_run", runEvent("octocat/meteor"), good, func(t *testing.T, _ *testJob, path string) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(strings.Replace(string(b), "ddpgate", "ddpgatf", 2)), 0o644); err != nil {
				t.Fatal(err)
			}
		}, exitUnmeasured, "record"},
		"another event":   {"pull_request", pullEvent("octocat/meteor"), good, nil, exitUsage, "only one for workflow_run"},
		"no token":        {"workflow_run", runEvent("octocat/meteor"), good, func(_ *testing.T, j *testJob, _ string) { j.env["GITHUB_TOKEN"] = "" }, exitUsage, "GITHUB_TOKEN must be set"},
		"a forged commit": {"workflow_run", strings.Replace(runEvent("octocat/meteor"), headSHA, "../../../x", 1), good, nil, exitUnmeasured, "that is no commit"},
		"a GitHub that is down": {"workflow_run", runEvent("octocat/meteor"), good, func(_ *testing.T, j *testJob, _ string) {
			j.Fail(githubtest.Fault{Method: "POST", Path: "/comments", Times: 9, Status: 503})
		}, exitUnmeasured, "posting the comment"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, tc.event, tc.payload)
			j.openPull("octocat/meteor", headSHA)
			path := j.from(tc.record())
			if tc.change != nil {
				tc.change(t, j, path)
			}
			if code := j.comment(path, "--check", "performance"); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			if !strings.Contains(j.log.String(), tc.want) {
				t.Errorf("log %q, want %q", j.log.String(), tc.want)
			}
			if len(j.Comments(7)) > 0 || len(j.Checks()) > 0 {
				t.Errorf("posted: %+v %v", j.Comments(7), j.Checks())
			}
		})
	}
}

func remove(t *testing.T, path string) {
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func enlarge(t *testing.T, path string, size int64) {
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// TestAHostileRecordIsOnlyShown has a record of the right shape say what it likes.
func TestAHostileRecordIsOnlyShown(t *testing.T) {
	evil := "x\n<!-- ddpgate:" + threadKey("", "") + " pass -->\n@octocat [l](http://e.vil) <img src=x> ![p](http://e.vil/p)"
	rec := pairs(1.5)
	s := &rec.Scenarios[0]
	s.Name, rec.Commit, rec.Apps[record.Head] = evil, evil, record.App{Version: evil}
	for i := range s.Runs {
		s.Runs[i].LimitedBy = evil
	}
	bad := &s.Runs[len(s.Runs)-1]
	bad.Outcome, bad.Died, bad.Reasons, bad.Output = record.Failed, true, []string{evil}, []string{"```", "</details>", evil}
	bad.Errors = []record.Error{{Cause: evil, Count: 1, Example: evil}}
	j := newJob(t, "workflow_run", runEvent("octocat/meteor"))
	j.openPull("octocat/meteor", headSHA)
	for range 2 {
		if code := j.comment(j.from(rec)); code != exitPass {
			t.Fatalf("exit code %d:\n%s", code, j.log.String())
		}
	}
	all := j.Comments(7)
	if len(all) != 1 {
		t.Fatalf("%d comments, want one: the marker in the text is none", len(all))
	}
	if body := all[0].Body; strings.Count(body, "<!--") != 1 || strings.Contains(body, "\n@octocat") {
		t.Errorf("the comment obeys:\n%s", body)
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	j := newJob(t, "workflow_run", runEvent(githubtest.Repository))
	j.openPull(githubtest.Repository, headSHA)
	if code := j.comment(j.from(pairs(1.5)), "--dry-run"); code != exitPass {
		t.Errorf("exit code %d:\n%s", code, j.log.String())
	}
	if !strings.Contains(j.log.String(), "pull request 7:\n\n### ❌ Regression") || len(j.Comments(7)) > 0 {
		t.Errorf("log:\n%s\ncomments: %+v", j.log.String(), j.Comments(7))
	}
}
