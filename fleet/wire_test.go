package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/scenario"
)

// A shelf is a store in memory.
type shelf struct {
	mu      sync.Mutex
	objects map[string][]byte
}

func (s *shelf) PutNew(_ context.Context, name string, content []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.objects[name]; there {
		return fs.ErrExist
	}
	s.objects[name] = bytes.Clone(content)
	return nil
}

func (s *shelf) Get(ctx context.Context, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	content, there := s.objects[name]
	if !there {
		return nil, fs.ErrNotExist
	}
	return content, nil
}

func (s *shelf) List(ctx context.Context, prefix string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.objects)), func(name string) bool { return !strings.HasPrefix(name, prefix) }), nil
}

// What cannot come any more is not waited for longer than it takes to know: a job that nobody took until shortly after the start, one that
// was taken until the deadline.
func TestCollectGivesUp(t *testing.T) {
	for name, row := range map[string]struct {
		claim bool
		want  string
		after time.Duration // the start
	}{
		"nobody took it": {false, "no worker had taken its job 5s after the start", takenBy + pollEvery},
		"it never ended": {true, "it gave no answer in time", 26*time.Second + grace},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &shelf{objects: make(map[string][]byte)}
			start := time.Now()
			sc := scenario.Scenario{Name: "x", Arrivals: scenario.Arrivals{Rate: 10, For: time.Second}, Timeout: 10 * time.Second}
			ticket := Ticket{Format: Format, Run: "r", Scenario: sc, Count: 1, Targets: []string{"http://x"}, Regions: []string{""}, Parts: "s3://b",
				Start: start, Deadline: start.Add(longest(sc))}
			if row.claim {
				s.objects["r/0000.claim"] = []byte("w\n")
			}
			got, err := (&Fleet{Store: s}).Collect(t.Context(), ticket)
			if err != nil || got[0].Sources[0].Fault != row.want || got[0].Dropped != 10 {
				t.Errorf("%s: %v: %+v", name, err, got[0])
			}
			if took := time.Since(start); took > row.after+time.Second || took < row.after-time.Second {
				t.Errorf("%s: given up after %v, want %v", name, took, row.after)
			}
		})
	}
}

// What is in the store is there for whoever comes, hours after the deadline too; a store that cannot be looked into is no lost load.
func TestCollectLate(t *testing.T) {
	sc := scenario.Scenario{Name: "x", Arrivals: scenario.Arrivals{Rate: 2, For: time.Second}, Timeout: time.Second}
	start := time.Now().Add(-3 * time.Hour)
	sealed, err := seal(&drive.Part{Planned: 2, Started: 2, OK: 2, Histograms: map[string]*metric.Histogram{}})
	if err != nil {
		t.Fatal(err)
	}
	answer := &Answer{Run: "r", Share: drive.Share{Of: 1}, Worker: Worker{ID: "w"}, Received: start.Add(-time.Second), Parts: []Sealed{sealed}}
	text, err := json.Marshal(line{At: start.Add(2 * time.Second), Answer: answer})
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{objects: map[string][]byte{"r/0000.json": text}}
	ticket := Ticket{Format: Format, Run: "r", Scenario: sc, Count: 1, Targets: []string{"http://x"}, Regions: []string{""}, Parts: "s3://b",
		Sent: start.Add(-2 * time.Second), Start: start, Deadline: start.Add(longest(sc))}
	got, err := (&Fleet{Store: s}).Collect(t.Context(), ticket)
	if err != nil || got[0].OK != 2 || len(got[0].Faults) > 0 {
		t.Errorf("%v: %+v", err, got)
	}
	ticket.Sent = start.Add(2 * time.Second) // the worker had its job 3 s before, by its clock: that is behind
	got, err = (&Fleet{Store: s}).Collect(t.Context(), ticket)
	if err != nil || len(got[0].Faults) != 1 || !strings.Contains(got[0].Faults[0], "behind by 3s") {
		t.Errorf("a clock that is behind: %v: %+v", err, got)
	}
	synctest.Test(t, func(t *testing.T) {
		ticket := ticket
		ticket.Start = time.Now() // which is another in here
		ticket.Deadline = ticket.Start.Add(longest(sc))
		if parts, err := (&Fleet{Store: locked{}}).Collect(t.Context(), ticket); err == nil || !strings.Contains(err.Error(), "no right") {
			t.Errorf("a store that cannot be looked into: %v, %+v", err, parts)
		}
	})
}

