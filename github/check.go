package github

import (
	"context"
	"fmt"
	"time"

	"github.com/google/go-github/v93/github"
)

// maxCheck is how many characters GitHub takes as a check's summary.
const maxCheck = 65535

// A Conclusion is how a check ended.
type Conclusion string

// The conclusions.
const (
	Success Conclusion = "success"
	Failure Conclusion = "failure"
	Neutral Conclusion = "neutral"
)

// A Check is a check run of a commit.
type Check struct {
	Name       string
	SHA        string
	Conclusion Conclusion // must not be empty
	Title      string
	Summary    string // Markdown
	DetailsURL string
}

// Check posts a check run. A later one of the same name takes its place in what GitHub shows.
func (c *Client) Check(ctx context.Context, check Check, now time.Time) error {
	if check.Conclusion == "" {
		return fmt.Errorf("check %s: no conclusion", check.Name)
	}
	if n := len(check.Summary); n > maxCheck {
		return fmt.Errorf("check %s: %d bytes are more than GitHub takes (%d)", check.Name, n, maxCheck)
	}
	options := github.CreateCheckRunOptions{
		Name: check.Name, HeadSHA: check.SHA, Status: new("completed"), Conclusion: new(string(check.Conclusion)),
		CompletedAt: &github.Timestamp{Time: now.UTC()},
		Output:      &github.CheckRunOutput{Title: new(start(check.Title, 250)), Summary: &check.Summary},
	}
	if check.DetailsURL != "" {
		options.DetailsURL = &check.DetailsURL
	}
	_, _, err := c.api.Checks.CreateCheckRun(ctx, c.owner, c.repo, options)
	return c.said("check "+check.Name, err)
}
