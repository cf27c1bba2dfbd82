//go:build act

package workflows

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	nightlyKey = "nightly"
	reference  = "release/METEOR@3.0.4"
)

// TestTheNightlyWorkflow plays nights one after the other, on a history that is kept at a real remote.
func TestTheNightlyWorkflow(t *testing.T) {
	inQuiet(t, func(s *stage) {
		origin := s.nights()
		if ok := s.night(); !ok || !s.has("performance-nightly/record.json") || !s.has("performance-nightly/history.html") {
			s.errorf("the first night failed, or kept no record and no history")
			return
		}
		s.against(reference)
		if entries := s.kept(origin); len(entries) != 1 {
			s.errorf("%d entries after the first night: %q", len(entries), entries)
		}
		first := s.revision(reference)
		if !s.night() {
			s.errorf("the second night failed")
		}
		s.against(first)
		if entries := s.kept(origin); len(entries) != 2 {
			s.errorf("%d entries after the second night: %q", len(entries), entries)
		}
		if !strings.Contains(s.log, nightlyKey+"  2 records, ") || !strings.Contains(s.summary(), "2 of the 6 records") {
			s.errorf("the second night did not find the first: summary\n%s", s.summary())
		}
		if all := s.Issues(); len(all) > 0 {
			s.errorf("two nights are nothing to open an issue about: %+v", all)
		}
		s.rewrite(origin, 14) // it had been five times as fast before
		if s.night() {
			s.errorf("a night on a history that is red went well")
		}
		all := s.Issues()
		if len(all) != 1 || all[0].State != "open" || !strings.HasPrefix(all[0].Title, "Performance of nightly: cpu_seconds of tiny changed by +") {
			s.errorf("issues %+v, want one that is open", all)
			return
		}
		entries := s.kept(origin)
		s.exec(s.dir, ddpgateProgram, "baseline", "promote", nightlyKey, entries[len(entries)-1].ID, "--accept", "new driver", "--store", "git:ddpgate-baselines@origin")
		for _, dir := range []string{s.dir, filepath.Join(s.checkouts, "base")} {
			s.write(filepath.Join(dir, "app.flags"), "--no-such-flag")
		}
		before := len(s.kept(origin))
		if s.night() { // red, for it cannot be measured; what was accepted is known all the same
			s.errorf("an app that does not start went well")
		}
		s.against(s.revision("HEAD"))
		if after := len(s.kept(origin)); after != before {
			s.errorf("what could not be measured is in the history")
		}
		if all := s.Issues(); len(all) != 1 || all[0].State != "closed" || len(s.Comments(all[0].Number)) != 1 {
			s.errorf("issues %+v, want the one, closed with a word", all)
		}
		if all := s.comments(); len(all) > 0 {
			s.errorf("comments %q", all)
		}
	})
}

// nights sets the stage: a Meteor with a release and a newer commit, and a remote, whose folder it returns.
func (s *stage) nights() (origin string) {
	s.meteors("")
	s.shown("nightly.yml")
	s.exec(s.dir, "git", "tag", reference)
	s.exec(s.dir, "git", "commit", "-q", "--allow-empty", "-m", "tonight")
	base := filepath.Join(s.checkouts, "base")
	if err := os.RemoveAll(base); err != nil {
		s.t.Fatal(err)
	}
	s.exec(s.dir, "git", "clone", "-q", s.dir, base)
	origin = filepath.Join(s.home, "origin.git")
	s.exec(s.dir, "git", "init", "-q", "--bare", origin)
	s.exec(s.dir, "git", "config", "--global", "url.file://"+origin+".insteadOf", "https://github.com/"+ownRepository)
	s.exec(s.dir, "git", "push", "-q", "origin", "HEAD")
	return origin
}

// night plays the workflow once, in a log of its own.
func (s *stage) night() (ok bool) {
	s.log = ""
	return s.play("schedule", `{"schedule": "23 3 * * *"}`, ".github/workflows/nightly.yml")
}

// against notes where the night was not held against a ref, as the history says it.
func (s *stage) against(ref string) {
	if !strings.Contains(s.log, "measuring against "+ref+"\n") {
		s.errorf("the night was not held against %s", ref)
	}
}

func (s *stage) revision(ref string) string {
	out, err := exec.Command("git", "-C", s.dir, "rev-parse", ref+"^{commit}").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func (s *stage) summary() string {
	text, _ := os.ReadFile(filepath.Join(s.artifacts, "summary.md"))
	return string(text)
}

// An entry is what these tests need of one in a key's log.
type entry struct{ ID string }

// kept reads the key's log at the remote.
func (s *stage) kept(origin string) []entry {
	out, _ := exec.Command("git", "-C", origin, "show", "ddpgate-baselines:keys/"+nightlyKey+".jsonl").Output()
	var all []entry
	for line := range strings.Lines(string(out)) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// rewrite puts nights before the first into the history, in which head took a fifth of the processor time. It does so in a clone,
// which is a directory store.
func (s *stage) rewrite(origin string, nights int) {
	s.t.Helper()
	clone := filepath.Join(s.home, "clone")
	s.exec(s.home, "git", "clone", "-q", "--branch", "ddpgate-baselines", "file://"+origin, clone)
	text, err := os.ReadFile(filepath.Join(s.artifacts, "performance-nightly/record.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var rec map[string]any
	if err := json.Unmarshal(text, &rec); err != nil {
		s.t.Fatal(err)
	}
	delete(rec, "id")
	var used []map[string]any // metrics of head's runs
	for _, sc := range rec["scenarios"].([]any) {
		for _, r := range sc.(map[string]any)["runs"].([]any) {
			if run := r.(map[string]any); run["arm"] == "head" {
				used = append(used, run["metrics"].(map[string]any))
			}
		}
	}
	const faster = 5
	scale(used, 1.0/faster)
	for i := range nights {
		shake := math.Exp(0.2 * float64(i*5%3-1)) // or three nights as they are would be three spikes
		scale(used, shake)
		rec["created"] = time.Now().AddDate(0, 0, i-nights).UTC().Format(time.RFC3339)
		text, err := json.Marshal(rec)
		if err != nil {
			s.t.Fatal(err)
		}
		scale(used, 1/shake)
		path := filepath.Join(s.home, fmt.Sprintf("night-%d.json", i))
		s.write(path, string(text))
		s.exec(s.home, ddpgateProgram, "baseline", "save", nightlyKey, path, "--store", "dir:"+clone)
	}
	s.exec(clone, "git", "add", "-A")
	s.exec(clone, "git", "commit", "-q", "-m", "earlier nights")
	s.exec(clone, "git", "push", "-q", "origin", "HEAD")
}

func scale(metrics []map[string]any, by float64) {
	for _, m := range metrics {
		if cpu, ok := m["cpu_seconds"].(float64); ok {
			m["cpu_seconds"] = cpu * by
		}
	}
}
