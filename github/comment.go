package github

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/google/go-github/v93/github"
)

// MaxComment is how many characters GitHub takes as a comment.
const MaxComment = 65536

// A Thread is what one of our comments or issues is about. A pull request has one comment of each, a repository one open issue.
type Thread struct {
	Key string // names it: up to 64 letters, digits, dots and dashes
}

// A Posted is a comment as it stands on the pull request.
type Posted struct {
	URL     string
	Created bool // not updated
}

// words is what a key and a state may be made of, so that neither can end the marker; mostKey is the longest key.
var words = regexp.MustCompile(`^[A-Za-z0-9.-]{1,256}$`)

const mostKey = 64

func (t Thread) check() error {
	if !words.MatchString(t.Key) || len(t.Key) > mostKey {
		return fmt.Errorf("%q cannot be the key of a thread", t.Key)
	}
	return nil
}

// marker is the last line of what we write, which nobody sees. State is kept from one time to the next.
func (t Thread) marker(state string) string { return "<!-- ddpgate:" + t.Key + " " + state + " -->" }

// state returns what the marker of a text keeps; ok is false where the text is not of the thread.
func (t Thread) state(body string) (state string, ok bool) {
	body = strings.TrimRight(body, "\r\n ")
	last := body[strings.LastIndexByte(body, '\n')+1:]
	state, ok = strings.CutPrefix(last, "<!-- ddpgate:"+t.Key+" ")
	if !ok {
		return "", false
	}
	state, ok = strings.CutSuffix(state, " -->")
	return state, ok && words.MatchString(state)
}

// A Body makes a comment's Markdown and the state to keep, from the state that was kept the last time, empty if there was none.
type Body func(before string) (markdown, state string)

// Comment puts the comment of a thread on a pull request: in the place of the one that is there, or as a new one. Where there
// are several (two runs at once) the oldest is kept and the others are deleted.
func (c *Client) Comment(ctx context.Context, number int, thread Thread, body Body) (Posted, error) {
	if err := thread.check(); err != nil {
		return Posted{}, fmt.Errorf("comment: %w", err)
	}
	ours, err := c.ours(ctx, number, thread)
	if err != nil {
		return Posted{}, c.said("comments of the pull request", err)
	}
	before := ""
	if len(ours) > 0 {
		before, _ = thread.state(ours[0].GetBody())
	}
	text, err := thread.compose(body(before))
	if err != nil {
		return Posted{}, fmt.Errorf("comment: %w", err)
	}
	if len(ours) == 0 {
		return c.create(ctx, number, thread, text)
	}
	written, err := c.update(ctx, ours, text)
	if err != nil {
		return Posted{}, c.said("updating the comment", err)
	}
	return Posted{URL: written.GetHTMLURL()}, nil
}

// compose puts the marker under a text.
func (t Thread) compose(markdown, state string) (string, error) {
	if !words.MatchString(state) {
		return "", fmt.Errorf("%q cannot be a state", state)
	}
	text := strings.TrimRight(markdown, "\n") + "\n\n" + t.marker(state)
	if n := utf8.RuneCountInString(text); n > MaxComment {
		return "", fmt.Errorf("%d characters are more than GitHub takes (%d)", n, MaxComment)
	}
	return text, nil
}

// ours returns our comments of a thread, oldest first.
func (c *Client) ours(ctx context.Context, number int, thread Thread) ([]*github.IssueComment, error) {
	var found []*github.IssueComment
	by := byline{c: c, thread: thread}
	all := c.api.Issues.ListCommentsIter(ctx, c.owner, c.repo, number, &github.IssueListCommentsOptions{ListOptions: fullPage})
	for comment, err := range all {
		if err != nil {
			return nil, err
		}
		ours, err := by.ours(ctx, comment.User, comment.GetBody())
		if err != nil {
			return nil, err
		}
		if ours {
			found = append(found, comment)
		}
	}
	return found, nil
}

// A byline tells what we wrote in a thread from what only quotes its marker. It asks for our name once, and only where that matters.
type byline struct {
	c      *Client
	thread Thread
	name   string
}

func (b *byline) ours(ctx context.Context, by *github.User, body string) (bool, error) {
	if _, ok := b.thread.state(body); !ok {
		return false, nil
	}
	if b.name == "" {
		var err error
		if b.name, err = b.c.ourName(ctx); err != nil {
			return false, err
		}
	}
	return wrote(by, b.name), nil
}

// fullPage asks for as much at once as GitHub gives.
var fullPage = github.ListOptions{PerPage: 100}

// create posts a new comment.
func (c *Client) create(ctx context.Context, number int, thread Thread, text string) (Posted, error) {
	written, err := once(func() (*github.IssueComment, error) {
		written, _, err := c.api.Issues.CreateComment(ctx, c.owner, c.repo, number, github.IssueCommentRequest{Body: text})
		return written, err
	}, func() ([]*github.IssueComment, error) { return c.ours(ctx, number, thread) })
	if err != nil {
		return Posted{}, c.said("posting the comment", err)
	}
	return Posted{URL: written.GetHTMLURL(), Created: true}, nil
}

// once makes something new. Where GitHub failed it may have done so all the same, which is looked up before it is tried once more.
func once[T any](produce func() (T, error), find func() ([]T, error)) (T, error) {
	made, err := produce()
	if err == nil || !uncertain(err) {
		return made, err
	}
	found, listErr := find()
	switch {
	case listErr != nil:
		return made, errors.Join(err, listErr)
	case len(found) > 0:
		return found[0], nil
	}
	return produce()
}

// uncertain says whether GitHub may have done what it was asked for although it did not say so.
func uncertain(err error) bool {
	var answer *github.ErrorResponse
	return !errors.As(err, &answer) || answer.Response != nil && answer.Response.StatusCode >= 500
}

// update writes the oldest of our comments anew and deletes the others.
func (c *Client) update(ctx context.Context, ours []*github.IssueComment, text string) (*github.IssueComment, error) {
	written, _, err := c.api.Issues.UpdateComment(ctx, c.owner, c.repo, ours[0].GetID(), github.IssueCommentRequest{Body: text})
	if err != nil {
		return nil, err
	}
	for _, extra := range ours[1:] {
		if _, err := c.api.Issues.DeleteComment(ctx, c.owner, c.repo, extra.GetID()); err != nil {
			return nil, err
		}
	}
	return written, nil
}
