//go:build act

package workflows

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/internal/githubtest"
)

// A stage is where act plays workflows: a repository on a GitHub that is a fake, and stand-ins for the actions of others.
type stage struct {
	*githubtest.Fake
	t         *testing.T
	dir       string // the repository
	home      string
	checkouts string // what other checkouts find
	artifacts string // what is uploaded, or read back
	env       []string
	action    string // the action's own repository
	log       string // all that act said
	problems  []string
}

// inQuiet tells a story, and again where the machine spoilt it: other machines on the same processor make runs invalid, of which
// there may then be too few to say what the story wants to hear.
func inQuiet(t *testing.T, story func(s *stage)) {
	t.Helper()
	const tries = 4
	for try := 1; ; try++ {
		s := newStage(t)
		story(s)
		if len(s.problems) == 0 {
			return
		}
		spoilt := strings.Contains(s.log, ": invalid, ") || strings.Contains(s.log, "may be judged")
		if !spoilt || try == tries {
			t.Errorf("%s\n\n%s", strings.Join(s.problems, "\n"), s.log)
			return
		}
		t.Logf("the machine was not quiet, try %d: %s", try, s.problems[0])
	}
}

// errorf notes what is not as it should be.
func (s *stage) errorf(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

// The programs under test, which .ci/act builds.
var (
	actProgram     = os.Getenv("ACT")
	ddpgateProgram = os.Getenv("DDPGATE")
)

const (
	ownRepository = githubtest.Repository
	fork          = "octocat/meteor"
)

// mostTime is how long one workflow may take; each takes less than half a minute on an idle machine.
const mostTime = 3 * time.Minute

var headSHA = strings.Repeat("a1", 20)

func newStage(t *testing.T) *stage {
	t.Helper()
	if actProgram == "" || ddpgateProgram == "" {
		t.Fatal("ACT and DDPGATE must name the programs: run .ci/act")
	}
	s := &stage{Fake: githubtest.New(t), t: t, dir: t.TempDir(), home: t.TempDir(), checkouts: t.TempDir(), artifacts: t.TempDir(), action: t.TempDir()}
	server := httptest.NewServer(s.Fake)
	t.Cleanup(server.Close)
	s.releaseAction()
	s.env = []string{
		"GITHUB_API_URL=" + server.URL + "/api/v3", "GITHUB_GRAPHQL_URL=" + server.URL + "/api/graphql",
		"STANDIN_CHECKOUTS=" + s.checkouts, "STANDIN_ARTIFACTS=" + s.artifacts, "STANDIN_DDPGATE=" + ddpgateProgram,
		"DDPGATE_RELEASES=file://" + s.action + "/releases", "GIT_CONFIG_GLOBAL=" + filepath.Join(s.home, "gitconfig"),
	}
	s.write(filepath.Join(s.home, "gitconfig"), "[user]\n\tname = t\n\temail = t@example.com\n[init]\n\tdefaultBranch = devel\n[protocol \"file\"]\n\tallow = always\n")
	return s
}

func (s *stage) write(path, content string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) copy(from, to string) {
	s.t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(to, string(b))
}

func (s *stage) exec(dir, program string, args ...string) {
	s.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+filepath.Join(s.home, "gitconfig"))
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}

// wrapper is what the action's release holds: the program under test, and then its step's summary put aside, which act forgets when
// the next step begins.
const wrapper = "#!/bin/sh\n\"$STANDIN_DDPGATE\" \"$@\"\ncode=$?\n" +
	"if [ -s \"$GITHUB_STEP_SUMMARY\" ]; then cp \"$GITHUB_STEP_SUMMARY\" \"$STANDIN_ARTIFACTS/summary.md\"; fi\nexit $code\n"

// releaseAction makes the action's repository, with the program under test as its release.
func (s *stage) releaseAction() {
	for _, file := range []string{"action.yml", "action/binary.sh", "action/comment/action.yml", "action/pin/action.yml"} {
		s.copy(filepath.Join(root, file), filepath.Join(s.action, file))
	}
	p := place{releases: filepath.Join(s.action, "releases"), archive: archiveName}
	s.write(filepath.Join(s.action, "action/checksums.txt"), p.release(s.t, wrapper))
}

