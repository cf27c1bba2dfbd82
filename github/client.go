package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v93/github"
)

// Options say which GitHub is spoken to, and how.
type Options struct {
	Repository string // owner/name
	Token      string
	APIURL     string            // as GITHUB_API_URL; empty for github.com
	GraphQLURL string            // as GITHUB_GRAPHQL_URL; empty for github.com
	Transport  http.RoundTripper // nil for the usual one, which gives up on an answer after half a minute
}

// A Client speaks to one repository through GitHub's API. It waits where GitHub asks for that and tries again what may be tried
// again, a few times and for a few minutes at most. Its errors never hold the token. It may be used by several goroutines.
type Client struct {
	api         *github.Client
	owner, repo string
	token       string
	graphQL     string
}

const usualGraphQL = "https://api.github.com/graphql"

// answerTime is how long GitHub may take until it begins to answer. Its own limit is ten seconds.
const answerTime = 30 * time.Second

// NewClient returns a client for a repository. It asks GitHub nothing yet.
func NewClient(o Options) (*Client, error) {
	owner, repo, ok := strings.Cut(o.Repository, "/")
	if !ok || owner == "" || repo == "" || strings.ContainsAny(repo, "/?#%") {
		return nil, fmt.Errorf("repository %q is not of the form owner/name", o.Repository)
	}
	if o.Token == "" {
		return nil, errors.New("no token for GitHub")
	}
	transport := o.Transport
	if transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.ResponseHeaderTimeout = answerTime
		transport = t
	}
	options := []github.ClientOptionsFunc{
		github.WithTransport(&patient{next: transport}), github.WithAuthToken(o.Token),
		github.WithDisableRateLimitCheck(), github.WithUserAgent("ddpgate"),
	}
	if o.APIURL != "" {
		url := strings.TrimRight(o.APIURL, "/") + "/"
		options = append(options, github.WithURLs(&url, nil))
	}
	api, err := github.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("GitHub at %s: %w", o.APIURL, err)
	}
	c := &Client{api: api, owner: owner, repo: repo, token: o.Token, graphQL: o.GraphQLURL}
	if c.graphQL == "" {
		c.graphQL = usualGraphQL
	}
	return c, nil
}

// said wraps an error of the API: what was wanted, and never the token.
func (c *Client) said(what string, err error) error {
	if err == nil {
		return nil
	}
	return &apiError{text: what + ": " + redact(err.Error(), c.token), cause: err}
}

// apiError is an error whose text holds no secret.
type apiError struct {
	text  string
	cause error
}

func (e *apiError) Error() string { return e.text }

func (e *apiError) Unwrap() error { return e.cause }

// Denied says whether GitHub refused what was asked because the token may not do it.
func Denied(err error) bool {
	var answer *github.ErrorResponse
	if !errors.As(err, &answer) || answer.Response == nil {
		return false
	}
	switch answer.Response.StatusCode {
	case http.StatusUnauthorized, http.StatusNotFound:
		return true
	case http.StatusForbidden:
		return !limited(answer.Response)
	}
	return false
}

// Disabled says whether GitHub refused what was asked because the repository has no issues.
func Disabled(err error) bool {
	var answer *github.ErrorResponse
	return errors.As(err, &answer) && answer.Response != nil && answer.Response.StatusCode == http.StatusGone
}

// ourName returns the name under which the token writes. Tokens of apps, and the one of a workflow, cannot be asked for a user;
// all can be asked for their viewer. Where that is refused the token is taken for the workflow's.
func (c *Client) ourName(ctx context.Context) (string, error) {
	const workflow = "github-actions[bot]"
	query := map[string]string{"query": "query { viewer { login } }"}
	req, err := c.api.NewRequest(ctx, http.MethodPost, c.graphQL, query)
	if err != nil {
		return "", err
	}
	var answer struct {
		Data struct {
			Viewer struct {
				Login string `json:"login"`
			} `json:"viewer"`
		} `json:"data"`
	}
	if _, err := c.api.Do(req, &answer); err != nil && !Denied(err) {
		return "", err // to guess could mean a second comment
	}
	if answer.Data.Viewer.Login == "" {
		return workflow, nil
	}
	return answer.Data.Viewer.Login, nil
}

// wrote says whether a user is the one of that name. An app is called with [bot] in one of GitHub's APIs and without in the other.
func wrote(u *github.User, name string) bool {
	if u.GetType() == "Bot" {
		return strings.TrimSuffix(u.GetLogin(), "[bot]") == strings.TrimSuffix(name, "[bot]")
	}
	return u.GetLogin() == name
}
