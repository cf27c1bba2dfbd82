package github

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/go-github/v93/github"
)

// Why there is no pull request to write to.
var (
	ErrNoPull  = errors.New("no open pull request has this commit as its head")
	ErrTwoPull = errors.New("more than one open pull request has this commit as its head")
)

// sha is a commit, as GitHub names it in events.
var sha = regexp.MustCompile(`^[0-9a-f]{40}$`)

// PullOf returns the open pull request of this repository whose head is, at this moment, the commit of an earlier run. Only what
// GitHub says of that run is used, so that a run cannot have its results written to a pull request that is not its own.
// The error wraps ErrNoPull or ErrTwoPull where there is not exactly one.
func (c *Client) PullOf(ctx context.Context, head Upstream) (Pull, error) {
	if !sha.MatchString(head.SHA) {
		return Pull{}, fmt.Errorf("pull request of %.50q: that is no commit", head.SHA)
	}
	found := make(map[int]bool)
	for _, list := range c.candidates(head) {
		if err := c.collect(ctx, list, found); err != nil {
			return Pull{}, c.said("pull requests of "+head.SHA, err)
		}
	}
	var live []Pull
	for number := range found {
		p, _, err := c.api.PullRequests.Get(ctx, c.owner, c.repo, number)
		if err != nil {
			return Pull{}, c.said(fmt.Sprintf("pull request %d", number), err)
		}
		if pull := pullOf(p); c.has(pull, head) {
			live = append(live, pull)
		}
	}
	switch len(live) {
	case 0:
		return Pull{}, fmt.Errorf("%s: %w", head.SHA, ErrNoPull)
	case 1:
		return live[0], nil
	}
	return Pull{}, fmt.Errorf("%s: %w", head.SHA, ErrTwoPull)
}

// has says whether the head of a pull request of this repository is the commit, in the repository that it was run for.
func (c *Client) has(p Pull, head Upstream) bool {
	return p.Open && p.HeadSHA == head.SHA && strings.EqualFold(p.BaseRepository, c.owner+"/"+c.repo) &&
		(head.Repository == "" || strings.EqualFold(p.HeadRepository, head.Repository))
}

// A lister lists pull requests, a page at a time.
type lister func(context.Context, github.ListOptions) ([]*github.PullRequest, *github.Response, error)

// candidates are the ways to find pull requests of a commit. GitHub knows those of a commit only where the commit is in this
// repository, and those of a branch also where it is in a fork.
func (c *Client) candidates(head Upstream) []lister {
	ways := []lister{func(ctx context.Context, page github.ListOptions) ([]*github.PullRequest, *github.Response, error) {
		return c.api.PullRequests.ListPullRequestsWithCommit(ctx, c.owner, c.repo, head.SHA, &page)
	}}
	if owner, _, ok := strings.Cut(head.Repository, "/"); ok && head.Branch != "" {
		ways = append(ways, func(ctx context.Context, page github.ListOptions) ([]*github.PullRequest, *github.Response, error) {
			return c.api.PullRequests.List(ctx, c.owner, c.repo,
				&github.PullRequestListOptions{State: "open", Head: owner + ":" + head.Branch, ListOptions: page})
		})
	}
	return ways
}

// collect adds the open pull requests of a list. A commit that is not here has none.
func (c *Client) collect(ctx context.Context, list lister, found map[int]bool) error {
	for page := fullPage; ; {
		pulls, resp, err := list(ctx, page)
		if unknownCommit(err) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, p := range pulls {
			if p.GetState() == "open" {
				found[p.GetNumber()] = true
			}
		}
		if resp.NextPage == 0 {
			return nil
		}
		page.Page = resp.NextPage
	}
}

// unknownCommit says whether GitHub answered that it does not know the commit: 422, or 404 for lack of it.
func unknownCommit(err error) bool {
	var answer *github.ErrorResponse
	return errors.As(err, &answer) && answer.Response != nil &&
		(answer.Response.StatusCode == 422 || answer.Response.StatusCode == 404)
}

func pullOf(p *github.PullRequest) Pull {
	pull := Pull{
		Number: p.GetNumber(), Open: p.GetState() == "open",
		HeadSHA: p.GetHead().GetSHA(), HeadBranch: p.GetHead().GetRef(),
		HeadRepository: p.GetHead().GetRepo().GetFullName(), BaseRepository: p.GetBase().GetRepo().GetFullName(),
	}
	for _, l := range p.Labels {
		pull.Labels = append(pull.Labels, l.GetName())
	}
	return pull
}

// A Label says whether a pull request has a label, and who put it there; By is empty where GitHub does not say.
type Label struct {
	There bool
	By    string
}

// Label looks a label up as it is now.
func (c *Client) Label(ctx context.Context, number int, name string) (Label, error) {
	var l Label
	for label, err := range c.api.Issues.ListLabelsByIssueIter(ctx, c.owner, c.repo, number, new(fullPage)) {
		if err != nil {
			return Label{}, c.said("labels of the pull request", err)
		}
		l.There = l.There || strings.EqualFold(label.GetName(), name)
	}
	if !l.There {
		return l, nil
	}
	for e, err := range c.api.Issues.ListIssueEventsIter(ctx, c.owner, c.repo, number, new(fullPage)) {
		if err != nil {
			break // who it was is good to know, and no more
		}
		if e.GetEvent() == "labeled" && strings.EqualFold(e.GetLabel().GetName(), name) {
			l.By = e.GetActor().GetLogin()
		}
	}
	return l, nil
}
