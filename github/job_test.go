package github

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const forkEvent = `{"action": "synchronize", "number": 12, "pull_request": {"number": 12, "state": "open", "labels": [{"name": "perf-accepted"}],
 "head": {"sha": "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1", "ref": "x;echo ` + "`id`" + `", "repo": {"full_name": "octocat/meteor"}},
 "base": {"sha": "b2", "ref": "devel", "repo": {"full_name": "meteor/meteor"}}}}`

const runEvent = `{"action": "completed", "workflow_run": {"event": "pull_request", "head_sha": "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1",
 "head_branch": "faster", "head_repository": {"full_name": "octocat/meteor"}, "pull_requests": []}}`

// job reads a job that runs for an event.
func job(t *testing.T, name, payload string, more map[string]string) (Job, error) {
	t.Helper()
	env := map[string]string{
		"GITHUB_EVENT_NAME": name, "GITHUB_REPOSITORY": "meteor/meteor", "GITHUB_RUN_ID": "99",
		"GITHUB_API_URL": "https://ghe.example/api/v3", "GITHUB_GRAPHQL_URL": "https://ghe.example/api/graphql", "GITHUB_SERVER_URL": "https://ghe.example/",
	}
	if payload != "" {
		env["GITHUB_EVENT_PATH"] = filepath.Join(t.TempDir(), "event.json")
		if err := os.WriteFile(env["GITHUB_EVENT_PATH"], []byte(payload), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for k, v := range more {
		env[k] = v
	}
	return ReadJob(func(k string) string { return env[k] })
}

func TestReadJob(t *testing.T) {
	here := Job{Repository: "meteor/meteor", APIURL: "https://ghe.example/api/v3", GraphQLURL: "https://ghe.example/api/graphql",
		ServerURL: "https://ghe.example", RunURL: "https://ghe.example/meteor/meteor/actions/runs/99"}
	fork, run, push := here, here, here
	fork.Event, run.Event, push.Event = "pull_request", "workflow_run", "push"
	fork.Pull = Pull{Number: 12, Open: true, HeadSHA: commit, HeadRepository: "octocat/meteor", HeadBranch: "x;echo `id`",
		BaseRepository: "meteor/meteor", Labels: []string{"perf-accepted"}}
	run.Head = Upstream{Event: "pull_request", SHA: commit, Repository: "octocat/meteor", Branch: "faster"}
	for name, tc := range map[string]struct {
		payload  string
		want     Job
		readOnly bool
	}{
		"pull_request": {forkEvent, fork, true}, "workflow_run": {runEvent, run, false}, "push": {`{"ref": "refs/heads/devel"}`, push, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := job(t, name, tc.payload, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("job (-want +got):\n%s", diff)
			}
			if got.ReadOnly() != tc.readOnly {
				t.Errorf("read only: %v, want %v", got.ReadOnly(), tc.readOnly)
			}
		})
	}
}

func TestADeletedForkIsAFork(t *testing.T) {
	got, err := job(t, "pull_request", `{"pull_request": {"number": 1, "head": {"sha": "a", "repo": null}, "base": {"repo": {"full_name": "meteor/meteor"}}}}`, nil)
	if err != nil || !got.Pull.Fork() || !got.ReadOnly() {
		t.Errorf("%+v, %v, want one from a fork", got, err)
	}
}

func TestReadJobRefusesABrokenEvent(t *testing.T) {
	for _, payload := range []string{"{", "[1]", `{"pull_request": {"number": "seven"}}`} {
		if got, err := job(t, "pull_request", payload, nil); err == nil {
			t.Errorf("%s was read as %+v", payload, got)
		}
	}
	got, err := job(t, "pull_request", "", map[string]string{"GITHUB_API_URL": ""})
	if err != nil || got.APIURL != "https://api.github.com" || got.Pull.Number != 0 {
		t.Errorf("without an event: %+v, %v", got, err)
	}
}
