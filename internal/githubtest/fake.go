// Package githubtest is a GitHub for tests: it keeps state, holds every request against GitHub's own description of its API
// (openapi.json, see openapi.LICENSE), gives lists in pages, and fails when it is told to.
package githubtest

import (
	_ "embed" // the description
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// What every fake is of, and the token that it takes.
const (
	Repository = "meteor/meteor"
	Token      = "ghs_averysecrettokenofthejob"
	Bot        = "github-actions[bot]" // whose token it is, unless Viewer says another
)

//go:embed openapi.json
var description []byte

// A Fake is a GitHub with one repository. It is an http.Handler, and an http.RoundTripper that needs no network, so that time can
// be a test's own. Fields are set before it is used.
type Fake struct {
	t      *testing.T
	router routers.Router

	mu       sync.Mutex
	PageSize int // most of a page, whatever is asked for
	Viewer   string
	Pulls    []Pull
	Labels   map[int][]string
	Events   map[int][]Event
	Unknown  map[string]bool // commits that are not in the repository
	comments map[int][]Comment
	issues   []Issue
	checks   []map[string]any
	nextID   int64
	faults   []Fault
	seen     []string // requests
}

// A Comment is one of an issue's or pull request's.
type Comment struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
	URL  string `json:"html_url"`
	User User   `json:"user"`
}

// A User is a person, or a Bot.
type User struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

// A Pull is a pull request.
type Pull struct {
	Number int    `json:"number"`
	State  string `json:"state"`
	Head   Side   `json:"head"`
	Base   Side   `json:"base"`

	Commits []string `json:"-"` // all of its commits, of which Head.SHA is the newest
}

// An Issue is one of the repository's. Lists of issues have pull requests among them, as GitHub's do.
type Issue struct {
	Number      int       `json:"number"`
	Title       string    `json:"title"`
	Body        string    `json:"body"`
	State       string    `json:"state"`
	StateReason string    `json:"state_reason,omitempty"`
	URL         string    `json:"html_url"`
	User        User      `json:"user"`
	Updated     time.Time `json:"updated_at"`
	Pull        *struct{} `json:"pull_request,omitempty"` // set for a pull request
}

// A Side is the head or the base of a pull request.
type Side struct {
	SHA  string `json:"sha"`
	Ref  string `json:"ref"`
	Repo Repo   `json:"repo"`
}

// A Repo is a repository.
type Repo struct {
	FullName string `json:"full_name"`
}

// An Event is something that happened to an issue.
type Event struct {
	Event string `json:"event"`
	Actor User   `json:"actor"`
	Label struct {
		Name string `json:"name"`
	} `json:"label"`
}

// A Fault is what happens to a request in place of, or after, its answer.
type Fault struct {
	Method, Path string // a part of the path
	Times        int
	Acts         bool // the fake does what it was asked for before it fails
	Broken       bool // there is no answer
	Status       int
	Header       map[string]string
	Body         string
}

// New returns a fake that fails the test over a request which GitHub does not describe.
func New(t *testing.T) *Fake {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		t.Fatal(err)
	}
	doc.Servers = openapi3.Servers{{URL: "/api/v3"}} // as on GitHub Enterprise Server
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return &Fake{t: t, router: router, PageSize: 100, Viewer: Bot, nextID: 1000,
		comments: make(map[int][]Comment), Labels: make(map[int][]string), Events: make(map[int][]Event), Unknown: make(map[string]bool)}
}

// RoundTrip implements http.RoundTripper.
func (f *Fake) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	if w.Header().Get(broken) != "" {
		return nil, new(brokenError)
	}
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// broken marks, inside of the fake, that there is to be no answer.
const broken = "X-Broken"

// brokenError is what a connection ends with that gives no answer.
type brokenError struct{}

func (*brokenError) Error() string   { return "read tcp: i/o timeout" }
func (*brokenError) Timeout() bool   { return true }
func (*brokenError) Temporary() bool { return true }

// Fail makes requests fail from now on.
func (f *Fake) Fail(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, faults...)
}

// Count returns how many requests of a kind came.
func (f *Fake) Count(method, path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, s := range f.seen {
		if strings.HasPrefix(s, method+" ") && strings.Contains(s, path) {
			n++
		}
	}
	return n
}

func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, r.Method+" "+r.URL.Path)
	for i := range f.faults {
		fault := &f.faults[i]
		if fault.Times == 0 || fault.Method != r.Method || !strings.Contains(r.URL.Path, fault.Path) {
			continue
		}
		fault.Times--
		if fault.Acts {
			f.answer(httptest.NewRecorder(), r)
		}
		for k, v := range fault.Header {
			w.Header().Set(k, v)
		}
		if fault.Broken {
			w.Header().Set(broken, "1")
			return
		}
		w.WriteHeader(fault.Status)
		io.WriteString(w, fault.Body)
		return
	}
	f.answer(w, r)
}

// Add puts a comment on an issue.
func (f *Fake) Add(number int, by string, body string) Comment {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.add(number, User{by, kind(by)}, body)
}

// Comments returns an issue's comments, oldest first.
func (f *Fake) Comments(number int) []Comment {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.comments[number])
}

// Open opens an issue as somebody.
func (f *Fake) Open(by, title, body string) Issue {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open(User{by, kind(by)}, title, body)
}

// Change changes an issue, as a person does on its page.
func (f *Fake) Change(number int, change func(*Issue)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := f.numbered(number); i != nil {
		change(i)
		return
	}
	f.t.Errorf("there is no issue %d", number)
}

// Issues returns all issues, oldest first.
func (f *Fake) Issues() []Issue {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.issues)
}

// Checks returns the check runs that were posted.
func (f *Fake) Checks() []map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.checks)
}
