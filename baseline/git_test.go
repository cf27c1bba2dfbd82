package baseline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestBranchTouchesNothingElse holds everything of a repository but the branch against what it was.
func TestBranchTouchesNothingElse(t *testing.T) {
	for _, kind := range []string{"branch", "remote"} {
		t.Run(kind, func(t *testing.T) {
			spec := stores[kind](t)
			dir, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			state := func() string {
				var b strings.Builder
				for _, args := range [][]string{{"status", "--porcelain"}, {"rev-parse", "HEAD"}, {"symbolic-ref", "HEAD"}, {"ls-files", "-s"}, {"config", "--list", "--local"}, {"rev-parse", "--is-shallow-repository"}, {"for-each-ref", "refs/heads/main", "refs/remotes/origin/main"}} {
					b.WriteString(inRepository(t, dir, args...))
				}
				return b.String()
			}
			before := state()
			s := open(t, spec)
			save(t, s, "main", 1)
			save(t, s, "main", 2)
			load(t, s, "main")
			if after := state(); after != before {
				t.Errorf("the repository was\n%s\nand is\n%s", before, after)
			}
			if _, err := os.Stat(filepath.Join(dir, ".git", "FETCH_HEAD")); err == nil {
				t.Error("FETCH_HEAD was written")
			}
		})
	}
}

// TestShallowClone keeps records from a clone that has one commit, as CI makes it.
func TestShallowClone(t *testing.T) {
	spec := stores["remote"](t)
	for i := range 5 {
		save(t, open(t, spec), "main", i)
	}
	address := strings.TrimSpace(inRepository(t, ".", "remote", "get-url", "origin"))
	dir := t.TempDir()
	inRepository(t, dir, "clone", "--quiet", "--depth=1", "--single-branch", address, ".")
	t.Chdir(dir)
	s := open(t, spec)
	if got := load(t, s, "main"); len(got) != 5 {
		t.Errorf("got %d entries", len(got))
	}
	save(t, s, "main", 9)
	if got := load(t, open(t, spec), "main"); len(got) != 6 {
		t.Errorf("after a save: got %d entries", len(got))
	}
	if got := strings.TrimSpace(inRepository(t, dir, "rev-list", "--count", "HEAD")); got != "1" {
		t.Errorf("the clone has %s commits, had 1", got)
	}
}

func TestBranchOfOtherThings(t *testing.T) {
	t.Chdir(repository(t))
	for _, name := range []string{"keys/id.pub", "records/x.json.gz"} { // as a store has folders, but for something else
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, name, []byte("x"))
	}
	inRepository(t, ".", "add", ".")
	inRepository(t, ".", "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "-m", "others")
	before := head(t, ".", "main")
	s := open(t, "git:main")
	_, err1 := s.Keys(t.Context())
	_, err2 := s.Save(t.Context(), "main", numbered(1), at(1))
	for i, err := range []error{err1, err2} {
		if err == nil || !strings.Contains(err.Error(), "take a branch of its own") {
			t.Errorf("call %d: got %v", i+1, err)
		}
	}
	if head(t, ".", "main") != before {
		t.Error("a branch of other things was changed")
	}
}

