package fleet

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/internal/lambdatest"
)

// A lossy store shows its objects otherwise than they are.
type lossy struct {
	Store
	get func(name string, content []byte) ([]byte, error)
}

func (l lossy) Get(ctx context.Context, name string) ([]byte, error) {
	content, err := l.Store.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	return l.get(name, content)
}

// A mishap is what goes wrong with a load on two workers, and what must be said of it.
type mishap struct {
	name       string
	store      bool
	async      bool
	lambda     lambdatest.Options
	fleet      func(*Fleet)
	get        func(name string, content []byte) ([]byte, error) // of the coordinator's store
	faults     [2]string                                         // of the workers; where there are none the part is right
	wrong      bool                                              // the functions' ALLOWED_TARGETS is no list of origins
	either     bool                                              // the fault is the first worker's or the other's
	duplicates int                                               // of both workers
}

// first is a fault of the first share, whichever invocation that is.
func first(f lambdatest.Fault) func(int, []byte) lambdatest.Fault {
	return func(_ int, event []byte) lambdatest.Fault {
		if bytes.Contains(event, []byte(`"share":{"index":0,`)) {
			return f
		}
		return lambdatest.Fault{}
	}
}

func skewed(by time.Duration) func(*Fleet) {
	return func(f *Fleet) { f.clock = func() time.Time { return time.Now().Add(by) } }
}

func mishaps() []mishap {
	o := func(f lambdatest.Fault) lambdatest.Options { return lambdatest.Options{Befall: first(f)} }
	only := func(fault string) [2]string { return [2]string{fault, ""} }
	both := func(fault string) [2]string { return [2]string{fault, fault} }
	return []mishap{
		{name: "worker killed", lambda: o(lambdatest.Fault{Kill: 2200 * time.Millisecond}), faults: only("Runtime.ExitError")},
		{name: "worker killed, with a store", store: true, lambda: o(lambdatest.Fault{Kill: 2200 * time.Millisecond}), faults: only("Runtime.ExitError")},
		{name: "function error", lambda: o(lambdatest.Fault{Error: "Runtime.OutOfMemory"}), faults: only("Runtime.OutOfMemory")},
		{name: "line cut", lambda: o(lambdatest.Fault{Cut: 1500}), faults: only("the line to the worker is dead")},
		{name: "line cut, part kept", store: true, lambda: o(lambdatest.Fault{Cut: 100})},
		{name: "part lost", store: true, get: func(name string, content []byte) ([]byte, error) {
			if strings.HasSuffix(name, "0000.json") {
				return nil, fs.ErrNotExist
			}
			return content, nil
		}, faults: only("fetch the parts: file does not exist")},
		{name: "part corrupt", store: true, get: func(name string, content []byte) ([]byte, error) {
			if strings.HasSuffix(name, "0000.json") {
				at := bytes.Index(content, []byte(`"v2":"`)) + 30
				content[at] ^= 1
			}
			return content, nil
		}, faults: only("the part is damaged")},
		{name: "part twice", store: true, lambda: o(lambdatest.Fault{Twice: true}), duplicates: 1},
		{name: "part twice, not waited for", store: true, async: true, lambda: o(lambdatest.Fault{Twice: true}), duplicates: 1},
		{name: "part twice, without a store", lambda: o(lambdatest.Fault{Twice: true}), faults: only("both drove it"), duplicates: 1},
		{name: "clock behind", fleet: skewed(500 * time.Millisecond), faults: both("its clock was behind")},
		{name: "clock ahead", fleet: skewed(-500 * time.Millisecond), faults: both("its clock was ahead by")},
		{name: "region down", lambda: lambdatest.Options{Down: []string{"us-east-1"}}, fleet: func(f *Fleet) {
			f.Places = append(f.Places, &Function{Name: lambdatest.Name, In: "us-east-1"})
		}, faults: [2]string{"", "connection reset by peer"}},
		{name: "start passed", lambda: o(lambdatest.Fault{Slow: 3 * time.Second}), faults: only("the start had passed by ")},
		{name: "throttled until too late, not waited for", store: true, async: true, lambda: o(lambdatest.Fault{Slow: 3 * time.Second}), faults: only("the start had passed by ")},
		{name: "never run, not waited for", store: true, async: true, lambda: o(lambdatest.Fault{Error: "EventAgeExceeded"}), faults: only("no worker had taken its job 5s after the start")},
		{name: "busy until the start", lambda: lambdatest.Options{Concurrent: 1}, faults: only("nobody took the job for "), either: true},
		{name: "answer too large", lambda: lambdatest.Options{Response: 500}, faults: both("Function.ResponseSizeTooLarge")},
		{name: "function's time-out too short", lambda: lambdatest.Options{Timeout: 20 * time.Second}, faults: both("give it a time-out of 28s at least")},
		{name: "function stopped", lambda: o(lambdatest.Fault{Stop: 2200 * time.Millisecond}), faults: only("Task timed out after 2.20 seconds")},
		{name: "denied", lambda: lambdatest.Options{Denied: true}, faults: both("AccessDeniedException")},
		{name: "no function", fleet: func(f *Fleet) { f.Places = []Place{&Function{Name: "other", In: "eu-west-1"}} }, faults: both("ResourceNotFoundException")},
		{name: "set up wrongly", wrong: true, faults: both(`ALLOWED_TARGETS: "staging" is no origin`)},
		{name: "another version", fleet: func(f *Fleet) { f.Version = "v9.9.9" }, faults: both("this worker is ddpgate (devel), the coordinator v9.9.9")},
	}
}

