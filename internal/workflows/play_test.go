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
			"failure", "regression", "1", "### ❌ Regression: cpu\\_seconds of tiny rose by", "### ❌ Regression: cpu\\_seconds of tiny", "regression: cpu_seconds of tiny"},
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
			s := newStage(t)
			s.copy("testdata/workflows/gate.yml", filepath.Join(s.dir, ".github/workflows/gate.yml"))
			s.copy("testdata/ddpgate.yml", filepath.Join(s.dir, "ddpgate.yml"))
			s.commit(s.dir)
			s.remote()
			s.env = append(s.env, "CASE_CONFIG="+tc.config, "CASE_APP="+tc.app, "CASE_BASE_APP="+tc.base, "CASE_SCENARIOS="+tc.scenarios,
				"CASE_RUNS="+tc.runs, "CASE_THRESHOLDS="+tc.thresholds, "CASE_INCONCLUSIVE="+tc.inconclusive)
			log, ok := s.play("pull_request", ofPull(tc.from), ".github/workflows/gate.yml")
			if !ok {
				t.Fatalf("act failed:\n%s", log)
			}
			got := s.readBack()
			if got.Outcome != tc.outcome || got.Outputs["verdict"] != tc.verdict || got.Outputs["regressions"] != tc.regressions {
				t.Errorf("%s, outputs %v, want %s with verdict %s and %s regressions:\n%s", got.Outcome, got.Outputs, tc.outcome, tc.verdict, tc.regressions, log)
			}
			if !strings.Contains(got.summary, tc.summary) {
				t.Errorf("summary:\n%s\nwant %q", got.summary, tc.summary)
			}
			if all := s.comments(); tc.comment == "" && len(all) > 0 || tc.comment != "" && (len(all) != 1 || !strings.HasPrefix(all[0], tc.comment)) {
				t.Errorf("comments %q, want %q:\n%s", all, tc.comment, log)
			}
			if !strings.Contains(log, tc.log) {
				t.Errorf("no %q in the log:\n%s", tc.log, log)
			}
			if found, _ := exec.Command("find", s.dir, s.home, s.artifacts, "-name", "pwned*").Output(); len(found) > 0 {
				t.Errorf("an input was obeyed: %s", found)
			}
		})
	}
}

// meteors checks a Meteor out for each arm, and the app.
func (s *stage) meteors(headFlags string) {
	for arm, flags := range map[string]string{"base": "", "head": headFlags} {
		dir := filepath.Join(s.checkouts, arm)
		s.copy("testdata/meteor/meteor", filepath.Join(dir, "meteor"))
		s.copy("testdata/meteor/mongod", filepath.Join(dir, "dev_bundle/mongodb/bin/mongod"))
		s.write(filepath.Join(dir, "app.flags"), flags)
		s.write(filepath.Join(dir, "ddpgate.yml"), s.config())
		s.commit(dir)
	}
	s.write(filepath.Join(s.checkouts, "performance/apps/tasks-3.x/package.json"), "{}\n")
	s.write(filepath.Join(s.dir, "ddpgate.yml"), s.config())
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
	}{"green": {"", "### ✅ Pass: ", true}, "red": {"--cpu 8ms", "### ❌ Regression: cpu\\_seconds of tiny", false}} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.meteors(tc.flags)
			s.shown("pull-request.yml")
			log, ok := s.play("pull_request", ofPull(ownRepository), ".github/workflows/pull-request.yml")
			if ok != tc.ok {
				t.Errorf("went well: %v, want %v:\n%s", ok, tc.ok, log)
			}
			if all := s.comments(); len(all) != 1 || !strings.HasPrefix(all[0], tc.comment) {
				t.Errorf("comments %q, want %q:\n%s", all, tc.comment, log)
			}
			if !s.has("performance/record.json") || !s.has("performance/report.md") {
				t.Error("the record and its report were not kept")
			}
		})
	}
}

// TestTheForksWorkflows plays both halves: the one without rights is red and writes nothing, the other comments, and again when it is
// green.
func TestTheForksWorkflows(t *testing.T) {
	s := newStage(t)
	s.meteors("--cpu 8ms")
	s.stubMeteorOnPath()
	s.openPull(fork)
	s.shown("fork.yml", "fork-comment.yml")
	halves := func(want bool) {
		t.Helper()
		log, ok := s.play("pull_request", ofPull(fork), ".github/workflows/fork.yml")
		if ok != want || s.Count("POST", "/") > s.Count("POST", "/graphql") && len(s.comments()) == 0 {
			t.Fatalf("went well: %v, want %v:\n%s", ok, want, log)
		}
		if !s.has("ddpgate-record/record.json") {
			t.Fatalf("no record was handed on:\n%s", log)
		}
		if log, ok := s.play("workflow_run", ofRun(fork), ".github/workflows/fork-comment.yml"); !ok {
			t.Fatalf("the second half failed:\n%s", log)
		}
	}
	halves(false)
	if all := s.comments(); len(all) != 1 || !strings.HasPrefix(all[0], "### ❌ Regression: cpu\\_seconds of tiny") {
		t.Errorf("comments %q, want the regression", all)
	}
	if checks := s.Checks(); len(checks) != 1 || checks[0]["conclusion"] != "failure" || checks[0]["head_sha"] != headSHA {
		t.Errorf("checks %v", checks)
	}
	s.write(filepath.Join(s.checkouts, "head/app.flags"), "")
	halves(true)
	if all := s.comments(); len(all) != 1 || !strings.HasPrefix(all[0], "### ✅ Resolved: ") {
		t.Errorf("comments %q, want the one, resolved", all)
	}
}