// TestForeignFilesOnBranch puts files of others beside a store's, which stay.
func TestForeignFilesOnBranch(t *testing.T) {
	t.Chdir(repository(t))
	save(t, open(t, "git:b"), "main", 1)
	worktree := t.TempDir()
	inRepository(t, ".", "worktree", "add", "--quiet", worktree, "b")
	for _, name := range []string{"README.md", "keys/notes.txt", "records/x"} {
		writeFile(t, filepath.Join(worktree, name), []byte("x"))
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(worktree, "keys", "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	inRepository(t, worktree, "add", ".")
	inRepository(t, worktree, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "-m", "foreign")
	s, warned := watched(t, "git:b")
	keys, err := s.Keys(t.Context())
	if err != nil || len(keys) != 1 || len(*warned) != 2 {
		t.Errorf("got %v, %v, warnings %v", keys, err, *warned)
	}
	if _, err := s.Save(t.Context(), "link", numbered(2), at(2)); err == nil {
		t.Error("saved over a link")
	}
	if _, err := s.Save(t.Context(), "main", numbered(3), at(3)); err != nil {
		t.Error(err)
	}
	if got := inRepository(t, ".", "ls-tree", "-r", "--name-only", "b"); !strings.Contains(got, "README.md") || !strings.Contains(got, "keys/notes.txt") || !strings.Contains(got, "records/x") {
		t.Errorf("a foreign file is gone: %s", got)
	}
}

func TestUnreachableRemote(t *testing.T) {
	t.Chdir(repository(t))
	for _, remote := range []string{"origin", "file:///no/such/place.git"} {
		s := open(t, "git:b@"+remote)
		_, err1 := s.Keys(t.Context())
		_, err2 := s.Save(t.Context(), "main", numbered(1), at(1))
		for i, err := range []error{err1, err2} {
			if err == nil || errors.Is(err, ErrNoKey) || !strings.Contains(err.Error(), "git ls-remote: ") || !strings.Contains(err.Error(), strings.TrimPrefix(remote, "file://")) {
				t.Errorf("%s, call %d: got %v", remote, i+1, err)
			}
		}
	}
}

// TestRefusedPush saves where the server takes nothing: the reason is told, once.
func TestRefusedPush(t *testing.T) {
	spec := stores["remote"](t)
	first := save(t, open(t, spec), "main", 1)
	bare := strings.TrimPrefix(strings.TrimSpace(inRepository(t, ".", "remote", "get-url", "origin")), "file://")
	hook := filepath.Join(bare, "hooks", "pre-receive")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho branch is protected >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, spec).Save(t.Context(), "main", numbered(2), at(2))
	if err == nil || errors.Is(err, errMoved) || !strings.Contains(err.Error(), "branch is protected") {
		t.Errorf("got %v", err)
	}
	if got := load(t, open(t, spec), "main"); len(got) != 1 || got[0] != first {
		t.Errorf("got %v", got)
	}
}

func TestNoRepository(t *testing.T) {
	plainGit(t)
	t.Setenv("GIT_CEILING_DIRECTORIES", os.TempDir())
	t.Chdir(t.TempDir())
	if _, err := open(t, "git:b").Keys(t.Context()); err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("got %v", err)
	}
}

