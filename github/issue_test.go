package github

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ddpgate/ddpgate/internal/githubtest"
)

// issue keeps the thread's issue, as of now, and fails the test over an error.
func issue(t *testing.T, f *githubtest.Fake, decide func(Issue) Edit) Issue {
	t.Helper()
	i, err := onFake(t, f).Issue(t.Context(), thread, time.Now(), decide)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// opens opens an issue unless one is open, which it writes anew.
func opens(i Issue) Edit {
	return Edit{New: !i.Open, Title: "slower", Body: "slower by " + i.State, State: "open"}
}

func TestOneIssueIsKept(t *testing.T) {
	f := githubtest.New(t)
	first := issue(t, f, opens)
	if first.Number == 0 || !first.Open || first.State != "open" {
		t.Fatalf("got %+v, want a new one", first)
	}
	f.Change(first.Number, func(i *githubtest.Issue) { i.Title = "our words" })
	again := issue(t, f, func(i Issue) Edit {
		if i != first {
			t.Errorf("found %+v, want %+v", i, first)
		}
		return Edit{Title: "slower still", Body: "slower still", State: "open.2", Comment: "more"}
	})
	if all := f.Issues(); len(all) != 1 || again.Number != first.Number || again.State != "open.2" || all[0].Title != "our words" || !strings.HasPrefix(all[0].Body, "slower still\n") {
		t.Fatalf("got %+v, issues %+v", again, all)
	}
	if all := f.Comments(first.Number); len(all) != 1 || all[0].Body != "more" {
		t.Errorf("comments: %+v", all)
	}
	if i := issue(t, f, func(Issue) Edit { return Edit{} }); i != again || f.Count("PATCH", "/issues") != 1 {
		t.Errorf("got %+v: nothing was to be done", i)
	}
	over := issue(t, f, func(Issue) Edit { return Edit{Body: "as fast", State: "over", Close: true, Comment: "over"} })
	if all := f.Issues(); over.Open || all[0].State != "closed" || all[0].StateReason != "completed" || len(f.Comments(first.Number)) != 2 {
		t.Errorf("got %+v, issues %+v", over, all)
	}
	if next := issue(t, f, opens); next.Number == first.Number || !next.Open {
		t.Errorf("got %+v, want a new one after one that is over", next)
	}
	if other, err := onFake(t, f).Issue(t.Context(), Thread{Key: "other"}, time.Now(), opens); err != nil || other.Number == first.Number || len(f.Issues()) != 3 {
		t.Errorf("another thread's: %+v, %v", other, err)
	}
}

// TestOthersIssuesAreNotTouched: whoever quotes the marker, and pull requests, are left alone.
func TestOthersIssuesAreNotTouched(t *testing.T) {
	marked := "see\n\n" + thread.marker("open")
	for name, by := range map[string]string{"a person": "octocat", "another app": "perf-app[bot]"} {
		t.Run(name, func(t *testing.T) {
			f := githubtest.New(t)
			theirs := f.Open(by, "theirs", marked)
			pull := f.Open(githubtest.Bot, "a pull request", marked)
			f.Change(pull.Number, func(i *githubtest.Issue) { i.Pull = new(struct{}) })
			quoted := f.Open(githubtest.Bot, "quoted", marked+"\nand more")
			ours := issue(t, f, opens)
			issue(t, f, func(Issue) Edit { return Edit{Body: "x", State: "over", Close: true, Comment: "over"} })
			for _, i := range f.Issues() {
				if i.Number == ours.Number {
					continue
				}
				if i.State != "open" || !strings.HasPrefix(i.Body, marked) || len(f.Comments(i.Number)) > 0 {
					t.Errorf("it was touched: %+v", i)
				}
			}
			if ours.Number <= quoted.Number || theirs.Number == ours.Number {
				t.Errorf("ours is %d, want one of its own", ours.Number)
			}
		})
	}
}

func TestTheOldestOpenIssueIsKept(t *testing.T) {
	f := githubtest.New(t)
	f.PageSize = 2
	closed := f.Open(githubtest.Bot, "closed", "x\n\n"+thread.marker("over"))
	f.Change(closed.Number, func(i *githubtest.Issue) { i.State = "closed" })
	oldest := f.Open(githubtest.Bot, "a", "x\n\n"+thread.marker("open"))
	for range 5 {
		f.Open("octocat", "noise", "noise")
	}
	newer := f.Open(githubtest.Bot, "b", "x\n\n"+thread.marker("open"))
	for range 2 {
		if got := issue(t, f, opens); got.Number != oldest.Number {
			t.Fatalf("kept %d, want the oldest open one, %d", got.Number, oldest.Number)
		}
	}
	for _, i := range f.Issues() {
		if want := i.Number != newer.Number && i.Number != closed.Number; (i.State == "open") != want {
			t.Errorf("%d is %s", i.Number, i.State)
		}
	}
	if all := f.Comments(newer.Number); len(all) != 1 || !strings.HasPrefix(all[0].Body, "#102 is kept") {
		t.Errorf("comments on the other: %+v", all)
	}
}

// TestWhatWasClosedIsRemembered: the newest of those that were closed, for as long as anybody may still think of it.
func TestWhatWasClosedIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := githubtest.New(t)
		for range 2 {
			issue(t, f, opens)
			all := f.Issues()
			f.Change(all[len(all)-1].Number, func(i *githubtest.Issue) { i.State = "closed" })
		}
		look := func() (found Issue) {
			issue(t, f, func(i Issue) Edit { found = i; return Edit{} })
			return found
		}
		if got := look(); got.Number != 102 || got.Open || got.State != "open" {
			t.Errorf("found %+v, want the newer", got)
		}
		<-time.After(remembered - time.Hour)
		if got := look(); got.Number != 102 {
			t.Errorf("found %+v, want the newer still", got)
		}
		issue(t, f, func(Issue) Edit { return Edit{Body: "still so", State: "open"} })
		if all := f.Issues(); all[1].State != "closed" {
			t.Error("to write to it opened it")
		}
		<-time.After(2 * time.Hour)
		if got := look(); got.Number != 102 {
			t.Errorf("found %+v: what was written to is remembered", got)
		}
		<-time.After(remembered)
		if got := look(); got.Number != 0 {
			t.Errorf("found %+v, want none", got)
		}
	})
}