// stubMeteorOnPath puts Meteor's command line where an installation puts it.
func (s *stage) stubMeteorOnPath() {
	bin := filepath.Join(s.home, "bin")
	s.copy("testdata/meteor/meteor", filepath.Join(bin, "meteor"))
	s.write(filepath.Join(bin, "npx"), "#!/bin/sh\n[ \"$2\" = meteor@3.0.4 ]\n")
	s.env = append(s.env, "PATH="+bin+":"+os.Getenv("PATH"))
}

func TestTheNightlyWorkflow(t *testing.T) {
	s := newStage(t)
	s.meteors("")
	s.shown("nightly.yml")
	origin := filepath.Join(s.home, "origin.git")
	s.exec(s.dir, "git", "init", "-q", "--bare", origin)
	s.exec(s.dir, "git", "config", "--global", "url.file://"+origin+".insteadOf", "https://github.com/"+ownRepository)
	s.exec(s.dir, "git", "push", "-q", "origin", "HEAD")
	log, ok := s.play("schedule", `{"schedule": "23 3 * * *"}`, ".github/workflows/nightly.yml")
	if !ok || !s.has("performance-nightly/record.json") {
		t.Fatalf("it failed, or kept no record:\n%s", log)
	}
	s.exec(origin, "git", "rev-parse", "--verify", "-q", "refs/heads/ddpgate-baselines")
	if len(s.comments()) > 0 {
		t.Errorf("comments %q", s.comments())
	}
	for _, arm := range []string{"base", "head"} { // a night that cannot be measured writes nothing and is red
		s.write(filepath.Join(s.checkouts, arm, "app.flags"), "--no-such-flag")
	}
	before, _ := exec.Command("git", "-C", origin, "rev-parse", "ddpgate-baselines").Output()
	if log, ok := s.play("schedule", `{"schedule": "23 3 * * *"}`, ".github/workflows/nightly.yml"); ok {
		t.Errorf("an app that does not start went well:\n%s", log)
	}
	if after, _ := exec.Command("git", "-C", origin, "rev-parse", "ddpgate-baselines").Output(); string(after) != string(before) {
		t.Error("what could not be measured became a baseline")
	}
}

func TestTheReleaseWorkflow(t *testing.T) {
	s := newStage(t)
	s.copy(filepath.Join(root, ".github/workflows/release.yml"), filepath.Join(s.dir, ".github/workflows/release.yml"))
	s.copy(filepath.Join(root, ".goreleaser.yaml"), filepath.Join(s.dir, ".goreleaser.yaml"))
	s.commit(s.dir)
	s.remote()
	log, ok := s.play("push", `{"ref": "refs/tags/v1.2.0"}`, ".github/workflows/release.yml")
	if !ok {
		t.Fatalf("it failed:\n%s", log)
	}
	attested, err := os.ReadFile(filepath.Join(s.artifacts, "attested"))
	if err != nil || strings.Count(string(attested), "ddpgate_1.2.0_") != 4 {
		t.Errorf("attested %q, %v", attested, err)
	}
	if err := os.Remove(filepath.Join(s.dir, ".goreleaser.yaml")); err != nil {
		t.Fatal(err)
	}
	if log, ok := s.play("push", `{"ref": "refs/tags/v1.2.1"}`, ".github/workflows/release.yml"); ok {
		t.Errorf("a release that cannot be built went well:\n%s", log)
	}
}

// TestThisRepositoryGatesItself plays this repository's own workflow on a copy of it, with a load of half a second.
func TestThisRepositoryGatesItself(t *testing.T) {
	s := newStage(t)
	files, err := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
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
		t.Fatal(err)
	}
	s.write(gate, strings.ReplaceAll(string(text), ":3000", ":21876"))
	s.exec(s.dir, "git", "init", "-q")
	for _, when := range []string{"before", "now"} {
		s.exec(s.dir, "git", "add", "-A")
		s.exec(s.dir, "git", "commit", "-q", "--allow-empty", "-m", when)
	}
	s.remote()
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		s.env = append(s.env, name+"="+strings.TrimSpace(string(out)))
	}
	s.env = append(s.env, "GOFLAGS=-buildvcs=false")
	log, ok := s.play("pull_request", ofPull(ownRepository), ".github/workflows/performance.yml")
	if !ok || !s.has("ddpgate-record/record.json") {
		t.Fatalf("it failed, or handed no record on:\n%s", log)
	}
	s.openPull(ownRepository)
	if log, ok := s.play("workflow_run", ofRun(ownRepository), ".github/workflows/performance-comment.yml"); !ok || len(s.comments()) != 1 {
		t.Fatalf("no comment: %q\n%s", s.comments(), log)
	}
}