// locked is a store that its caller may not look into.
type locked struct{ *shelf }

func (locked) List(context.Context, string) ([]string, error) { return nil, errors.New("no right") }

// A worker that started its sessions late is named, however few they are among all.
func TestLateness(t *testing.T) {
	for _, row := range []struct {
		late, planned int
		fault         string
	}{
		{0, 10, ""}, {1, 10, ""}, {2, 10, "it started 2 of its 10 sessions late"}, {10, 10, "it started 10 of its 10 sessions late"},
		{5, 500, ""}, {6, 500, "it started 6 of its 500 sessions late"},
	} {
		if got := lateness([]*drive.Part{{}, {Late: row.late, Planned: row.planned}}); got != row.fault {
			t.Errorf("%d of %d: got %q, want %q", row.late, row.planned, got, row.fault)
		}
	}
}

// Of workers that are handed one job, in a process or several, one drives; the others leave word.
func TestTakenOnce(t *testing.T) {
	s := &shelf{objects: make(map[string][]byte)}
	open := func(context.Context, string) (Store, error) { return s, nil }
	hosts := []*Host{{Worker: Worker{ID: "a"}, Open: open}, {Worker: Worker{ID: "b"}, Open: open}}
	job := &Job{Run: "r", Share: drive.Share{Index: 3, Of: 4}, Parts: "s3://b"}
	taken := 0
	for _, h := range append(hosts, hosts...) {
		if _, err := h.take(t.Context(), job); err == nil {
			taken++
		}
	}
	found, err := duplicates(t.Context(), s, "r")
	if err != nil || taken != 1 || found[3] != 3 {
		t.Errorf("%v: taken %d times, duplicates %v", err, taken, found)
	}
}

// A write whose answer was lost, and which is tried again, has gone well; one of another has not.
func TestWriteAgain(t *testing.T) {
	s := &shelf{objects: make(map[string][]byte)}
	for range 2 {
		if err := write(t.Context(), s, "x", []byte("mine")); err != nil {
			t.Error(err)
		}
	}
	if err := write(t.Context(), s, "x", []byte("another's")); err == nil {
		t.Error("another's object was taken for this one")
	}
}

// An answer that is too large is refused before it is sent, and a line without end is not read to its end.
func TestTooLarge(t *testing.T) {
	if err := fits([]Sealed{{Part: make([]byte, MaxAnswer)}}); err != nil {
		t.Error(err)
	}
	if err := fits([]Sealed{{Part: make([]byte, MaxAnswer)}, {Part: []byte("1")}}); err == nil || !strings.Contains(err.Error(), "have parts kept in a bucket") {
		t.Errorf("got %v", err)
	}
	endless := io.NopCloser(io.LimitReader(zeros{}, 100<<20))
	if err := lines(endless, func(line) { t.Error("heard a line") }); err == nil || !strings.Contains(err.Error(), "a line of more than") {
		t.Errorf("got %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// The count that a plan advises for its sockets fits.
func TestAdvisedCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := scenario.Scenario{Name: "x", Arrivals: scenario.Arrivals{
			Rate: rapid.Float64Range(1, 5000).Draw(t, "rate"), For: time.Duration(rapid.IntRange(1, 300).Draw(t, "for")) * time.Second,
		}, Timeout: time.Duration(rapid.IntRange(1, 300).Draw(t, "timeout")) * time.Second}
		targets := rapid.IntRange(1, 2).Draw(t, "targets")
		f := &Fleet{Places: []Place{&Function{Name: "f"}}, Count: rapid.IntRange(1, 50).Draw(t, "count")}
		p, err := f.Plan(sc, targets)
		if err != nil {
			t.Fatal(err)
		}
		err = f.Check(sc, targets)
		if (p.Open > functionSockets) != (err != nil && strings.Contains(err.Error(), "more than the 900 sockets")) {
			t.Fatalf("%d sockets: %v", p.Open, err)
		}
		if err == nil || !strings.Contains(err.Error(), "more than the 900 sockets") {
			return
		}
		fits := *f
		text := err.Error()
		if err := json.Unmarshal([]byte(text[strings.LastIndex(text, "--count ")+8:]), &fits.Count); err != nil {
			t.Fatal(err)
		}
		if p, err := fits.Plan(sc, targets); err != nil || p.Open > functionSockets {
			t.Errorf("%v: %+v does not fit", err, p)
		}
	})
}

