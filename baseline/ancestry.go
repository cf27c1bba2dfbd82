package baseline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrShallow says that the clone does not go back far enough.
var ErrShallow = errors.New("this clone has too little history: fetch all of it (fetch-depth: 0 in actions/checkout)")

// farthest is how many commits are looked at.
const farthest = 1000

// A Lineage are the commits whose records may be the baseline of another commit.
type Lineage struct {
	Commits []string // nearest first
	Shallow bool     // there may be more that the clone does not have
}

// Ancestry returns the commits whose records may be the baseline of the commit that is checked out in the current directory, by the git command: the commit at which it left a
// branch, and its first parents. A commit that is on the branch itself is held against its own first parent. branches are tried in turn, each at the remote origin first.
// ErrShallow says that the clone has none of them.
func Ancestry(ctx context.Context, branches ...string) (Lineage, error) {
	branch, err := knownBranch(ctx, branches)
	if err != nil {
		return Lineage{}, err
	}
	head, err := git{}.name(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return Lineage{}, fmt.Errorf("no commit is checked out: %w", err)
	}
	shallow, err := git{}.name(ctx, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return Lineage{}, err
	}
	left, err := git{}.name(ctx, "merge-base", head, branch)
	if err != nil {
		if shallow == "true" {
			return Lineage{}, ErrShallow
		}
		return Lineage{}, fmt.Errorf("%.12s and %s have no commit in common: %w", head, branch, err)
	}
	listed, err := git{}.name(ctx, "rev-list", "--first-parent", fmt.Sprintf("--max-count=%d", farthest), left)
	if err != nil {
		return Lineage{}, err
	}
	commits := strings.Fields(listed)
	if left == head {
		commits = commits[1:]
	}
	if len(commits) == 0 && shallow == "true" {
		return Lineage{}, ErrShallow
	}
	return Lineage{commits, shallow == "true"}, nil
}

func knownBranch(ctx context.Context, branches []string) (string, error) {
	for _, b := range branches {
		for _, ref := range []string{"refs/remotes/origin/" + b, "refs/heads/" + b} {
			if name, err := (git{}).name(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}"); err == nil {
				return name, nil
			} else if ctx.Err() != nil {
				return "", ctx.Err()
			}
		}
	}
	return "", fmt.Errorf("no branch %s is known here, so that the commits before this one are not either", strings.Join(branches, " or "))
}

// A Choice is the entry of a log that a commit is to be held against.
type Choice struct {
	Entry
	Distance int           // first parents from where the commit left the branch: 0 for that commit itself
	Age      time.Duration // since it was measured
}

// Nearest returns the newest healthy entry of the nearest of the commits that has one. ok is false if there is none.
func Nearest(entries []Entry, commits []string, now time.Time) (c Choice, ok bool) {
	distance := make(map[string]int, len(commits))
	for i, commit := range commits {
		distance[commit] = i
	}
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		d, found := distance[e.Commit]
		if found && e.Healthy() && (!ok || d < c.Distance) {
			c, ok = Choice{e, d, now.Sub(e.Created)}, true
		}
	}
	return c, ok
}

// Healthy says whether nothing speaks against the entry as a baseline: it was not kept for the history only, and its record was not judged to be worse, nor could it not be
// measured, unless somebody accepted it. Promoting a record that was held makes a new entry of it, which is not.
func (e Entry) Healthy() bool {
	return !e.Held && (e.Accepted != "" || e.Verdict != "regression" && e.Verdict != "unmeasured")
}

// How old and how far away a baseline may be where the configuration does not say.
const (
	DefaultMaxAge      = 30 * 24 * time.Hour
	DefaultMaxDistance = 50
)

// TooFar says why a choice must not be a baseline, empty if nothing speaks against it.
func (c Config) TooFar(choice Choice) string {
	age, distance := c.MaxAge, c.MaxDistance
	if age == 0 {
		age = DefaultMaxAge
	}
	if distance == 0 {
		distance = DefaultMaxDistance
	}
	switch {
	case choice.Age > age:
		return fmt.Sprintf("the nearest baseline was measured %s ago, more than max_age, %s", days(choice.Age), days(age))
	case choice.Distance > distance:
		return fmt.Sprintf("the nearest baseline is %d commits away, more than max_distance, %d", choice.Distance, distance)
	}
	return ""
}

// String says which record it is, how far away and how old.
func (c Choice) String() string {
	return fmt.Sprintf("record %.19s of commit %.12s, %s", c.ID, c.Commit, c.Away())
}

// Away says how far away the record is and how old.
func (c Choice) Away() string {
	where := "the nearest earlier one"
	if c.Distance == 1 {
		where = "1 commit farther than the nearest"
	} else if c.Distance > 1 {
		where = fmt.Sprintf("%d commits farther than the nearest", c.Distance)
	}
	return fmt.Sprintf("%s, measured %s ago", where, days(c.Age))
}

func days(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%.0f days", d.Hours()/24)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.0f hours", d.Hours())
	}
	if d.Round(time.Minute) == time.Minute {
		return "1 minute"
	}
	return fmt.Sprintf("%.0f minutes", max(0, d.Minutes()))
}
