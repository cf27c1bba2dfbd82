package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/ddpgate/ddpgate/internal/githubtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// onFake returns a client of a fake that is reached without a network.
func onFake(t *testing.T, f *githubtest.Fake) *Client {
	t.Helper()
	c, err := NewClient(Options{Repository: githubtest.Repository, Token: githubtest.Token,
		APIURL: "http://ghe.example/api/v3", GraphQLURL: "http://ghe.example/api/graphql", Transport: f})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var thread = Thread{Key: "abc123"}

// says is a body that is the same whatever was there before.
func says(markdown, state string) Body {
	return func(string) (string, string) { return markdown, state }
}

func TestCommentIsPostedOnceAndThenUpdated(t *testing.T) {
	f := githubtest.New(t)
	f.Add(7, "octocat", "looks good")
	c := onFake(t, f)
	first, err := c.Comment(t.Context(), 7, thread, says("slower", "regression"))
	if err != nil || !first.Created {
		t.Fatalf("first: %+v, %v, want a new comment", first, err)
	}
	var before string
	second, err := c.Comment(t.Context(), 7, thread, func(s string) (string, string) { before = s; return "as fast", "pass" })
	if err != nil || second.Created || second.URL != first.URL {
		t.Fatalf("second: %+v, %v, want %s updated", second, err, first.URL)
	}
	if before != "regression" {
		t.Errorf("the state before is %q, want regression", before)
	}
	all := f.Comments(7)
	if len(all) != 2 || !strings.HasPrefix(all[1].Body, "as fast\n") || all[0].Body != "looks good" {
		t.Errorf("comments: %+v, want the other's and ours", all)
	}
	if _, err := c.Comment(t.Context(), 7, Thread{Key: "other"}, says("another", "pass")); err != nil {
		t.Fatal(err)
	}
	if n := len(f.Comments(7)); n != 3 {
		t.Errorf("%d comments, want one more for another configuration", n)
	}
}

func TestCommentIsFoundOnALaterPage(t *testing.T) {
	f := githubtest.New(t)
	f.PageSize = 10
	for i := range 25 {
		f.Add(7, "octocat", fmt.Sprint("comment ", i))
	}
	ours := f.Add(7, githubtest.Bot, "old\n\n"+thread.marker("pass"))
	for i := range 25 {
		f.Add(7, "octocat", fmt.Sprint("comment ", 30+i))
	}
	posted, err := onFake(t, f).Comment(t.Context(), 7, thread, says("new", "pass"))
	if err != nil || posted.URL != ours.URL {
		t.Errorf("%+v, %v, want an update of %s", posted, err, ours.URL)
	}
}

func TestOnlyOurOwnCommentIsTouched(t *testing.T) {
	marked := "hands off\n\n" + thread.marker("pass")
	tests := map[string]struct{ viewer, login, body string }{
		"a person's with our marker":       {githubtest.Bot, "octocat", marked},
		"another app's with our marker":    {githubtest.Bot, "renovate[bot]", marked},
		"a person with the app's name":     {githubtest.Bot, "github-actions", marked},
		"ours with the marker in the text": {githubtest.Bot, githubtest.Bot, "see " + thread.marker("pass") + "\nand more"},
		"ours of a longer key":             {githubtest.Bot, githubtest.Bot, "x\n\n" + Thread{Key: "abc1234"}.marker("pass")},
		"the workflow's where we are not":  {"perf-app[bot]", githubtest.Bot, marked},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := githubtest.New(t)
			f.Viewer = tc.viewer
			f.Add(7, tc.login, tc.body)
			if _, err := onFake(t, f).Comment(t.Context(), 7, thread, says("new", "pass")); err != nil {
				t.Fatal(err)
			}
			if all := f.Comments(7); len(all) != 2 || all[0].Body != tc.body {
				t.Errorf("comments: %+v, want %q as it was, and a new one", all, tc.body)
			}
		})
	}
}

