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

// A Thread is one of our comments: which configuration it is of. A pull request has one comment of each.
type Thread struct {
	Key string // names the configuration: letters, digits, dots and dashes
}

// A Posted is a comment as it stands on the pull request.
type Posted struct {
	URL     string
	Created bool // not updated
}

// words is what a key and a state may be made of, so that neither can end the marker.
var words = regexp.MustCompile(`^[A-Za-z0-9.-]{1,64}$`)

// marker is the last line of a comment of ours, which nobody sees. State is kept from one time to the next.
func (t Thread) marker(state string) string { return "<!-- ddpgate:" + t.Key + " " + state + " -->" }

// state returns what a comment's marker keeps; ok is false where the comment is not of the thread.
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
	if !words.MatchString(thread.Key) {
		return Posted{}, fmt.Errorf("comment: %q cannot be a key", thread.Key)
	}
	ours, err := c.ours(ctx, number, thread)
	if err != nil {
		return Posted{}, c.said("comments of the pull request", err)
	}
	before := ""
	if len(ours) > 0 {
		before, _ = thread.state(ours[0].GetBody())
	}
	text, err := compose(thread, body, before)
	if err != nil {
		return Posted{}, err
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

func compose(thread Thread, body Body, before string) (string, error) {
	markdown, state := body(before)
	if !words.MatchString(state) {
		return "", fmt.Errorf("comment: %q cannot be a state", state)
	}
	text := strings.TrimRight(markdown, "\n") + "\n\n" + thread.marker(state)
	if n := utf8.RuneCountInString(text); n > MaxComment {
		return "", fmt.Errorf("comment: %d characters are more than GitHub takes (%d)", n, MaxComment)
	}
	return text, nil
}

// ours returns our comments of a thread, oldest first.
func (c *Client) ours(ctx context.Context, number int, thread Thread) ([]*github.IssueComment, error) {
	var found []*github.IssueComment
	name := ""
	all := c.api.Issues.ListCommentsIter(ctx, c.owner, c.repo, number, &github.IssueListCommentsOptions{ListOptions: fullPage})
	for comment, err := range all {
		if err != nil {
			return nil, err
		}
		if _, ok := thread.state(comment.GetBody()); !ok {
			continue
		}
		if name == "" {
			if name, err = c.ourName(ctx); err != nil {
				return nil, err
			}
		}
		if wrote(comment.User, name) {
			found = append(found, comment)
		}
	}
	return found, nil
}

// fullPage asks for as much at once as GitHub gives.
var fullPage = github.ListOptions{PerPage: 100}

// create posts a new comment. Where GitHub failed it may have done so all the same, which is looked up before it is tried once more.
func (c *Client) create(ctx context.Context, number int, thread Thread, text string) (Posted, error) {
	request := github.IssueCommentRequest{Body: text}
	written, _, err := c.api.Issues.CreateComment(ctx, c.owner, c.repo, number, request)
	if err != nil && uncertain(err) {
		ours, listErr := c.ours(ctx, number, thread)
		switch {
		case listErr != nil:
			return Posted{}, c.said("posting the comment", errors.Join(err, listErr))
		case len(ours) > 0:
			return Posted{URL: ours[0].GetHTMLURL(), Created: true}, nil
		}
		written, _, err = c.api.Issues.CreateComment(ctx, c.owner, c.repo, number, request)
	}
	if err != nil {
		return Posted{}, c.said("posting the comment", err)
	}
	return Posted{URL: written.GetHTMLURL(), Created: true}, nil
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