func TestParseAllowed(t *testing.T) {
	for text, want := range map[string][]string{
		"": {}, " , ": {}, "https://a.example": {"https://a.example"}, "http://a:80/, https://b\n": {"http://a:80", "https://b"},
	} {
		if got, err := ParseAllowed(text); err != nil || got == nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"a.example", "ftp://a", "https://", "https://a/path", "https://u:p@a", "https://a?x=1", "*"} {
		if got, err := ParseAllowed(text); err == nil {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

func TestParseWorkers(t *testing.T) {
	for text, want := range map[string]string{
		"local:4": "local", "lambda:f": "lambda:f", "lambda:eu-west-1/f,lambda:us-east-1/g": "lambda:eu-west-1/f lambda:us-east-1/g",
	} {
		places, count, err := ParseWorkers(text, []string{"x"})
		var names []string
		for _, p := range places {
			names = append(names, p.String())
		}
		if got := strings.Join(names, " "); err != nil || got != want || (count == 4) != (text == "local:4") {
			t.Errorf("%q: got %q, %d, %v", text, got, count, err)
		}
	}
	for _, text := range []string{"", "local", "local:0", "local:257", "lambda:", "lambda:nowhere/f", "lambda:a b", "lamda:f", "lambda:f,f", "lambda:f,eu-west-1/f"} {
		if _, _, err := ParseWorkers(text, nil); err == nil {
			t.Errorf("%q passes", text)
		}
	}
}

// A clock is told by what is certain: a job comes after it was sent, and a line is heard after it was written.
func TestClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := func(name string, low, high int) time.Duration {
			return time.Duration(rapid.IntRange(low, high).Draw(t, name)) * time.Millisecond
		}
		ahead, there, back := ms("ahead", -1000, 1000), ms("there", 0, 200), ms("back", 0, 200)
		now := time.Unix(1e9, 0)
		c := clock{sent: now, live: true}
		c.received(now.Add(there + ahead))
		c.heard(now.Add(there+ahead), now.Add(there+back))
		if r := c.ahead(); r.Low > ahead.Seconds() || r.High < ahead.Seconds() {
			t.Errorf("ahead by %v, said to be in %+v", ahead, r)
		}
		if fault := c.fault(); ahead < -450*time.Millisecond-time.Millisecond && fault == "" || ahead > 451*time.Millisecond && fault == "" {
			t.Errorf("ahead by %v, and trusted", ahead)
		}
	})
}

// Whatever a worker is handed, it answers with one line that can be read.
func FuzzWork(f *testing.F) {
	f.Add([]byte(`{"format":"ddpgate/job/1","version":"test","run":"r","hello":true,"targets":[{"url":"https://a"}]}`))
	f.Add([]byte(`{"format":"ddpgate/job/1","version":"test","run":"r","share":{"index":0,"of":1},"targets":[{"url":"https://a"}],"start":"2020-01-01T00:00:00Z","deadline":"2020-01-01T00:01:00Z"}`))
	f.Add([]byte(`{"format":"ddpgate/job/9"}`))
	f.Fuzz(func(t *testing.T, event []byte) {
		h := &Host{Worker: Worker{ID: "w", Version: "test"}, Allowed: []string{"https://a"}, clock: func() time.Time { return time.Unix(1<<33, 0).UTC() }}
		var out bytes.Buffer
		if err := h.Work(t.Context(), event, &out); err != nil {
			t.Fatal(err)
		}
		answers := 0
		if err := lines(io.NopCloser(&out), func(l line) {
			if l.Answer != nil {
				answers++
			}
		}); err != nil || answers != 1 {
			t.Errorf("%v: %d answers", err, answers)
		}
	})
}

