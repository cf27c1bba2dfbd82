package drive

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ddpgate/ddpgate/internal/tasksapp"
	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/scenario"
)

// The shares of a load are its sessions, each once.
func TestShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, of := rapid.IntRange(0, 300).Draw(t, "sessions"), rapid.IntRange(1, 40).Draw(t, "shares")
		var started []int
		for i := range of {
			s := Share{i, of}
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			n := s.Sessions(all)
			if fewest := all / of; n != fewest && n != fewest+1 {
				t.Errorf("share %v of %d sessions has %d", s, all, n)
			}
			for k := range n {
				started = append(started, s.session(k))
			}
		}
		slices.Sort(started)
		for i, got := range started {
			if got != i {
				t.Fatalf("session %d of %d is not started once: %v", i, all, started)
			}
		}
		if len(started) != all {
			t.Errorf("%d of %d sessions are started", len(started), all)
		}
	})
	if n := (Share{}).Sessions(7); n != 7 {
		t.Errorf("the zero share has %d of 7 sessions", n)
	}
	for _, s := range []Share{{0, -1}, {-1, 2}, {2, 2}, {1, 0}} {
		if s.Check() == nil {
			t.Errorf("%v passes", s)
		}
	}
}

// Percentiles of merged parts are those of all durations together, and counts are sums.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := &Part{Histograms: map[string]*metric.Histogram{}}
		merged := new(Part)
		for range rapid.IntRange(1, 6).Draw(t, "parts") {
			part := drawPart(t, whole)
			text, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			read := new(Part)
			if err := json.Unmarshal(text, read); err != nil {
				t.Fatal(err)
			}
			if err := read.Check(); err != nil {
				t.Fatal(err)
			}
			merged.Merge(read)
		}
		if err := merged.Check(); err != nil {
			t.Fatal(err)
		}
		got, gotMissing := merged.Metrics()
		want, wantMissing := whole.Metrics()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("metrics (-whole +merged):\n%s", diff)
		}
		if diff := cmp.Diff(wantMissing, gotMissing); diff != "" {
			t.Errorf("missing (-whole +merged):\n%s", diff)
		}
		if diff := cmp.Diff(whole.Failures, merged.Failures); diff != "" {
			t.Errorf("failures (-whole +merged):\n%s", diff)
		}
		if merged.DataMessages != whole.DataMessages || merged.Bytes != whole.Bytes || merged.Planned != whole.Planned {
			t.Errorf("got %+v, want %+v", merged, whole)
		}
	})
}

// drawPart makes a part, and has all that is in it recorded as the whole's too.
func drawPart(t *rapid.T, whole *Part) *Part {
	ok, failed, late := rapid.IntRange(0, 60).Draw(t, "ok"), rapid.IntRange(0, 1).Draw(t, "failed"), 0
	if ok > 0 {
		late = rapid.IntRange(0, ok).Draw(t, "late")
	}
	messages := rapid.Int64Range(0, 1e12).Draw(t, "messages")
	p := &Part{
		Time: rapid.Float64Range(0, 900).Draw(t, "time"), Floor: 3, OK: ok, Failed: failed, Late: late, Started: ok + failed - late,
		Planned: ok + failed, Actions: 3 * ok, DataMessages: messages, Bytes: 2 * messages,
		Histograms: map[string]*metric.Histogram{},
		Results:    map[string]Size{"m": {int64(ok), int64(100 * ok), 100}},
	}
	causes := []string{"a", "b"}
	for _, name := range []string{"session", "insertTask"} {
		own := rapid.SliceOfN(rapid.Float64Range(1e-6, 3000), 0, 40).Draw(t, name)
		p.Histograms[name] = histogram(failed, own...)
		if whole.Histograms[name] == nil {
			whole.Histograms[name] = metric.NewHistogram()
		}
		whole.Histograms[name].Merge(p.Histograms[name])
	}
	f := failures{}
	for range failed {
		f.add(rapid.SampledFrom(causes).Draw(t, "cause"), "x")
	}
	p.Failures = f.sorted()
	all := failures{}
	for _, one := range slices.Concat(whole.Failures, p.Failures) {
		for range one.Count {
			all.add(one.Cause, one.Example)
		}
	}
	whole.Failures = all.sorted()
	whole.Time, whole.Floor = max(whole.Time, p.Time), 3
	whole.OK, whole.Failed, whole.Planned, whole.Started, whole.Late = whole.OK+ok, whole.Failed+failed, whole.Planned+p.Planned, whole.Started+p.Started, whole.Late+late
	whole.Actions += p.Actions
	whole.DataMessages += p.DataMessages
	whole.Bytes += p.Bytes
	size := p.Results["m"]
	size.add(whole.Results["m"])
	whole.Results = map[string]Size{"m": size}
	return p
}