// TestWhoWeAre has the question for our name fail: for good it is the workflow's, for the moment it is asked again, and never guessed.
func TestWhoWeAre(t *testing.T) {
	for name, tc := range map[string]struct {
		viewer   string
		fault    githubtest.Fault
		ok       bool
		comments int
	}{
		"refused":         {githubtest.Bot, githubtest.Fault{Status: 403, Times: 99}, true, 1},
		"not there":       {githubtest.Bot, githubtest.Fault{Status: 404, Times: 99}, true, 1},
		"down for long":   {"hubot", githubtest.Fault{Status: 502, Times: 99}, false, 1},
		"down for once":   {"hubot", githubtest.Fault{Status: 502, Times: 1}, true, 1},
		"limited for now": {"hubot", githubtest.Fault{Status: 429, Times: 1, Header: map[string]string{"Retry-After": "5"}}, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := githubtest.New(t)
				f.Viewer = tc.viewer
				f.Add(7, tc.viewer, "old\n\n"+thread.marker("pass"))
				tc.fault.Method, tc.fault.Path = "POST", "/graphql"
				f.Fail(tc.fault)
				_, err := onFake(t, f).Comment(t.Context(), 7, thread, says("new", "pass"))
				if (err == nil) != tc.ok || len(f.Comments(7)) != tc.comments {
					t.Errorf("error %v, %d comments, want ok %v, %d", err, len(f.Comments(7)), tc.ok, tc.comments)
				}
			})
		})
	}
}

func TestDuplicatesAreMerged(t *testing.T) {
	f := githubtest.New(t)
	oldest := f.Add(7, githubtest.Bot, "a\n\n"+thread.marker("pass"))
	f.Add(7, githubtest.Bot, "b\n\n"+thread.marker("regression"))
	if _, err := onFake(t, f).Comment(t.Context(), 7, thread, says("new", "pass")); err != nil {
		t.Fatal(err)
	}
	if all := f.Comments(7); len(all) != 1 || all[0].ID != oldest.ID || !strings.HasPrefix(all[0].Body, "new\n") {
		t.Errorf("comments: %+v, want the oldest, updated", all)
	}
}

func TestCommentRefusesWhatWouldEndItsMarker(t *testing.T) {
	f := githubtest.New(t)
	c := onFake(t, f)
	if _, err := c.Comment(t.Context(), 7, Thread{Key: "a --> b"}, says("x", "pass")); err == nil {
		t.Error("a key that ends the marker was taken")
	}
	if _, err := c.Comment(t.Context(), 7, thread, says("x", "pass -->")); err == nil {
		t.Error("a state that ends the marker was taken")
	}
	if _, err := c.Comment(t.Context(), 7, thread, says(strings.Repeat("x", MaxComment), "pass")); err == nil {
		t.Error("a comment that is too long was taken")
	}
	if n := f.Count("POST", "/comments"); n != 0 {
		t.Errorf("%d comments posted, want none", n)
	}
}

