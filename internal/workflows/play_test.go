//go:build act

package workflows

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const serve = " serve --listen 127.0.0.1:21876"

// TestTheCompositeAction plays the action and reads back what it left.
func TestTheCompositeAction(t *testing.T) {
	slow, fast := ddpgateProgram+serve+" --cpu 8ms", ddpgateProgram+serve
	hostile := "tiny\n$(touch pwned)\n`touch pwned`;touch pwned\n::set-output name=verdict::pass\n\"'$GITHUB_TOKEN"
	tests := map[string]struct {
		from                                   string
		config, app, base, scenarios, runs     string
		thresholds, inconclusive               string
		outcome, verdict, regressions, summary string
		comment                                string
		log                                    string
	}{
		"pass": {ownRepository, "ddpgate.yml", fast, fast, "tiny", "4", "", "warn",
			"success", "pass", "0", "### ✅ Pass: ", "### ✅ Pass: ", ""},
		"regression": {ownRepository, "ddpgate.yml", slow, fast, "", "4", "", "warn",
			"failure", "regression", "some", "| `cpu_seconds` |", "### ❌ Regression: ", "regression: "},
		"inconclusive, of a fork": {fork, "ddpgate.yml", fast, fast, "tiny", "1", "", "warn",
			"success", "inconclusive", "0", "### ❔ Inconclusive: ", "", "inconclusive: "},
		"inconclusive where that fails": {fork, "ddpgate.yml", fast, fast, "tiny", "1", "", "fail",
			"failure", "inconclusive", "0", "### ❔ Inconclusive: ", "", "inconclusive: "},
		"hostile inputs": {ownRepository, "ddpgate.yml", fast, fast, hostile, "1", "", "warn",
			"failure", "unmeasured", "0", "### ⚠️ Not measured: ", "### ⚠️ Not measured: ", "unknown scenario"},
		"a hostile path": {ownRepository, "a\"; touch pwned; echo \"\n$(touch pwned).yml", fast, fast, "", "1", "", "warn",
			"failure", "unmeasured", "0", "### ⚠️ Not measured: ", "### ⚠️ Not measured: ", "no such file"},
		"a mistake": {ownRepository, "ddpgate.yml", fast, fast, "", "1", "ram", "warn",
			"failure", "unmeasured", "", "", "", "input thresholds: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			inQuiet(t, func(s *stage) {
				s.copy("testdata/workflows/gate.yml", filepath.Join(s.dir, ".github/workflows/gate.yml"))
				s.copy("testdata/ddpgate.yml", filepath.Join(s.dir, "ddpgate.yml"))
				s.commit(s.dir)
				s.remote()
				s.env = append(s.env, "CASE_CONFIG="+tc.config, "CASE_APP="+tc.app, "CASE_BASE_APP="+tc.base, "CASE_SCENARIOS="+tc.scenarios,
					"CASE_RUNS="+tc.runs, "CASE_THRESHOLDS="+tc.thresholds, "CASE_INCONCLUSIVE="+tc.inconclusive)
				if !s.play("pull_request", ofPull(tc.from), ".github/workflows/gate.yml") {
					s.errorf("act failed")
					return
				}
				got := s.readBack()
				if n := got.Outputs["regressions"]; tc.regressions == "some" && n != "" && n != "0" {
					got.Outputs["regressions"] = "some"
				}
				if got.Outcome != tc.outcome || got.Outputs["verdict"] != tc.verdict || got.Outputs["regressions"] != tc.regressions {
					s.errorf("%s, outputs %v, want %s with verdict %s and %s regressions", got.Outcome, got.Outputs, tc.outcome, tc.verdict, tc.regressions)
				}
				if !strings.Contains(got.summary, tc.summary) {
					s.errorf("summary:\n%s\nwant %q", got.summary, tc.summary)
				}
				if all := s.comments(); tc.comment == "" && len(all) > 0 || tc.comment != "" && (len(all) != 1 || !strings.HasPrefix(all[0], tc.comment)) {
					s.errorf("comments %q, want %q", all, tc.comment)
				}
				if !strings.Contains(s.log, tc.log) {
					s.errorf("no %q in the log", tc.log)
				}
				if found, _ := exec.Command("find", s.dir, s.home, s.artifacts, "-name", "pwned*").Output(); len(found) > 0 {
					s.errorf("an input was obeyed: %s", found)
				}
			})
		})
	}
}

