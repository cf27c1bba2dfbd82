package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/scenario"
)

// MaxAnswer is how many bytes a function may answer with: what is longer has to be kept in a store.
const MaxAnswer = 6 << 20

// A Host is a worker's side: it does the jobs that it is handed, one at a time.
type Host struct {
	Worker
	// Allowed are the origins of the targets that may be driven, such as https://staging.example.com. Nil allows any.
	Allowed []string
	// Open returns the store that a job names. Nil where there is none.
	Open func(ctx context.Context, name string) (Store, error)

	clock  func() time.Time // time.Now, but for tests of a clock that is wrong
	worked atomic.Bool
}

// Work does one job, and writes lines until it is done, the answer last. The error says that an answer could not be written;
// what was wrong with the job is in the answer.
func (h *Host) Work(ctx context.Context, event []byte, out io.Writer) error {
	w := &writer{out: out, now: h.now}
	a := Answer{Worker: h.Worker, Received: h.now()}
	a.Worker.Cold = h.worked.CompareAndSwap(false, true)
	err := h.answer(ctx, event, &a, w)
	if err != nil {
		a.Fault, a.Parts, a.Stored = err.Error(), nil, false
	}
	return w.write(line{Answer: &a})
}

func (h *Host) now() time.Time {
	if h.clock != nil {
		return h.clock()
	}
	return time.Now()
}

func (h *Host) answer(ctx context.Context, event []byte, a *Answer, w *writer) error {
	var job Job
	if err := json.Unmarshal(event, &job); err != nil {
		return errors.New("the event is no job of ddpgate") // what it holds is not told: it may be a secret
	}
	a.Run, a.Share = job.Run, job.Share
	if job.Format != Format {
		return fmt.Errorf("the job has format %q; this worker, ddpgate %s, understands %s: deploy it again", job.Format, h.Version, Format)
	}
	if job.Version != h.Version {
		return fmt.Errorf("this worker is ddpgate %s, the coordinator %s: deploy it again, since another driver makes other figures", h.Version, job.Version)
	}
	if err := job.check(); err != nil {
		return err
	}
	for _, t := range job.Targets {
		if err := h.allows(t.URL); err != nil {
			return err
		}
	}
	if job.Hello {
		return nil
	}
	store, err := h.take(ctx, &job)
	if err != nil {
		a.Duplicate = errors.Is(err, errTaken)
		return err
	}
	if a.Parts, err = h.drive(ctx, &job, w); err == nil && store == nil {
		err = fits(a.Parts)
	}
	if store == nil {
		return err
	}
	kept := keep(ctx, store, *a, err, h.now())
	a.Parts, a.Stored = nil, true
	return errors.Join(err, kept)
}

// fits returns why parts cannot be answered with.
func fits(parts []Sealed) error {
	size := 0
	for _, p := range parts {
		size += len(p.Part)
	}
	if size > MaxAnswer {
		return fmt.Errorf("the part has %d bytes, more than the %d of an answer: have parts kept in a bucket", size, MaxAnswer)
	}
	return nil
}

// allows returns why a target may not be driven.
func (h *Host) allows(target string) error {
	if h.Allowed == nil {
		return nil
	}
	u, err := url.Parse(target)
	if err != nil {
		return errors.New("the target is no URL")
	}
	if !slices.Contains(h.Allowed, u.Scheme+"://"+u.Host) {
		return fmt.Errorf("%s://%s may not be driven: the worker's ALLOWED_TARGETS are %s", u.Scheme, u.Host, strings.Join(h.Allowed, " "))
	}
	return nil
}

// ParseAllowed reads a list of origins, with blanks or commas between them. It is never nil: an empty list allows nothing.
func ParseAllowed(text string) ([]string, error) {
	origins := []string{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }) {
		u, err := url.Parse(word)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.TrimSuffix(u.Path, "/") != "" || u.RawQuery != "" {
			return nil, fmt.Errorf("%q is no origin such as https://staging.example.com", word)
		}
		origins = append(origins, u.Scheme+"://"+u.Host)
	}
	return origins, nil
}

// drive drives the job's targets until the deadline.
func (h *Host) drive(ctx context.Context, job *Job, w *writer) ([]Sealed, error) {
	now := h.now()
	if late := now.Sub(job.Start); late > 0 {
		return nil, fmt.Errorf("the start had passed by %v when the job came", late.Round(time.Millisecond))
	}
	left := job.Deadline.Sub(now)
	if end, ends := ctx.Deadline(); ends && time.Until(end) < left {
		return nil, fmt.Errorf("the job may take %v, and the function is stopped in %v: give it a time-out of %v at least",
			left.Round(time.Second), time.Until(end).Round(time.Second), (job.Deadline.Sub(job.Sent) + time.Second).Truncate(time.Second))
	}
	ctx, cancel := context.WithDeadlineCause(ctx, time.Now().Add(left), fmt.Errorf("the deadline passed, %v after the start", job.Deadline.Sub(job.Start).Round(time.Second)))
	defer cancel()
	job.Start = time.Now().Add(job.Start.Sub(now))
	parts, err := h.parts(ctx, job, w)
	if err != nil {
		return nil, err
	}
	all := make([]Sealed, len(parts))
	for i, p := range parts {
		if all[i], err = seal(p); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// parts drives all targets at once.
func (h *Host) parts(ctx context.Context, job *Job, w *writer) ([]*drive.Part, error) {
	parts, errs := make([]*drive.Part, len(job.Targets)), make([]error, len(job.Targets))
	progress := gathered(len(job.Targets), func(p drive.Progress) { _ = w.write(line{Progress: &p}) }) // nobody listening is no reason to stop
	var wg sync.WaitGroup
	for i := range job.Targets {
		o, err := job.options(i)
		if err != nil {
			return nil, err
		}
		o.Cores, o.Progress = h.Cores, progress(i)
		o.Start = o.Start.Add(turn(job.Scenario.Arrivals, i, len(job.Targets), job.Seed))
		wg.Go(func() { parts[i], errs[i] = drive.Run(ctx, *job.Scenario, o) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, err
	}
	for _, p := range parts {
		p.Self.CPU /= float64(len(parts)) // each saw what the whole process used
	}
	return parts, nil
}

// turn is by how much the arrivals at a target are behind, so that those of two fall between each other. Which comes first the seed
// decides.
func turn(a scenario.Arrivals, target, targets int, seed uint64) time.Duration {
	if targets < 2 || uint64(target) == seed%2 {
		return 0
	}
	return a.Due(1) / 2
}

// gathered returns, for each of several loads, what is told of its progress; f hears their sums, one call at a time.
func gathered(loads int, f func(drive.Progress)) func(i int) func(drive.Progress) {
	var mu sync.Mutex
	latest := make([]drive.Progress, loads)
	return func(i int) func(drive.Progress) {
		return func(p drive.Progress) {
			mu.Lock()
			defer mu.Unlock()
			latest[i] = p
			sum := latest[0]
			for _, other := range latest[1:] {
				sum.Elapsed, sum.Left = max(sum.Elapsed, other.Elapsed), max(sum.Left, other.Left)
				sum.Planned += other.Planned
				sum.Started += other.Started
				sum.Over += other.Over
				sum.Failed += other.Failed
			}
			f(sum)
		}
	}
}

// A writer writes lines. It is safe for concurrent use.
type writer struct {
	mu  sync.Mutex
	out io.Writer
	now func() time.Time
}

func (w *writer) write(l line) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	l.At = w.now()
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = w.out.Write(append(text, '\n'))
	return err
}
