package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3filter"
)

func (f *Fake) answer(w http.ResponseWriter, r *http.Request) {
	if got, want := r.Header.Get("Authorization"), "Bearer "+Token; got != want {
		f.say(w, http.StatusUnauthorized, map[string]string{"message": "Bad credentials"})
		return
	}
	if r.URL.Path == "/api/graphql" {
		f.graphQL(w, r)
		return
	}
	route, params, err := f.router.FindRoute(r)
	if err != nil {
		f.t.Errorf("%s %s is not in GitHub's API: %v", r.Method, r.URL.Path, err)
		f.say(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
		return
	}
	input := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route}
	if err := openapi3filter.ValidateRequest(r.Context(), input); err != nil {
		f.t.Errorf("%s %s is not as GitHub's API says: %v", r.Method, r.URL, err)
	}
	if params["owner"]+"/"+params["repo"] != Repository {
		f.say(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
		return
	}
	f.act(w, r, route.Path, params)
}

func (f *Fake) act(w http.ResponseWriter, r *http.Request, path string, params map[string]string) {
	number, _ := strconv.Atoi(params["issue_number"] + params["pull_number"])
	id, _ := strconv.ParseInt(params["comment_id"], 10, 64)
	switch path = strings.TrimPrefix(path, "/repos/{owner}/{repo}"); r.Method + " " + path {
	case "GET /issues":
		f.list(w, r)
	case "POST /issues":
		f.opened(w, r)
	case "PATCH /issues/{issue_number}":
		f.update(w, r, number)
	case "GET /issues/{issue_number}/comments":
		paged(f, w, r, f.comments[number])
	case "POST /issues/{issue_number}/comments":
		f.post(w, r, number)
	case "PATCH /issues/comments/{comment_id}":
		f.edit(w, id, func(c *Comment) { c.Body = f.body(r) })
	case "DELETE /issues/comments/{comment_id}":
		f.edit(w, id, func(c *Comment) { c.ID = 0 })
	case "GET /issues/{issue_number}/labels":
		var labels []map[string]string
		for _, name := range f.Labels[number] {
			labels = append(labels, map[string]string{"name": name})
		}
		paged(f, w, r, labels)
	case "GET /issues/{issue_number}/events":
		paged(f, w, r, f.Events[number])
	case "GET /commits/{commit_sha}/pulls":
		f.ofCommit(w, r, params["commit_sha"])
	case "GET /pulls":
		owner, branch, _ := strings.Cut(r.URL.Query().Get("head"), ":")
		paged(f, w, r, f.find(func(p Pull) bool {
			return strings.HasPrefix(p.Head.Repo.FullName, owner+"/") && p.Head.Ref == branch && p.State == r.URL.Query().Get("state")
		}))
	case "GET /pulls/{pull_number}":
		found := f.find(func(p Pull) bool { return p.Number == number })
		if len(found) == 0 {
			f.say(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
			return
		}
		f.say(w, http.StatusOK, found[0])
	case "POST /check-runs":
		var check map[string]any
		f.read(r, &check)
		f.checks = append(f.checks, check)
		f.say(w, http.StatusCreated, check)
	default:
		f.t.Errorf("the fake cannot do %s %s", r.Method, path)
	}
}

func (f *Fake) graphQL(w http.ResponseWriter, r *http.Request) {
	var query struct{ Query string }
	f.read(r, &query)
	if query.Query != "query { viewer { login } }" {
		f.t.Errorf("unknown query %q", query.Query)
	}
	f.say(w, http.StatusOK, map[string]any{"data": map[string]any{"viewer": map[string]string{"login": f.Viewer}}})
}

func (f *Fake) ofCommit(w http.ResponseWriter, r *http.Request, commit string) {
	if f.Unknown[commit] {
		f.say(w, http.StatusUnprocessableEntity, map[string]string{"message": "No commit found for SHA: " + commit})
		return
	}
	paged(f, w, r, f.find(func(p Pull) bool { return p.Head.SHA == commit || slices.Contains(p.Commits, commit) }))
}

func (f *Fake) find(match func(Pull) bool) []Pull {
	var found []Pull
	for _, p := range f.Pulls {
		if match(p) {
			found = append(found, p)
		}
	}
	return found
}

func (f *Fake) post(w http.ResponseWriter, r *http.Request, number int) {
	c := f.add(number, User{f.Viewer, kind(f.Viewer)}, f.body(r))
	f.say(w, http.StatusCreated, c)
}

func kind(login string) string {
	if strings.HasSuffix(login, "[bot]") {
		return "Bot"
	}
	return "User"
}

func (f *Fake) add(number int, by User, body string) Comment {
	f.nextID++
	c := Comment{ID: f.nextID, Body: body, User: by, URL: fmt.Sprintf("http://ghe.example/meteor/meteor/pull/%d#issuecomment-%d", number, f.nextID)}
	f.comments[number] = append(f.comments[number], c)
	return c
}

func (f *Fake) edit(w http.ResponseWriter, id int64, change func(*Comment)) {
	for number, all := range f.comments {
		for i := range all {
			if all[i].ID != id {
				continue
			}
			if change(&all[i]); all[i].ID == 0 {
				f.comments[number] = slices.Delete(all, i, i+1)
				w.WriteHeader(http.StatusNoContent)
				return
			}
			f.say(w, http.StatusOK, all[i])
			return
		}
	}
	f.say(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
}

func (f *Fake) body(r *http.Request) string {
	var request struct{ Body string }
	f.read(r, &request)
	return request.Body
}

func (f *Fake) read(r *http.Request, v any) {
	if err := json.NewDecoder(r.Body).Decode(v); err != nil {
		f.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
}

func (f *Fake) say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		f.t.Error(err)
	}
}

// paged answers with one page of a list, and where the next one is.
func paged[T any](f *Fake, w http.ResponseWriter, r *http.Request, all []T) {
	page, size := max(1, number(r, "page")), f.PageSize
	if asked := number(r, "per_page"); asked > 0 {
		size = min(size, asked)
	}
	from, to := min(len(all), (page-1)*size), min(len(all), page*size)
	if to < len(all) {
		next := *r.URL
		query := next.Query()
		query.Set("page", strconv.Itoa(page+1))
		next.RawQuery = query.Encode()
		w.Header().Set("Link", fmt.Sprintf(`<%s>; rel="next"`, next.String()))
	}
	f.say(w, http.StatusOK, append([]T{}, all[from:to]...))
}

func number(r *http.Request, name string) int {
	n, _ := strconv.Atoi(r.URL.Query().Get(name))
	return n
}