// Whatever comes as a worker's lines, a coordinator makes a part of it that can be.
func FuzzLines(f *testing.F) {
	p := &drive.Part{Planned: 2, Started: 2, OK: 2, Histograms: map[string]*metric.Histogram{"lag": metric.NewHistogram()}}
	sealed, err := seal(p)
	if err != nil {
		f.Fatal(err)
	}
	text, err := json.Marshal(line{Answer: &Answer{Run: "r", Share: drive.Share{Of: 1}, Parts: []Sealed{sealed}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(text, '\n'))
	f.Add([]byte("{\"progress\":{}}\nnoise\n{\"answer\":{\"duplicate\":true}}\n"))
	sc := scenario.Scenario{Name: "x", Arrivals: scenario.Arrivals{Rate: 2, For: time.Second}, Timeout: time.Second}
	f.Fuzz(func(t *testing.T, text []byte) {
		v := new(Fleet).voyage(Ticket{Run: "r", Scenario: sc, Count: 1, Targets: []string{"x"}, Regions: []string{""}}, Job{}, nil)
		if err := lines(io.NopCloser(bytes.NewReader(text)), func(l line) { v.hear(t.Context(), 0, l) }); err != nil {
			return
		}
		got := v.parts(t.Context())[0]
		if err := got.Check(); err != nil || got.Planned != 2 {
			t.Errorf("%v: %+v", err, got)
		}
		if got.OK != 2 && len(got.Faults) == 0 && got.Failed == 0 && got.Dropped == 0 {
			t.Errorf("nobody is missed: %+v", got)
		}
	})
}

// What a region runs is counted over all functions there.
func TestCrowdedRegion(t *testing.T) {
	sc := scenario.Scenario{Name: "x", Arrivals: scenario.Arrivals{Rate: 100, For: 30 * time.Second}, Timeout: time.Second}
	for text, advice := range map[string]string{
		"lambda:eu-west-1/f": "1000", "lambda:eu-west-1/f,eu-west-1/g": "1000", "lambda:eu-west-1/f,us-east-1/f": "", "lambda:f,g": "1000",
		"lambda:eu-west-1/f,us-east-1/f,eu-west-1/g": "1500",
	} {
		places, _, err := ParseWorkers(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		f := &Fleet{Places: places, Count: 2000}
		err = f.Check(sc, 1)
		if (err == nil) != (advice == "") || err != nil && !strings.Contains(err.Error(), "take --count "+advice+",") {
			t.Errorf("%s: got %v, want --count %s", text, err, advice)
		}
		if f.Count = 1000; f.Check(sc, 1) != nil {
			t.Errorf("%s: 1000 are refused: %v", text, f.Check(sc, 1))
		}
	}
}

// A job's size is that of what is sent, certificates included.
func TestPlannedSize(t *testing.T) {
	sc := scenario.Scenario{Name: "x", Arrivals: scenario.Arrivals{Rate: 10, For: time.Second}, Timeout: time.Second}
	pem := []byte(strings.Repeat("x", 220<<10))
	f := &Fleet{
		Places: []Place{&Function{Name: "f", In: "eu-west-1"}}, Count: 2, Async: true, Store: &shelf{}, Parts: "s3://b",
		Apps: []Target{{URL: "https://x.example", CA: pem}, {URL: "https://y.example"}},
	}
	p, err := f.Plan(sc, 1)
	if err != nil {
		t.Fatal(err)
	}
	job, err := f.job(&sc, []drive.Options{{URL: "https://x.example"}})
	if err != nil {
		t.Fatal(err)
	}
	event, err := f.voyage(f.ticket(job), job, nil).event(0)
	if err != nil || len(event) > p.Event || len(event) < p.Event-2048 {
		t.Errorf("%v: planned %d bytes, sent %d", err, p.Event, len(event))
	}
	if err := f.Check(sc, 1); err == nil || !strings.Contains(err.Error(), "certificates") {
		t.Errorf("got %v", err)
	}
}

// deaf is a place whose workers cannot be heard.
type deaf struct{ Function }

func (*deaf) Invoke(context.Context, []byte) (io.ReadCloser, error) { return nil, ErrLost }

// Of workers that cannot be heard the end is waited for: the next load would come on top of theirs.
func TestUnheardWorkersEndFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ticket Ticket
		f := &Fleet{Places: []Place{&deaf{}}, Count: 2, Began: func(told Ticket) error { ticket = told; return nil }}
		sc := scenario.Scenario{Name: "x", Arrivals: scenario.Arrivals{Rate: 10, For: time.Second}, Timeout: time.Second}
		part, err := f.Drive(t.Context(), sc, drive.Options{URL: "https://x.example"})
		if err != nil || len(part.Faults) != 2 {
			t.Errorf("%v: %+v", err, part)
		}
		if now := time.Now(); now.Before(ticket.Deadline) {
			t.Errorf("the load was left %v before its deadline", ticket.Deadline.Sub(now))
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		if _, err := f.Drive(ctx, sc, drive.Options{URL: "https://x.example"}); err == nil || time.Since(began) > 2*time.Second {
			t.Errorf("cancelled: %v after %v", err, time.Since(began))
		}
	})
}