// TestIssueFaults holds the issue against each way in which GitHub's API fails.
func TestIssueFaults(t *testing.T) {
	limit := map[string]string{"Retry-After": "20"}
	tests := map[string]struct {
		fault            githubtest.Fault
		ok, denied, gone bool
		issues           int
		waits            time.Duration
	}{
		"a rate limit":                 {githubtest.Fault{Method: "POST", Path: "/issues", Times: 2, Status: 429, Header: limit}, true, false, false, 1, 40 * time.Second},
		"limits without end":           {githubtest.Fault{Method: "GET", Path: "/issues", Times: 99, Status: 403, Header: limit}, false, false, false, 0, 60 * time.Second},
		"opened, and 502 all the same": {githubtest.Fault{Method: "POST", Path: "/issues", Times: 1, Status: 502, Acts: true}, true, false, false, 1, 0},
		"opened, and no answer":        {githubtest.Fault{Method: "POST", Path: "/issues", Times: 1, Broken: true, Acts: true}, true, false, false, 1, 0},
		"not opened, and 502":          {githubtest.Fault{Method: "POST", Path: "/issues", Times: 1, Status: 502}, true, false, false, 1, 0},
		"a token that cannot write":    {githubtest.Fault{Method: "POST", Path: "/issues", Times: 9, Status: 403, Body: `{"message": "Resource not accessible by integration"}`}, false, true, false, 0, 0},
		"a token that cannot read":     {githubtest.Fault{Method: "GET", Path: "/issues", Times: 9, Status: 404}, false, true, false, 0, 0},
		"no issues, it turns out":      {githubtest.Fault{Method: "POST", Path: "/issues", Times: 9, Status: 410, Body: `{"message": "Issues are disabled for this repo"}`}, false, false, true, 0, 0},
		"no issues to list":            {githubtest.Fault{Method: "GET", Path: "/issues", Times: 9, Status: 410}, false, false, true, 0, 0},
		"an issue that is refused":     {githubtest.Fault{Method: "POST", Path: "/issues", Times: 9, Status: 422}, false, false, false, 0, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := githubtest.New(t)
				f.Fail(tc.fault)
				begun := time.Now()
				got, err := onFake(t, f).Issue(t.Context(), thread, time.Now(), opens)
				if (err == nil) != tc.ok || Denied(err) != tc.denied || Disabled(err) != tc.gone {
					t.Errorf("error %v, denied %v, disabled %v", err, Denied(err), Disabled(err))
				}
				if n := len(f.Issues()); n != tc.issues || tc.ok && got.Number == 0 {
					t.Errorf("%d issues, want %d; got %+v", n, tc.issues, got)
				}
				if took := time.Since(begun); took != tc.waits {
					t.Errorf("took %v, want %v", took, tc.waits)
				}
			})
		})
	}
}

func TestIssueRefusesWhatWouldEndItsMarker(t *testing.T) {
	f := githubtest.New(t)
	c := onFake(t, f)
	for what, try := range map[string]struct {
		thread Thread
		edit   Edit
	}{
		"a key that ends the marker":   {Thread{Key: "a --> b"}, Edit{New: true, Body: "x", State: "open"}},
		"a key that is too long":       {Thread{Key: strings.Repeat("a", mostKey+1)}, Edit{New: true, Body: "x", State: "open"}},
		"a state that ends the marker": {thread, Edit{New: true, Body: "x", State: "open -->"}},
		"no state":                     {thread, Edit{New: true, Body: "x"}},
		"a body that is too long":      {thread, Edit{New: true, Body: strings.Repeat("x", MaxComment), State: "open"}},
	} {
		if _, err := c.Issue(t.Context(), try.thread, time.Now(), func(Issue) Edit { return try.edit }); err == nil {
			t.Errorf("%s was taken", what)
		}
	}
	if n := len(f.Issues()); n != 0 {
		t.Errorf("%d issues, want none", n)
	}
	if i := issue(t, f, func(Issue) Edit {
		return Edit{New: true, Title: strings.Repeat("ü", 400), Body: "x", State: strings.Repeat("a.", 128)}
	}); i.Number == 0 || len([]rune(f.Issues()[0].Title)) > 256 {
		t.Errorf("a long title: %+v", f.Issues())
	}
}
