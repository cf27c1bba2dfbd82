package baseline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// A git runs the git command in the current directory.
type git struct {
	in    []byte // its standard input
	index string // the index that it works on, instead of the repository's
}

// A gitError is a git command that failed, with what it said.
type gitError struct {
	command string
	said    string
	err     error
}

func (e *gitError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("git %s: %v", e.command, e.err)
	}
	return fmt.Sprintf("git %s: %s", e.command, e.said)
}

func (e *gitError) Unwrap() error { return e.err }

// patience is how long git has to end after it was asked to.
const patience = 5 * time.Second

// run returns what the command prints. It never asks for a password.
func (g git) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0",
		"GIT_AUTHOR_NAME=ddpgate", "GIT_AUTHOR_EMAIL=ddpgate@localhost", "GIT_COMMITTER_NAME=ddpgate", "GIT_COMMITTER_EMAIL=ddpgate@localhost")
	if g.index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+g.index)
	}
	cmd.Stdin = bytes.NewReader(g.in)
	cmd.WaitDelay = patience
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	switch {
	case err == nil:
		return out.Bytes(), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("baselines on a branch need the git command: %w", err)
	}
	return nil, &gitError{args[0], lastLines(redacted(said.String())), err}
}

// lastLines returns the lines of what git said, as one, without its advice.
func lastLines(said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "hint:") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[:min(len(lines), 5)], "; ")
}

// A password may stand in a remote's address.
var credentials = regexp.MustCompile(`([a-z+]+://)[^/@\s]+@`)

func redacted(s string) string {
	if u, err := url.Parse(s); err == nil && u.User != nil {
		return u.Redacted()
	}
	return credentials.ReplaceAllString(s, "$1")
}

// isLocked says whether somebody else changes the same thing at this moment.
func isLocked(err error) bool {
	failed := new(gitError)
	if !errors.As(err, &failed) {
		return false
	}
	for _, sign := range []string{"cannot lock ref", ".lock': File exists", "failed to update ref", "incorrect old value", "reference already exists"} {
		if strings.Contains(failed.said, sign) {
			return true
		}
	}
	return false
}

// commit writes a commit with the edits to another, or to none, and returns its name. No reference points at it.
func (g git) commit(ctx context.Context, tip, message string, edits []edit) (string, error) {
	start := []string{"read-tree", "--empty"}
	if tip != "" {
		start = []string{"read-tree", tip}
	}
	if _, err := g.run(ctx, start...); err != nil {
		return "", err
	}
	var index bytes.Buffer
	for _, e := range edits {
		if e.content == nil {
			fmt.Fprintf(&index, "0 %s\t%s/%s\n", strings.Repeat("0", max(40, len(tip))), e.folder, e.name)
			continue
		}
		blob, err := git{in: e.content}.name(ctx, "hash-object", "-w", "--no-filters", "--stdin")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&index, "100644 %s\t%s/%s\n", blob, e.folder, e.name)
	}
	if _, err := (git{in: index.Bytes(), index: g.index}).run(ctx, "update-index", "--index-info"); err != nil {
		return "", err
	}
	tree, err := g.name(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", "--no-gpg-sign", "-m", message}
	if tip != "" {
		args = append(args, "-p", tip)
	}
	return g.name(ctx, append(args, tree)...)
}

// name runs a command that prints an object's name.
func (g git) name(ctx context.Context, args ...string) (string, error) {
	out, err := g.run(ctx, args...)
	return strings.TrimSpace(string(out)), err
}