// Whatever goes wrong, there is a right part, or one that names the worker and the cause; and no worker is left.
func TestChaos(t *testing.T) {
	for _, m := range mishaps() {
		t.Run(m.name, func(t *testing.T) {
			app := tasks(t)
			sc := tiny(t)
			var store Store
			var name string
			if m.store {
				store, name = parts(t)
			}
			allowed := app
			if m.wrong {
				allowed = "staging"
			}
			f, l := lambdas(t, 2, m.lambda, allowed)
			f.Store, f.Parts, f.Async = store, name, m.async
			if m.get != nil {
				f.Store = lossy{store, m.get}
			}
			if m.fleet != nil {
				m.fleet(f)
			}
			got, err := f.Drive(t.Context(), sc, drive.Options{URL: app, Seed: 5})
			if err != nil {
				t.Fatal(err)
			}
			idle(t, l)
			m.judge(t, got)
			for _, secret := range []string{app, "insertTask"} {
				if written := l.Written(); strings.Contains(written, secret) {
					t.Errorf("a worker wrote %s", written)
				}
			}
		})
	}
}

func (m mishap) judge(t *testing.T, got *drive.Part) {
	t.Helper()
	if m.either && got.Sources[0].Fault == "" {
		m.faults[0], m.faults[1] = m.faults[1], m.faults[0]
	}
	want, duplicates := 0, 0
	for i, fault := range m.faults {
		duplicates += got.Sources[i].Duplicates
		if fault != "" {
			want++
		}
		if is := got.Sources[i].Fault; (is == "") != (fault == "") || !strings.Contains(is, fault) {
			t.Errorf("worker %d: got %q, want %q", i, is, fault)
		}
	}
	if len(got.Faults) != want || duplicates != m.duplicates {
		t.Errorf("%d duplicates, want %d; faults %q", duplicates, m.duplicates, got.Faults)
	}
	if got.Planned != 10 || got.Check() != nil {
		t.Errorf("%d sessions planned, want 10; %v", got.Planned, got.Check())
	}
	if want == 0 && got.OK != 10 {
		t.Errorf("%d sessions ended well: %+v", got.OK, got.Failures)
	}
	if want == 2 && got.OK != 0 && !strings.Contains(m.name, "clock") {
		t.Errorf("%d sessions of workers that failed", got.OK)
	}
}

// A function that is free again after a while is asked again.
func TestFreeAgain(t *testing.T) {
	app := tasks(t)
	f, l := lambdas(t, 2, lambdatest.Options{Concurrent: 2}, app)
	f.Lead = 4 * time.Second
	others := make(chan error, 2)
	busy := *f
	busy.Lead = 500 * time.Millisecond
	go func() {
		got, err := busy.Drive(t.Context(), tiny(t), drive.Options{URL: app})
		if err == nil && len(got.Faults) > 0 {
			err = errors.New(got.Faults[0])
		}
		others <- err
	}()
	for len(l.Calls()) < 2 {
		<-time.After(time.Millisecond)
	}
	got, err := f.Drive(t.Context(), tiny(t), drive.Options{URL: app})
	if err != nil || len(got.Faults) > 0 || got.OK != 10 {
		t.Errorf("%v: %+v", err, got)
	}
	if err := <-others; err != nil {
		t.Error(err)
	}
	refused := 0
	for _, c := range l.Calls() {
		if c.Reason == "TooManyRequestsException" {
			refused++
		}
	}
	if refused == 0 {
		t.Error("nobody was refused: the test is without meaning")
	}
}

// An app that is not listed sees no connection of a worker.
func TestUnlisted(t *testing.T) {
	var seen atomic.Int64
	app := httptest.NewUnstartedServer(http.NotFoundHandler())
	app.Config.ConnState = func(net.Conn, http.ConnState) { seen.Add(1) }
	app.Start()
	defer app.Close()
	f, _ := lambdas(t, 2, lambdatest.Options{}, "https://staging.example.com")
	got, err := f.Drive(t.Context(), tiny(t), drive.Options{URL: app.URL})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range got.Sources {
		if want := app.URL + " may not be driven: the worker's ALLOWED_TARGETS are https://staging.example.com"; s.Fault != want {
			t.Errorf("got %q, want %q", s.Fault, want)
		}
	}
	if err := f.Hello(t.Context(), app.URL); !errors.As(err, new(*UnfitError)) {
		t.Errorf("hello: got %v", err)
	}
	if n := seen.Load(); n > 0 {
		t.Errorf("the app saw %d changes of connections", n)
	}
}
