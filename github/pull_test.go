package github

import (
	"errors"
	"strings"
	"testing"

	"github.com/ddpgate/ddpgate/internal/githubtest"
)

var (
	commit = strings.Repeat("a1", 20)
	older  = strings.Repeat("b2", 20)
)

func side(repository, branch, commit string) githubtest.Side {
	return githubtest.Side{SHA: commit, Ref: branch, Repo: githubtest.Repo{FullName: repository}}
}

// opened is an open pull request onto the fake's repository.
func opened(number int, head githubtest.Side) githubtest.Pull {
	return githubtest.Pull{Number: number, State: "open", Head: head, Base: side(githubtest.Repository, "devel", older)}
}

func TestPullOf(t *testing.T) {
	ours, fork := side("meteor/meteor", "faster", commit), side("octocat/meteor", "faster", commit)
	moved := opened(3, side("octocat/meteor", "faster", older))
	moved.Commits = []string{commit, older}
	closed := opened(4, ours)
	closed.State = "closed"
	elsewhere := opened(5, ours)
	elsewhere.Base.Repo.FullName = "octocat/meteor"
	tests := map[string]struct {
		pulls   []githubtest.Pull
		unknown bool // the commit is only in the fork
		head    Upstream
		want    int
		err     error
	}{
		"of this repository":            {[]githubtest.Pull{opened(1, ours)}, false, Upstream{SHA: commit, Repository: "meteor/meteor", Branch: "faster"}, 1, nil},
		"of a fork":                     {[]githubtest.Pull{opened(2, fork)}, true, Upstream{SHA: commit, Repository: "octocat/meteor", Branch: "faster"}, 2, nil},
		"among others":                  {[]githubtest.Pull{closed, moved, opened(2, fork)}, false, Upstream{SHA: commit, Repository: "octocat/meteor", Branch: "faster"}, 2, nil},
		"whose head has moved on":       {[]githubtest.Pull{moved}, false, Upstream{SHA: commit, Repository: "octocat/meteor", Branch: "faster"}, 0, ErrNoPull},
		"that is closed":                {[]githubtest.Pull{closed}, false, Upstream{SHA: commit, Repository: "meteor/meteor", Branch: "faster"}, 0, ErrNoPull},
		"of another repository's fork":  {[]githubtest.Pull{opened(2, fork)}, false, Upstream{SHA: commit, Repository: "mallory/meteor", Branch: "faster"}, 0, ErrNoPull},
		"onto another repository":       {[]githubtest.Pull{elsewhere}, false, Upstream{SHA: commit, Repository: "meteor/meteor", Branch: "faster"}, 0, ErrNoPull},
		"two of one commit":             {[]githubtest.Pull{opened(1, ours), opened(6, ours)}, false, Upstream{SHA: commit, Repository: "meteor/meteor", Branch: "faster"}, 0, ErrTwoPull},
		"no pull request":               {nil, true, Upstream{SHA: commit, Repository: "octocat/meteor", Branch: "faster"}, 0, ErrNoPull},
		"one of a branch called so too": {[]githubtest.Pull{opened(8, side("octocat/meteor", "faster", older))}, true, Upstream{SHA: commit, Repository: "octocat/meteor", Branch: "faster"}, 0, ErrNoPull},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := githubtest.New(t)
			f.PageSize = 1
			f.Pulls, f.Unknown[commit] = tc.pulls, tc.unknown
			got, err := onFake(t, f).PullOf(t.Context(), tc.head)
			if got.Number != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("got %+v, %v, want number %d, %v", got, err, tc.want, tc.err)
			}
		})
	}
}

func TestPullOfAsksOnlyForCommits(t *testing.T) {
	f := githubtest.New(t)
	for _, bad := range []string{"", "main", "../../../user", strings.Repeat("a", 39), strings.Repeat("A", 40)} {
		if _, err := onFake(t, f).PullOf(t.Context(), Upstream{SHA: bad}); err == nil {
			t.Errorf("%q was taken for a commit", bad)
		}
	}
	if n := f.Count("GET", "/"); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
}

func TestLabel(t *testing.T) {
	f := githubtest.New(t)
	f.PageSize = 2
	f.Labels[7] = []string{"bug", "docs", "Perf-Accepted"}
	for _, by := range []string{"octocat", "hubot"} {
		e := githubtest.Event{Event: "labeled", Actor: githubtest.User{Login: by}}
		e.Label.Name = "perf-accepted"
		f.Events[7] = append(f.Events[7], githubtest.Event{Event: "closed", Actor: githubtest.User{Login: "x"}}, e)
	}
	c := onFake(t, f)
	if l, err := c.Label(t.Context(), 7, "perf-accepted"); err != nil || l != (Label{true, "hubot"}) {
		t.Errorf("got %+v, %v, want the one who labelled last", l, err)
	}
	if l, err := c.Label(t.Context(), 7, "perf"); err != nil || l.There {
		t.Errorf("got %+v, %v, want none", l, err)
	}
	f.Fail(githubtest.Fault{Method: "GET", Path: "/events", Times: 9, Status: 403})
	if l, err := c.Label(t.Context(), 7, "perf-accepted"); err != nil || l != (Label{There: true}) {
		t.Errorf("got %+v, %v, want the label of nobody known", l, err)
	}
	f.Fail(githubtest.Fault{Method: "GET", Path: "/labels", Times: 9, Status: 403})
	if l, err := c.Label(t.Context(), 7, "perf-accepted"); err == nil || l.There {
		t.Errorf("got %+v, %v, want an error", l, err)
	}
}

func TestCheck(t *testing.T) {
	f := githubtest.New(t)
	c := onFake(t, f)
	check := Check{Name: "ddpgate", SHA: commit, Conclusion: Failure, Title: strings.Repeat("ü", 300), Summary: "slower", DetailsURL: "http://ghe.example/run/1"}
	if err := c.Check(t.Context(), check, noon); err != nil {
		t.Fatal(err)
	}
	all := f.Checks()
	if len(all) != 1 || all[0]["head_sha"] != commit || all[0]["conclusion"] != "failure" || all[0]["completed_at"] != "2026-11-30T12:00:00Z" {
		t.Errorf("checks: %v", all)
	}
	if err := c.Check(t.Context(), Check{Name: "ddpgate", SHA: commit}, noon); err == nil {
		t.Error("a check without a conclusion was posted")
	}
	check.Summary = strings.Repeat("x", maxCheck+1)
	if err := c.Check(t.Context(), check, noon); err == nil {
		t.Error("a check that is too long was posted")
	}
}