// commit makes the repository's folder one, with a commit before the last.
func (s *stage) commit(dir string) {
	s.exec(dir, "git", "init", "-q")
	s.exec(dir, "git", "commit", "-q", "--allow-empty", "-m", "before")
	s.exec(dir, "git", "add", "-A")
	s.exec(dir, "git", "commit", "-q", "--allow-empty", "-m", "now")
}

// standins are the actions that are stood in for, with the commits that the workflows pin.
var standins = map[string]string{
	"actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683":                "checkout",
	"actions/setup-go@d35c59abb061a4a6fb18e82ac0862c26744d6ab5":                "setup",
	"actions/setup-node@49933ea5288caeca8642d1e84afbd3f7d6820020":              "setup",
	"actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02":         "upload-artifact",
	"actions/download-artifact@d3f86a106a0bac45b974a628896c90dbdf5c8093":       "download-artifact",
	"goreleaser/goreleaser-action@9c156ee8a17a598857849441385a2041ef570552":    "goreleaser",
	"actions/attest-build-provenance@e8998f949152b193b063cb0ec769d69d929409be": "attest",
}

// play runs a workflow file for an event, and says whether all went well.
func (s *stage) play(event, payload, workflow string) (ok bool) {
	s.t.Helper()
	at := filepath.Join(s.home, "event.json")
	s.write(at, payload)
	here, err := filepath.Abs("testdata/standins")
	if err != nil {
		s.t.Fatal(err)
	}
	args := []string{event, "-W", workflow, "-P", "ubuntu-latest=-self-hosted", "-e", at, "-s", "GITHUB_TOKEN=" + githubtest.Token,
		"--local-repository", "ddpgate/ddpgate@v1=" + s.action}
	for uses, name := range standins {
		args = append(args, "--local-repository", uses+"="+filepath.Join(here, name))
	}
	for _, e := range s.env {
		args = append(args, "--env", e)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), mostTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, actProgram, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.home, "XDG_CACHE_HOME="+filepath.Join(s.home, ".cache"))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that act ends what it started
	cmd.WaitDelay = 20 * time.Second
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), githubtest.Token) {
		s.t.Error("the token is in the log")
	}
	s.log += string(out)
	return err == nil
}

// ofPull is the event of a pull request.
func ofPull(from string) string {
	return fmt.Sprintf(`{"number": 7, "pull_request": {"number": 7, "state": "open", "labels": [], "head": {"sha": %q, "ref": "faster", "repo": {"full_name": %q}},
		"base": {"sha": "b2", "ref": "devel", "repo": {"full_name": %q}}}}`, headSHA, from, ownRepository)
}

// ofRun is the event after a run for a pull request.
func ofRun(from string) string {
	return fmt.Sprintf(`{"workflow_run": {"id": 98, "event": "pull_request", "head_sha": %q, "head_branch": "faster", "head_repository": {"full_name": %q}}}`, headSHA, from)
}

// openPull opens pull request 7.
func (s *stage) openPull(from string) {
	repo := func(name string) githubtest.Repo { return githubtest.Repo{FullName: name} }
	s.Pulls = []githubtest.Pull{{Number: 7, State: "open", Head: githubtest.Side{SHA: headSHA, Ref: "faster", Repo: repo(from)},
		Base: githubtest.Side{SHA: "b2", Ref: "devel", Repo: repo(ownRepository)}}}
}

// remote has the repository at GitHub, as far as git is concerned.
func (s *stage) remote() {
	s.exec(s.dir, "git", "remote", "add", "origin", "https://github.com/"+ownRepository)
}

// comments returns the first lines of the pull request's comments.
func (s *stage) comments() []string {
	var first []string
	for _, c := range s.Comments(7) {
		line, _, _ := strings.Cut(c.Body, "\n")
		first = append(first, line)
	}
	return first
}

// readBack is what the workflow gate.yml leaves.
type readBack struct {
	Outcome string
	Outputs map[string]string
	summary string
}

func (s *stage) readBack() readBack {
	s.t.Helper()
	var r readBack
	b, err := os.ReadFile(filepath.Join(s.artifacts, "gate.json"))
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		s.errorf("read back: %v", err)
	}
	summary, _ := os.ReadFile(filepath.Join(s.artifacts, "summary.md"))
	r.summary = string(summary)
	return r
}
