package fleet

import (
	"context"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/internal/lambdatest"
	"github.com/ddpgate/ddpgate/scenario"
)

// worker is the released worker, built once.
var worker = sync.OnceValues(func() (string, error) { return lambdatest.Build(workerDir) })

// lambdas runs an AWS Lambda with the real worker, which may drive the apps, and returns a fleet of it.
func lambdas(t testing.TB, count int, o lambdatest.Options, apps ...string) (*Fleet, *lambdatest.Lambda) {
	t.Helper()
	binary, err := worker()
	if err != nil {
		t.Fatal(err)
	}
	o.Binary = binary
	o.Env = map[string]string{"ALLOWED_TARGETS": strings.Join(apps, " "), "AWS_ENDPOINT_URL_S3": os.Getenv("AWS_ENDPOINT_URL_S3")}
	l := lambdatest.Start(t, o)
	return &Fleet{Places: []Place{&Function{Name: lambdatest.Name, In: "eu-west-1"}}, Count: count, Version: "(devel)", Lead: 2 * time.Second}, l
}

// parts runs an S3 for the test, and returns the store of a bucket there.
func parts(t testing.TB) (Store, string) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("parts"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server())
	t.Cleanup(server.Close)
	lambdatest.Credentials(t)
	t.Setenv("AWS_ENDPOINT_URL_S3", server.URL)
	const name = "s3://parts/loads"
	s, err := OpenStore(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return s, name
}

// tiny is a load of ten sessions.
func tiny(t testing.TB) scenario.Scenario {
	sc := small(t, "tasks-reactive")
	sc.Arrivals = scenario.Arrivals{Rate: 20, For: 500 * time.Millisecond}
	sc.Vars["tasks"] = int64(2)
	sc.Timeout = 10 * time.Second
	return sc
}

// idle fails where workers are still at it once the parts are there.
func idle(t *testing.T, l *lambdatest.Lambda) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); l.Busy() > 0; {
		if time.Now().After(end) {
			t.Errorf("%d workers are still at work", l.Busy())
			return
		}
		<-time.After(20 * time.Millisecond)
	}
}

// The same load comes from functions, whose answers are waited for, or kept, or neither waited for.
func TestFunctions(t *testing.T) {
	for _, row := range []struct {
		name         string
		store, async bool
	}{{"answered", false, false}, {"kept", true, false}, {"sent", true, true}} {
		t.Run(row.name, func(t *testing.T) {
			sc, app := tiny(t), tasks(t)
			one, err := drive.Run(t.Context(), sc, drive.Options{URL: app, Seed: 5})
			if err != nil {
				t.Fatal(err)
			}
			var store Store
			var name string
			if row.store {
				store, name = parts(t)
			}
			f, l := lambdas(t, 3, lambdatest.Options{Cold: 50 * time.Millisecond}, app)
			f.Store, f.Parts, f.Async = store, name, row.async
			if err := f.Hello(t.Context(), app); err != nil {
				t.Fatal(err)
			}
			got, err := f.Drive(t.Context(), sc, drive.Options{URL: app, Seed: 5})
			if err != nil || len(got.Faults) > 0 || got.OK != 10 {
				t.Fatalf("%v: %+v, failures %+v", err, got, got.Failures)
			}
			if diff := cmp.Diff(counts(one), counts(got)); diff != "" {
				t.Errorf("(-one +functions):\n%s", diff)
			}
			for i, s := range got.Sources {
				if s.Region != "eu-west-1" || !strings.Contains(s.Machine, "1769 MB") || s.Worker == "" || s.Duplicates != 0 || s.Lag <= 0 {
					t.Errorf("source %d is %+v", i, s)
				}
			}
			idle(t, l)
			want := "Stream"
			if row.async {
				want = "Event"
			}
			if calls := l.Calls(); len(calls) != 4 || calls[3].Type != want || calls[0].Type != "Stream" {
				t.Errorf("the calls were %+v", calls)
			}
		})
	}
}

// Two apps are driven from each worker at once.
func TestTogether(t *testing.T) {
	base, head := tasks(t), tasks(t)
	f, _ := lambdas(t, 2, lambdatest.Options{}, base, head)
	sc := tiny(t)
	onBase, onHead, err := f.Together(t.Context(), sc, drive.Options{URL: base, Seed: 3}, drive.Options{URL: head, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*drive.Part{onBase, onHead} {
		if len(p.Faults) > 0 || p.OK != 10 || len(p.Sources) != 2 {
			t.Errorf("got %+v", p)
		}
	}
	if diff := cmp.Diff(counts(onBase), counts(onHead)); diff != "" {
		t.Errorf("(-base +head):\n%s", diff)
	}
	if turn(sc.Arrivals, 0, 2, 3) == turn(sc.Arrivals, 1, 2, 3) {
		t.Error("the arrivals at both apps are at the same times")
	}
}

// A worker has a region, and each region's figures.
func TestRegions(t *testing.T) {
	app := tasks(t)
	f, l := lambdas(t, 2, lambdatest.Options{}, app)
	f.Places = append(f.Places, &Function{Name: lambdatest.Name, In: "us-east-1"})
	got, err := f.Drive(t.Context(), tiny(t), drive.Options{URL: app})
	if err != nil || len(got.Faults) > 0 {
		t.Fatal(err, got.Faults)
	}
	for _, region := range []string{"eu-west-1", "us-east-1"} {
		if got.Regions[region]["ok"] != 1 || got.Regions[region]["session.p50"] <= 0 {
			t.Errorf("%s: %v", region, got.Regions[region])
		}
		if !slices.ContainsFunc(l.Calls(), func(c lambdatest.Call) bool { return c.Region == region }) {
			t.Errorf("nobody called %s", region)
		}
	}
}

// The parts of a coordinator that is gone are collected by another, which knows no more than the ticket.
func TestCollect(t *testing.T) {
	for _, async := range []bool{false, true} {
		app := tasks(t)
		store, name := parts(t)
		f, _ := lambdas(t, 2, lambdatest.Options{}, app)
		f.Store, f.Parts, f.Async = store, name, async
		var ticket Ticket
		f.Began = func(tk Ticket) error { ticket = tk; return nil }
		ctx, cancel := context.WithCancel(t.Context())
		var once sync.Once
		progressed := func(drive.Progress) { once.Do(cancel) }
		if async {
			time.AfterFunc(time.Second, cancel)
		}
		if _, err := f.Drive(ctx, tiny(t), drive.Options{URL: app, Progress: progressed}); err == nil {
			t.Error("the first coordinator was not stopped")
		}
		cancel()
		got, err := (&Fleet{Store: store}).Collect(t.Context(), ticket)
		if err != nil || len(got) != 1 || len(got[0].Faults) > 0 || got[0].OK != 10 {
			t.Fatalf("async %v: %v: %+v", async, err, got[0])
		}
	}
}
