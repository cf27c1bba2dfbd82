package github

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// noon is when these tests take place.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// runner is what a step is given, and what it leaves.
type runner struct {
	env             map[string]string
	log             bytes.Buffer
	output, summary string // files
}

func newRunner(t interface{ TempDir() string }) *runner {
	dir := t.TempDir()
	r := &runner{output: filepath.Join(dir, "output"), summary: filepath.Join(dir, "summary")}
	r.env = map[string]string{"GITHUB_OUTPUT": r.output, "GITHUB_STEP_SUMMARY": r.summary}
	return r
}

func (r *runner) step(secret string) *Step {
	return NewStep(&r.log, func(k string) string { return r.env[k] }, secret)
}

// outputs reads the file of outputs as the runner does: NAME<<DELIMITER, lines, DELIMITER.
func (r *runner) outputs() (map[string]string, error) {
	b, err := os.ReadFile(r.output)
	if errors.Is(err, os.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	found := make(map[string]string)
	lines := strings.Split(string(b), "\n")
	for i := 0; i < len(lines); i++ {
		name, end, ok := strings.Cut(lines[i], "<<")
		if !ok {
			continue
		}
		var value []string
		for i++; i < len(lines) && lines[i] != end; i++ {
			value = append(value, lines[i])
		}
		found[name] = strings.Join(value, "\n")
	}
	return found, nil
}

func TestOutputs(t *testing.T) {
	r := newRunner(t)
	s := r.step("")
	want := map[string]string{"verdict": "regression", "many": "a\nb=c\n\nd<<e", "empty": "", "last": "x\n"}
	for name, value := range want {
		if err := s.Output(name, value); err != nil {
			t.Fatal(err)
		}
	}
	forged := "x\n" + delimiter + "\nverdict<<" + delimiter + "\npass"
	if err := s.Output("reason", forged); !errors.Is(err, ErrForged) {
		t.Errorf("error %v, want %v", err, ErrForged)
	}
	got, err := r.outputs()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
}

// TestNoValueForgesAnOutput puts together what an attacker would, and reads the file as the runner does.
func TestNoValueForgesAnOutput(t *testing.T) {
	piece := rapid.SampledFrom([]string{"\n", "\r\n", "\r", delimiter, "verdict", "<<", "=", "pass", "EOF", " ", "\x00", "\xff", "::set-output name=verdict::pass"})
	rapid.Check(t, func(rt *rapid.T) {
		value := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(rt, "pieces"), "")
		r := newRunner(t)
		s := r.step("")
		if err := s.Output("verdict", "regression"); err != nil {
			rt.Fatal(err)
		}
		err := s.Output("reason", value)
		got, readErr := r.outputs()
		if readErr != nil {
			rt.Fatal(readErr)
		}
		if err == nil {
			delete(got, "reason")
		}
		if !maps.Equal(got, map[string]string{"verdict": "regression"}) {
			rt.Fatalf("%q made the outputs %q", value, got)
		}
	})
}

func TestOutsideOfAJobNothingIsWritten(t *testing.T) {
	r := newRunner(t)
	clear(r.env)
	s := r.step("")
	if err := errors.Join(s.Output("a", "b"), s.Summary("c")); err != nil {
		t.Error(err)
	}
	r.env["GITHUB_OUTPUT"] = filepath.Join(t.TempDir(), "no", "such", "directory")
	if err := s.Output("a", "b"); err == nil {
		t.Error("a file that cannot be written is no error")
	}
}

func TestSummaryStaysUnderWhatGitHubTakes(t *testing.T) {
	r := newRunner(t)
	s := r.step("")
	half := strings.Repeat("x", MaxSummary/2)
	if err := s.Summary(half); err != nil {
		t.Fatal(err)
	}
	if err := s.Summary(half); err == nil {
		t.Error("more than 1 MiB was taken")
	}
	info, err := os.Stat(r.summary)
	if err != nil || info.Size() > MaxSummary || info.Size() < MaxSummary/2 {
		t.Errorf("summary: %v, %v", info.Size(), err)
	}
}

func TestAnnotations(t *testing.T) {
	r := newRunner(t)
	s := r.step("hush")
	s.Error(Place{File: "perf/a,b:c.yml", Line: 3, Column: 7}, "unknown key\n::error::forged 100% hush")
	s.Warning(Place{}, "%s inconclusive")
	for range 20 {
		s.Notice(Place{}, "again")
	}
	lines := strings.Split(strings.TrimSpace(r.log.String()), "\n")
	if len(lines) != maxAnnotations {
		t.Errorf("%d annotations, want %d", len(lines), maxAnnotations)
	}
	want := "::error col=7,file=perf/a%2Cb%3Ac.yml,line=3::unknown key%0A::error::forged 100%25 ***"
	if lines[0] != want || lines[1] != "::warning::%25s inconclusive" {
		t.Errorf("got:\n%s\n%s\nwant:\n%s", lines[0], lines[1], want)
	}
}

func TestMutedTextIsNoCommand(t *testing.T) {
	r := newRunner(t)
	unmute := r.step("").Mute()
	r.log.WriteString("::set-output name=verdict::pass\n::error::x")
	unmute()
	m := regexp.MustCompile(`(?s)^::stop-commands::([A-Z2-7]{20,})\n(.*)\n::([A-Z2-7]+)::\n$`).FindStringSubmatch(r.log.String())
	if m == nil || m[1] != m[3] {
		t.Fatalf("log %q is not muted from its begin to its end", r.log.String())
	}
	again := newRunner(t)
	again.step("").Mute()()
	if strings.Contains(again.log.String(), m[1]) {
		t.Error("the word that ends the muting is always the same")
	}
}
