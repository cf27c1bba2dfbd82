package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-github/v93/github"
)

// An Issue is the issue of a thread as it stands. The zero value is none.
type Issue struct {
	Number int
	URL    string
	Open   bool
	State  string // kept in its marker, as a comment's is
}

// An Edit is what becomes of a thread's issue. The zero value leaves everything as it is.
type Edit struct {
	New     bool   // a new issue is opened, whatever there is
	Title   string // of a new one; the titles of others stay as they are
	Body    string // Markdown; empty leaves the issue as it is
	State   string // kept until the next time
	Close   bool
	Comment string // Markdown, said below it; empty for nothing
}

// remembered is how long an issue that was closed, and that nothing was written to since, is still looked for.
const remembered = 60 * 24 * time.Hour

const (
	mostTitle = 250 // bytes; GitHub takes 256 characters

	stateOpen, stateClosed = "open", "closed"
)

// Issue finds the issue of a thread and does with it what decide says: with the open one, else with the newest that was closed.
// Where several are open, the oldest is kept and the others are closed. Issues of other authors are never touched, whatever they
// quote. It returns the issue as it then stands. The body is written before the comment, so that nothing is told twice.
func (c *Client) Issue(ctx context.Context, thread Thread, now time.Time, decide func(Issue) Edit) (Issue, error) {
	if err := thread.check(); err != nil {
		return Issue{}, fmt.Errorf("issue: %w", err)
	}
	all, err := c.standing(ctx, thread, now)
	if err != nil {
		return Issue{}, c.said("issues of the repository", err)
	}
	var found Issue
	if len(all) > 0 {
		found = thread.issue(all[0])
		if err := c.merge(ctx, found, all[1:]); err != nil {
			return found, c.said("closing the other issue", err)
		}
	}
	edit := decide(found)
	if edit.Body == "" {
		return found, nil
	}
	body, err := thread.compose(edit.Body, edit.State)
	if err != nil {
		return found, fmt.Errorf("issue: %w", err)
	}
	if edit.New || found.Number == 0 {
		return c.open(ctx, thread, edit.Title, body)
	}
	return c.edit(ctx, thread, found, edit, body)
}

// standing returns the open issues of a thread, oldest first; where there are none, the newest that was closed.
func (c *Client) standing(ctx context.Context, thread Thread, now time.Time) ([]*github.Issue, error) {
	open, err := c.issues(ctx, thread, github.IssueListByRepoOptions{State: stateOpen})
	if err != nil || len(open) > 0 {
		return open, err
	}
	closed, err := c.issues(ctx, thread, github.IssueListByRepoOptions{State: stateClosed, Since: now.UTC().Add(-remembered).Truncate(time.Second)})
	if len(closed) > 1 {
		closed = closed[len(closed)-1:]
	}
	return closed, err
}

// issues lists our issues of a thread, oldest first. They are not asked for by author: a filter that does not know us would find
// none, and each night would open another.
func (c *Client) issues(ctx context.Context, thread Thread, which github.IssueListByRepoOptions) ([]*github.Issue, error) {
	which.ListOptions = fullPage
	var found []*github.Issue
	by := byline{c: c, thread: thread}
	for issue, err := range c.api.Issues.ListByRepoIter(ctx, c.owner, c.repo, &which) {
		if err != nil {
			return nil, err
		}
		if issue.IsPullRequest() {
			continue
		}
		ours, err := by.ours(ctx, issue.User, issue.GetBody())
		if err != nil {
			return nil, err
		}
		if ours {
			found = append(found, issue)
		}
	}
	slices.SortFunc(found, func(a, b *github.Issue) int { return cmp.Compare(a.GetNumber(), b.GetNumber()) })
	return found, nil
}

func (t Thread) issue(i *github.Issue) Issue {
	state, _ := t.state(i.GetBody())
	return Issue{Number: i.GetNumber(), URL: i.GetHTMLURL(), Open: i.GetState() == stateOpen, State: state}
}

// merge closes issues that say what the kept one says.
func (c *Client) merge(ctx context.Context, kept Issue, others []*github.Issue) error {
	for _, other := range others {
		closed := github.UpdateIssueRequest{State: new(stateClosed), StateReason: new("not_planned")}
		if _, _, err := c.api.Issues.Update(ctx, c.owner, c.repo, other.GetNumber(), closed); err != nil {
			return err
		}
		if err := c.remark(ctx, other.GetNumber(), fmt.Sprintf("#%d is kept up to date in its place.", kept.Number)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) remark(ctx context.Context, number int, text string) error {
	_, _, err := c.api.Issues.CreateComment(ctx, c.owner, c.repo, number, github.IssueCommentRequest{Body: text})
	return err
}

// open opens a new issue.
func (c *Client) open(ctx context.Context, thread Thread, title, body string) (Issue, error) {
	opened, err := once(func() (*github.Issue, error) {
		opened, _, err := c.api.Issues.Create(ctx, c.owner, c.repo, github.CreateIssueRequest{Title: start(title, mostTitle), Body: &body})
		return opened, err
	}, func() ([]*github.Issue, error) {
		return c.issues(ctx, thread, github.IssueListByRepoOptions{State: stateOpen})
	})
	if err != nil {
		return Issue{}, c.said("opening the issue", err)
	}
	return thread.issue(opened), nil
}

// edit writes an issue anew, closes it where that is wanted, and then says what there is to say.
func (c *Client) edit(ctx context.Context, thread Thread, found Issue, edit Edit, body string) (Issue, error) {
	request := github.UpdateIssueRequest{Body: &body}
	if edit.Close && found.Open {
		request.State, request.StateReason = new(stateClosed), new("completed")
	}
	written, _, err := c.api.Issues.Update(ctx, c.owner, c.repo, found.Number, request)
	if err != nil {
		return found, c.said("updating the issue", err)
	}
	if edit.Comment != "" {
		err = c.said("commenting on the issue", c.remark(ctx, found.Number, edit.Comment))
	}
	return thread.issue(written), err
}