// meteors has a Meteor to check out for each arm, and the app. That of head is the repository itself: act checks out its own
// repository without anybody's help.
func (s *stage) meteors(headFlags string) {
	for dir, flags := range map[string]string{filepath.Join(s.checkouts, "base"): "", s.dir: headFlags} {
		s.copy("testdata/meteor/meteor", filepath.Join(dir, "meteor"))
		s.copy("testdata/meteor/mongod", filepath.Join(dir, "dev_bundle/mongodb/bin/mongod"))
		s.write(filepath.Join(dir, "app.flags"), flags)
		s.write(filepath.Join(dir, "ddpgate.yml"), s.config())
	}
	base := filepath.Join(s.checkouts, "base") // whose version is a commit, and none of the other's
	s.exec(base, "git", "init", "-q")
	s.exec(base, "git", "add", "-A")
	s.exec(base, "git", "commit", "-q", "-m", "base")
	s.write(filepath.Join(s.checkouts, "performance/apps/tasks-3.x/package.json"), "{}\n")
}

// config is the documentation's configuration with a load of half a second.
func (s *stage) config() string {
	read := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		return string(b)
	}
	shown, _, found := strings.Cut(read(filepath.Join(root, "docs/workflows/ddpgate.yml")), "scenarios:")
	if !found {
		s.t.Fatal("docs/workflows/ddpgate.yml has no scenarios to put others in the place of")
	}
	return strings.NewReplacer(":3000", ":21876", "27017", "21877").Replace(shown) + read("testdata/ddpgate.yml")
}

// shown puts workflows of the documentation into the repository.
func (s *stage) shown(names ...string) {
	for _, name := range names {
		s.copy(filepath.Join(root, "docs/workflows", name), filepath.Join(s.dir, ".github/workflows", name))
	}
	s.commit(s.dir)
	s.remote()
}

func (s *stage) has(path string) bool {
	_, err := os.Stat(filepath.Join(s.artifacts, path))
	return err == nil
}

func TestThePullRequestWorkflow(t *testing.T) {
	for name, tc := range map[string]struct {
		flags, comment string
		ok             bool
	}{"green": {"", "### ✅ Pass: ", true}, "red": {"--cpu 8ms", "### ❌ Regression: ", false}} {
		t.Run(name, func(t *testing.T) {
			inQuiet(t, func(s *stage) {
				s.meteors(tc.flags)
				s.shown("pull-request.yml")
				if ok := s.play("pull_request", ofPull(ownRepository), ".github/workflows/pull-request.yml"); ok != tc.ok {
					s.errorf("went well: %v, want %v", ok, tc.ok)
				}
				if all := s.comments(); len(all) != 1 || !strings.HasPrefix(all[0], tc.comment) {
					s.errorf("comments %q, want %q", all, tc.comment)
				}
				if !s.has("performance/record.json") || !s.has("performance/report.html") {
					s.errorf("the record and its report were not kept")
				}
			})
		})
	}
}

// TestTheForksWorkflows plays both halves: the one without rights is red and writes nothing, the other comments, and again when it is
// green.
func TestTheForksWorkflows(t *testing.T) {
	inQuiet(t, func(s *stage) {
		s.meteors("--cpu 8ms")
		s.stubMeteorOnPath()
		s.openPull(fork)
		s.shown("fork.yml", "fork-comment.yml")
		s.halves(false, "### ❌ Regression: ")
		if checks := s.Checks(); len(checks) != 1 || checks[0]["conclusion"] != "failure" || checks[0]["head_sha"] != headSHA {
			s.errorf("checks %v", checks)
		}
		s.write(filepath.Join(s.dir, "app.flags"), "")
		s.halves(true, "### ✅ Resolved: ")
	})
}