// No field of a part is forgotten when parts are merged: into an empty one, all of it comes over.
func TestMergeTakesEverything(t *testing.T) {
	full := &Part{
		Start: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Time: 1, Floor: 2, Planned: 3, Started: 4, OK: 5, Failed: 6, Late: 7, Dropped: 8,
		Exhausted: 9, Actions: 10, Histograms: map[string]*metric.Histogram{"lag": histogram(1, 0.5)},
		Failures: []Failure{{"a", 1, "b"}}, Active: []Level{{0, 1}, {1, 0}}, Results: map[string]Size{"m": {1, 2, 3}},
		Self: Self{1, 2, 3, 4, 5, 6}, DataMessages: 11, Bytes: 12, Odd: 13, Extensions: "e", Sources: []Source{{Worker: "w"}}, Faults: []string{"f"},
		Regions: map[string]map[string]float64{"r": {"ok": 1}},
	}
	for _, v := range []reflect.Value{reflect.ValueOf(*full), reflect.ValueOf(full.Self)} {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Fatalf("the test's part has no %s", v.Type().Field(i).Name)
			}
		}
	}
	want, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	merged := new(Part)
	merged.Merge(full)
	got, err := json.Marshal(merged)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-full +merged):\n%s", diff)
	}
}

func TestSummedLevels(t *testing.T) {
	a := []Level{{0.01, 1}, {0.51, 3}, {1.01, 0}}
	b := []Level{{0.02, 2}, {0.52, 5}, {2.2, 1}}
	got := summed(a, b)
	want := []Level{{0, 0}, {0.5, 3}, {1, 8}, {1.5, 5}, {2, 5}, {2.2, 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBothExtensions(t *testing.T) {
	for _, row := range []struct{ a, b, want string }{
		{"", "", ""}, {"x", "", "x"}, {"", "x", "x"}, {"x", "x", "x"}, {"x", "y", "x | y"}, {"x | y", "y", "x | y"},
	} {
		if got := bothExtensions(row.a, row.b); got != row.want {
			t.Errorf("%q and %q: got %q, want %q", row.a, row.b, got, row.want)
		}
	}
}

// A part that cannot be is told.
func TestCheckPart(t *testing.T) {
	for name, row := range map[string]struct {
		part Part
		want string
	}{
		"sum":       {Part{Planned: 3, Started: 1, Late: 1, OK: 2}, "3 planned sessions"},
		"ends":      {Part{Planned: 2, Started: 2, OK: 1}, "2 started and 0 late"},
		"negative":  {Part{Planned: -1, Dropped: -1}, "planned is -1"},
		"time":      {Part{Time: math.NaN()}, "time is NaN"},
		"endless":   {Part{Active: []Level{{0, 1}, {1e300, 0}}}, "level 1 is at 1e+300 s"},
		"backwards": {Part{Active: []Level{{2, 1}, {1, 0}}}, "level 1 is at 1 s"},
		"histogram": {Part{Histograms: map[string]*metric.Histogram{"lag": nil}}, "histogram lag is missing"},
	} {
		if err := row.part.Check(); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", name, err, row.want)
		}
	}
	if err := new(Part).Check(); err != nil {
		t.Error(err)
	}
}

// A load starts when it is to start, and waits for nothing where that has passed.
func TestStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		l := new(load)
		l.begin(t.Context(), began.Add(3*time.Second).Round(0))
		if waited := time.Since(began); waited != 3*time.Second || !l.t0.Equal(began.Add(3*time.Second)) {
			t.Errorf("waited %v for %v", waited, l.t0)
		}
		l.begin(t.Context(), began)
		if waited := time.Since(began); waited != 3*time.Second || !l.t0.Equal(began) {
			t.Errorf("waited %v for %v, which had passed", waited, l.t0)
		}
	})
}

// Two drivers with a share each are one load: each session is started once, the sessions of both know each other's documents for
// the load's, and the documents of the other driver's sessions do not upset the audit.
func TestTwoDrivers(t *testing.T) {
	for _, name := range []string{"tasks-reactive", "fanout"} {
		sc := small(t, name, func(s *scenario.Scenario) { shorten(s.Session) })
		app := tasks(t, tasksapp.Options{})
		o := Options{URL: app, Seed: 7, Name: "ddpgate-two-drivers", Start: time.Now().Add(100 * time.Millisecond)}
		parts := make(chan *Part, 2)
		for i := range 2 {
			go func() {
				o := o
				o.Share = Share{i, 2}
				p, err := Run(t.Context(), sc, o)
				if err != nil {
					t.Error(err)
				}
				parts <- p
			}()
		}
		merged := NewPart(sc)
		for range 2 {
			if p := <-parts; p != nil {
				merged.Merge(p)
			}
		}
		if merged.OK != 20 || merged.Planned != 20 {
			t.Errorf("%s: got %d of %d sessions ok: %+v", name, merged.OK, merged.Planned, merged.Failures)
		}
		if want := sc.Actions(); merged.Actions != want {
			t.Errorf("%s: got %d actions, want %d", name, merged.Actions, want)
		}
	}
}
