package githubtest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// firstIssue is the number of the first issue, beyond those of the pull requests that tests make.
const firstIssue = 101

// list answers with the issues that are asked for, newest first unless asked otherwise, as GitHub does.
func (f *Fake) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	state, since := cmp.Or(query.Get("state"), "open"), time.Time{}
	if text := query.Get("since"); text != "" {
		var err error
		if since, err = time.Parse(time.RFC3339, text); err != nil {
			f.t.Errorf("since is %q: %v", text, err)
		}
	}
	for name := range query {
		if !slices.Contains([]string{"state", "since", "sort", "direction", "page", "per_page"}, name) || name == "sort" && query.Get(name) != "created" {
			f.t.Errorf("the fake cannot filter issues by %s", name)
		}
	}
	found := slices.DeleteFunc(slices.Clone(f.issues), func(i Issue) bool {
		return state != "all" && i.State != state || i.Updated.Before(since)
	})
	if query.Get("direction") != "asc" {
		slices.Reverse(found)
	}
	paged(f, w, r, found)
}

func (f *Fake) opened(w http.ResponseWriter, r *http.Request) {
	var request struct{ Title, Body string }
	f.read(r, &request)
	f.say(w, http.StatusCreated, f.open(User{f.Viewer, kind(f.Viewer)}, request.Title, request.Body))
}

func (f *Fake) open(by User, title, body string) Issue {
	number := firstIssue + len(f.issues)
	i := Issue{Number: number, Title: title, Body: body, State: "open", User: by, Updated: time.Now(),
		URL: fmt.Sprintf("http://ghe.example/%s/issues/%d", Repository, number)}
	f.issues = append(f.issues, i)
	return i
}

func (f *Fake) update(w http.ResponseWriter, r *http.Request, number int) {
	var request struct {
		Title, Body, State *string
		Reason             string `json:"state_reason"`
	}
	f.read(r, &request)
	i := f.numbered(number)
	if i == nil {
		f.say(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
		return
	}
	for _, field := range []struct{ to, from *string }{{&i.Title, request.Title}, {&i.Body, request.Body}, {&i.State, request.State}} {
		if field.from != nil {
			*field.to = *field.from
		}
	}
	if request.State != nil {
		i.StateReason = request.Reason
	}
	i.Updated = time.Now()
	f.say(w, http.StatusOK, *i)
}

func (f *Fake) numbered(number int) *Issue {
	for i := range f.issues {
		if f.issues[i].Number == number {
			return &f.issues[i]
		}
	}
	return nil
}