// halves plays the half that measures, which writes nothing, and the half that comments.
func (s *stage) halves(green bool, comment string) {
	before := s.comments()
	if ok := s.play("pull_request", ofPull(fork), ".github/workflows/fork.yml"); ok != green {
		s.errorf("went well: %v, want %v", ok, green)
	}
	if after := s.comments(); len(after) != len(before) {
		s.errorf("the half without rights wrote %q", after)
	}
	if !s.has("ddpgate-record/record.json") {
		s.errorf("no record was handed on")
	}
	if !s.play("workflow_run", ofRun(fork), ".github/workflows/fork-comment.yml") {
		s.errorf("the second half failed")
	}
	if all := s.comments(); len(all) != 1 || !strings.HasPrefix(all[0], comment) {
		s.errorf("comments %q, want %q", all, comment)
	}
}

// stubMeteorOnPath puts Meteor's command line where an installation puts it.
func (s *stage) stubMeteorOnPath() {
	bin := filepath.Join(s.home, "bin")
	s.copy("testdata/meteor/meteor", filepath.Join(bin, "meteor"))
	s.write(filepath.Join(bin, "npx"), "#!/bin/sh\n[ \"$2\" = meteor@3.0.4 ]\n")
	s.env = append(s.env, "PATH="+bin+":"+os.Getenv("PATH"))
}

func TestTheReleaseWorkflow(t *testing.T) {
	s := newStage(t)
	s.copy(filepath.Join(root, ".github/workflows/release.yml"), filepath.Join(s.dir, ".github/workflows/release.yml"))
	s.copy(filepath.Join(root, ".goreleaser.yaml"), filepath.Join(s.dir, ".goreleaser.yaml"))
	s.commit(s.dir)
	s.remote()
	if !s.play("push", `{"ref": "refs/tags/v1.2.0"}`, ".github/workflows/release.yml") {
		t.Fatalf("it failed:\n%s", s.log)
	}
	attested, err := os.ReadFile(filepath.Join(s.artifacts, "attested"))
	if err != nil || strings.Count(string(attested), "ddpgate_1.2.0_") != 4 {
		t.Errorf("attested %q, %v", attested, err)
	}
	if err := os.Remove(filepath.Join(s.dir, ".goreleaser.yaml")); err != nil {
		t.Fatal(err)
	}
	if s.play("push", `{"ref": "refs/tags/v1.2.1"}`, ".github/workflows/release.yml") {
		t.Errorf("a release that cannot be built went well:\n%s", s.log)
	}
}

// TestThisRepositoryGatesItself plays this repository's own workflows on a copy of it, with a load of half a second.
func TestThisRepositoryGatesItself(t *testing.T) {
	inQuiet(t, func(s *stage) {
		s.copyOfThis()
		for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
			out, err := exec.Command("go", "env", name).Output()
			if err != nil {
				t.Fatal(err)
			}
			s.env = append(s.env, name+"="+strings.TrimSpace(string(out)))
		}
		s.env = append(s.env, "GOFLAGS=-buildvcs=false")
		if ok := s.play("pull_request", ofPull(ownRepository), ".github/workflows/performance.yml"); !ok || !s.has("ddpgate-record/record.json") {
			s.errorf("it failed, or handed no record on")
			return
		}
		s.openPull(ownRepository)
		if !s.play("workflow_run", ofRun(ownRepository), ".github/workflows/performance-comment.yml") || len(s.comments()) != 1 {
			s.errorf("comments %q, want one", s.comments())
		}
	})
}

// copyOfThis makes the stage's repository a copy of this one, with a load of half a second at an address that is free.
func (s *stage) copyOfThis() {
	files, err := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, file := range strings.Split(strings.TrimRight(string(files), "\x00"), "\x00") {
		if info, err := os.Lstat(filepath.Join(root, file)); err == nil && info.Mode().IsRegular() {
			s.copy(filepath.Join(root, file), filepath.Join(s.dir, file))
		}
	}
	s.copy("testdata/ddpgate.yml", filepath.Join(s.dir, ".github/ddpgate.yml"))
	gate := filepath.Join(s.dir, ".github/workflows/performance.yml")
	text, err := os.ReadFile(gate)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(gate, strings.ReplaceAll(string(text), ":3000", ":21876"))
	s.exec(s.dir, "git", "init", "-q")
	for _, when := range []string{"before", "now"} {
		s.exec(s.dir, "git", "add", "-A")
		s.exec(s.dir, "git", "commit", "-q", "--allow-empty", "-m", when)
	}
	s.remote()
}