func TestPasswordsAreNotTold(t *testing.T) {
	t.Chdir(repository(t))
	s := open(t, "git:b@http://me:secret@127.0.0.1:1/x.git")
	if _, err := s.Keys(t.Context()); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

// TestAncestry makes main with a merged side branch, and a pull request that left main at its third commit.
func TestAncestry(t *testing.T) {
	dir := repository(t)
	t.Chdir(dir)
	commits := []string{head(t, dir, "HEAD")}
	inRepository(t, dir, "checkout", "--quiet", "-b", "side")
	side := commit(t, dir, "side")
	inRepository(t, dir, "checkout", "--quiet", "main")
	inRepository(t, dir, "-c", "user.name=x", "-c", "user.email=x@example.com", "merge", "--quiet", "--no-ff", "-m", "merge", "side")
	commits = append([]string{head(t, dir, "HEAD")}, commits...)
	commits = append([]string{commit(t, dir, "three")}, commits...)
	inRepository(t, dir, "checkout", "--quiet", "-b", "feature")
	commit(t, dir, "mine")
	inRepository(t, dir, "checkout", "--quiet", "main")
	later := commit(t, dir, "later")

	inRepository(t, dir, "checkout", "--quiet", "feature")
	got, err := Ancestry(t.Context(), "nowhere", "main")
	if err != nil || !slices.Equal(got.Commits, commits) || got.Shallow {
		t.Errorf("from the feature: got %v, %v, want %v, without %s and %s", got, err, commits, side, later)
	}
	inRepository(t, dir, "checkout", "--quiet", "main")
	if got, err := Ancestry(t.Context(), "main"); err != nil || !slices.Equal(got.Commits, commits) {
		t.Errorf("from main: got %v, %v, want its own first parent and so on", got, err)
	}
	if _, err := Ancestry(t.Context(), "nowhere"); err == nil || !strings.Contains(err.Error(), "no branch nowhere") {
		t.Errorf("got %v", err)
	}
	shallow := t.TempDir()
	inRepository(t, shallow, "clone", "--quiet", "--depth=1", "file://"+dir, ".")
	t.Chdir(shallow)
	if _, err := Ancestry(t.Context(), "main"); !errors.Is(err, ErrShallow) {
		t.Errorf("shallow: got %v, want %v", err, ErrShallow)
	}
	deeper := t.TempDir()
	inRepository(t, deeper, "clone", "--quiet", "--depth=2", "file://"+dir, ".")
	t.Chdir(deeper)
	if got, err := Ancestry(t.Context(), "main"); err != nil || !got.Shallow || !slices.Equal(got.Commits, commits[:1]) {
		t.Errorf("two commits of it: got %+v, %v, want the one before, and that there are more", got, err)
	}
}

func TestNearest(t *testing.T) {
	entry := func(i int, commit, verdict string) Entry {
		return Entry{ID: fmt.Sprint(i), Commit: commit, Verdict: verdict, Created: at(i)}
	}
	entries := []Entry{entry(1, "c", ""), entry(2, "b", "pass"), entry(3, "b", "inconclusive"), entry(4, "a", "regression"), entry(5, "z", "pass"), entry(6, "a", "unmeasured")}
	now := at(3).Add(48 * time.Hour)
	for _, tt := range []struct {
		commits  []string
		want     string
		distance int
	}{
		{[]string{"a", "b", "c"}, "3", 1}, // a is red
		{[]string{"x", "y", "c"}, "1", 2},
		{[]string{"z"}, "5", 0},
		{[]string{"x"}, "", 0},
		{nil, "", 0},
	} {
		got, ok := Nearest(entries, tt.commits, now)
		if ok != (tt.want != "") || got.ID != tt.want || got.Distance != tt.distance {
			t.Errorf("%v: got %+v, %v, want record %s at %d", tt.commits, got, ok, tt.want, tt.distance)
		}
	}
	held := []Entry{entry(1, "b", "pass"), entry(2, "a", "pass")}
	held[1].Held = true
	if got, ok := Nearest(held, []string{"a", "b"}, now); !ok || got.ID != "1" {
		t.Errorf("held for the history only: got %+v, %v, want the one farther away", got, ok)
	}
	again := held[1]
	again.Held, again.Promoted = false, true
	if got, ok := Nearest(append(held, again), []string{"a", "b"}, now); !ok || got.ID != "2" {
		t.Errorf("promoted after that: got %+v, %v", got, ok)
	}
	entries[3].Accepted = "worth it"
	got, _ := Nearest(entries, []string{"a", "b"}, now)
	if got.ID != "4" {
		t.Errorf("accepted: got %+v", got)
	}
	for _, tt := range []struct {
		c    Config
		at   Choice
		want string
	}{
		{Config{}, Choice{Age: 29 * 24 * time.Hour, Distance: 50}, ""},
		{Config{}, Choice{Age: 31 * 24 * time.Hour}, "more than max_age, 30 days"},
		{Config{}, Choice{Distance: 51}, "more than max_distance, 50"},
		{Config{MaxAge: time.Hour}, Choice{Age: 2 * time.Hour}, "measured 2 hours ago"},
		{Config{MaxDistance: 2}, Choice{Distance: 3}, "3 commits away"},
	} {
		if got := tt.c.TooFar(tt.at); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%+v: got %q, want %q", tt.at, got, tt.want)
		}
	}
}