// TestFaults holds a comment against each way in which GitHub's API fails: what it does in the end, and how often it is asked.
func TestFaults(t *testing.T) {
	limit := map[string]string{"Retry-After": "20"}
	exhausted := map[string]string{"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "946684830"} // 30 s after synctest's begin
	tests := map[string]struct {
		fault    githubtest.Fault
		ok       bool
		denied   bool
		comments int
		asked    int // how often what fails is asked for
		waits    time.Duration
	}{
		"rate limit with Retry-After":  {githubtest.Fault{Method: "POST", Path: "/comments", Times: 2, Status: 429, Header: limit}, true, false, 1, 3, 40 * time.Second},
		"secondary limit as 403":       {githubtest.Fault{Method: "POST", Path: "/comments", Times: 1, Status: 403, Header: limit}, true, false, 1, 2, 20 * time.Second},
		"primary limit until reset":    {githubtest.Fault{Method: "GET", Path: "/comments", Times: 1, Status: 403, Header: exhausted}, true, false, 1, 2, 30 * time.Second},
		"a limit of an hour":           {githubtest.Fault{Method: "GET", Path: "/comments", Times: 9, Status: 429, Header: map[string]string{"Retry-After": "3600"}}, false, false, 0, 1, 0},
		"limits without end":           {githubtest.Fault{Method: "GET", Path: "/comments", Times: 99, Status: 429, Header: limit}, false, false, 0, tries, 60 * time.Second},
		"server errors that pass":      {githubtest.Fault{Method: "GET", Path: "/comments", Times: 2, Status: 502}, true, false, 1, 3, 3 * time.Second},
		"server errors that stay":      {githubtest.Fault{Method: "GET", Path: "/comments", Times: 99, Status: 500}, false, false, 0, tries, 7 * time.Second},
		"posted, and 502 all the same": {githubtest.Fault{Method: "POST", Path: "/comments", Times: 1, Status: 502, Acts: true}, true, false, 1, 1, 0},
		"posted, and no answer":        {githubtest.Fault{Method: "POST", Path: "/comments", Times: 1, Broken: true, Acts: true}, true, false, 1, 1, 0},
		"not posted, and 502":          {githubtest.Fault{Method: "POST", Path: "/comments", Times: 1, Status: 502}, true, false, 1, 2, 0},
		"no answer to a list":          {githubtest.Fault{Method: "GET", Path: "/comments", Times: 1, Broken: true}, true, false, 1, 2, time.Second},
		"a token that cannot write":    {githubtest.Fault{Method: "POST", Path: "/comments", Times: 9, Status: 403, Body: `{"message": "Resource not accessible by integration"}`}, false, true, 0, 1, 0},
		"a repository that is hidden":  {githubtest.Fault{Method: "GET", Path: "/comments", Times: 9, Status: 404}, false, true, 0, 1, 0},
		"a comment that is refused":    {githubtest.Fault{Method: "POST", Path: "/comments", Times: 9, Status: 422}, false, false, 0, 1, 0},
		"an answer that is no JSON":    {githubtest.Fault{Method: "GET", Path: "/comments", Times: 9, Status: 200, Body: "<html>"}, false, false, 0, 1, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := githubtest.New(t)
				f.Fail(tc.fault)
				begun := time.Now()
				_, err := onFake(t, f).Comment(t.Context(), 7, thread, says("slower", "regression"))
				if (err == nil) != tc.ok || Denied(err) != tc.denied {
					t.Errorf("error %v, want ok %v, denied %v", err, tc.ok, tc.denied)
				}
				if n := len(f.Comments(7)); n != tc.comments {
					t.Errorf("%d comments, want %d", n, tc.comments)
				}
				if n := f.Count(tc.fault.Method, tc.fault.Path); tc.fault.Acts {
					if n != 1 {
						t.Errorf("posted %d times", n)
					}
				} else if n != tc.asked {
					t.Errorf("asked %d times, want %d", n, tc.asked)
				}
				if took := time.Since(begun); took != tc.waits {
					t.Errorf("took %v, want %v", took, tc.waits)
				}
			})
		})
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := githubtest.New(t)
		f.Fail(githubtest.Fault{Method: "GET", Path: "/", Times: 99, Status: 503})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err := onFake(t, f).Comment(ctx, 7, thread, says("x", "pass"))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the context's", err)
		}
	})
}

func TestTheTokenIsInNoError(t *testing.T) {
	f := githubtest.New(t)
	f.Fail(githubtest.Fault{Method: "GET", Path: "/", Times: 99, Status: 422, Body: `{"message": "no ` + githubtest.Token + ` please"}`})
	c := onFake(t, f)
	_, err := c.Comment(t.Context(), 7, thread, says("x", "pass"))
	if err == nil || strings.Contains(err.Error(), githubtest.Token) || !strings.Contains(err.Error(), "no *** please") {
		t.Errorf("error %v, want one without the token", err)
	}
}

// TestOverTheNetwork speaks to the fake as to a GitHub Enterprise Server, and sees that a redirect elsewhere does not get the token.
func TestOverTheNetwork(t *testing.T) {
	f := githubtest.New(t)
	server := httptest.NewServer(f)
	defer server.Close()
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "" {
			t.Errorf("a stranger was given %q", got)
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	defer stranger.Close()
	c, err := NewClient(Options{Repository: githubtest.Repository, Token: githubtest.Token,
		APIURL: server.URL + "/api/v3", GraphQLURL: server.URL + "/api/graphql"})
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	for range 2 {
		if _, err := c.Comment(t.Context(), 7, thread, says("slower", "regression")); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(f.Comments(7)); n != 1 {
		t.Errorf("%d comments, want 1", n)
	}
	f.Fail(githubtest.Fault{Method: "GET", Path: "/comments", Times: 1, Status: 302, Header: map[string]string{"Location": stranger.URL + "/"}})
	if _, err := c.Comment(t.Context(), 7, thread, says("x", "pass")); err == nil {
		t.Error("a stranger's answer was taken for GitHub's")
	}
}

func TestNewClientRefuses(t *testing.T) {
	good := Options{Repository: "meteor/meteor", Token: "t"}
	for _, o := range []Options{
		{Repository: "meteor", Token: "t"}, {Repository: "/x", Token: "t"}, {Repository: "x/", Token: "t"},
		{Repository: "meteor/meteor/../../x", Token: "t"}, {Repository: good.Repository}, {Repository: good.Repository, Token: "t", APIURL: ":"},
	} {
		if _, err := NewClient(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}
