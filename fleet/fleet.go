package fleet

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/scenario"
)

// A Place is where workers run.
type Place interface {
	// Invoke hands a job to a worker and returns the lines that it answers with, until it ends or the context does. ErrBusy says that no
	// worker took it, and that one may later; ErrLost, here or when the lines are read, that one may be at it, unheard. After any other error
	// none is.
	Invoke(ctx context.Context, job []byte) (io.ReadCloser, error)
	// Send hands a job over without waiting for an answer.
	Send(ctx context.Context, job []byte) error
	// Region is where the workers are, empty for this machine.
	Region() string
	// Lead is how long before a load starts its jobs should be handed out, for workers that have to be started first.
	Lead() time.Duration
	// String names the place for people.
	String() string
	// Limits are what a plan must keep to.
	Limits() Limits
}

// ErrBusy is the error of a place that has no worker free at the moment.
var ErrBusy = errors.New("no worker is free")

// ErrLost is the error of a place whose worker cannot be heard any more, and may work on.
var ErrLost = errors.New("the line to the worker is dead")

// ErrNoAnswer is the error of Send where a place's workers can only answer.
var ErrNoAnswer = errors.New("workers here answer the one who calls them")

// A Fleet drives loads from many workers. Its fields must not be changed once it drives; it drives one load at a time.
type Fleet struct {
	Places  []Place // that take turns with the shares
	Count   int     // workers
	Version string  // of this ddpgate, which the workers must have too

	Lead  time.Duration // before the start; 0 for what the slowest place wants
	Store Store         // where parts are kept, nil for in the answers
	Parts string        // what workers know the store by
	Async bool          // workers are not waited for: their parts are looked for in the store

	// Apps are those that will be driven, for what a job has to say of each beside its load: the certificates to trust, nil for the system's alone, and how large that is.
	Apps []Target
	// Began, where set, is told of each load before any worker is: with its ticket the parts can be collected by another coordinator.
	Began func(Ticket) error

	clock func() time.Time // time.Now, but for tests of a clock that is wrong
}

// A Ticket is what it takes to collect the parts of a load. It holds no secrets.
type Ticket struct {
	Format   string            `json:"format"`
	Run      string            `json:"run"`
	Scenario scenario.Scenario `json:"scenario"`
	Seed     uint64            `json:"seed"`
	Targets  []string          `json:"targets"`
	Count    int               `json:"count"`
	Regions  []string          `json:"regions"` // of the places that take turns
	Sent     time.Time         `json:"sent"`    // not after any job
	Start    time.Time         `json:"start"`
	Deadline time.Time         `json:"deadline"`
	Parts    string            `json:"parts,omitempty"`
}

// grace is how long after the last session's time is over a worker may still be at it, and how long after that its answer is waited for.
const grace = 15 * time.Second

func (f *Fleet) now() time.Time {
	if f.clock != nil {
		return f.clock()
	}
	return time.Now()
}

func (f *Fleet) lead() time.Duration {
	lead := f.Lead
	if lead == 0 {
		for _, p := range f.Places {
			lead = max(lead, p.Lead())
		}
	}
	return lead
}

// place returns the place that a share is driven from.
func (f *Fleet) place(share int) Place { return f.Places[share%len(f.Places)] }

// Drive puts a load on one app, as drive.Run does from one process. What became of each worker is in the part's Sources, and what makes
// the load another than was asked for in its Faults.
func (f *Fleet) Drive(ctx context.Context, sc scenario.Scenario, o drive.Options) (*drive.Part, error) {
	parts, err := f.drive(ctx, sc, o)
	if parts == nil {
		return nil, err
	}
	return parts[0], err
}

// Together puts a load on two apps at once, from the same workers, with arrivals in turns: what one worker or its network is slower at
// both apps have alike.
func (f *Fleet) Together(ctx context.Context, sc scenario.Scenario, base, head drive.Options) (onBase, onHead *drive.Part, err error) {
	parts, err := f.drive(ctx, sc, base, head)
	if parts == nil {
		return nil, nil, err
	}
	return parts[0], parts[1], err
}

func (f *Fleet) drive(ctx context.Context, sc scenario.Scenario, targets ...drive.Options) ([]*drive.Part, error) {
	if err := f.Check(sc, len(targets)); err != nil {
		return nil, err
	}
	job, err := f.job(&sc, targets)
	if err != nil {
		return nil, err
	}
	start := f.now()
	job.Start = start.Add(f.lead())
	job.Deadline = job.Start.Add(longest(sc))
	ticket := f.ticket(job)
	if f.Began != nil {
		if err := f.Began(ticket); err != nil {
			return nil, err
		}
	}
	v := f.voyage(ticket, job, targets)
	limited, cancel := context.WithDeadline(ctx, time.Now().Add(job.Deadline.Add(grace).Sub(start)))
	defer cancel()
	if f.Async {
		v.send(limited)
		v.collect(limited)
	} else {
		v.ask(limited)
	}
	return v.parts(limited), ctx.Err()
}

// longest is how long after its start a load is over for every worker.
func longest(sc scenario.Scenario) time.Duration { return sc.Arrivals.For + sc.Timeout + grace }

// job makes what all workers' jobs have alike.
func (f *Fleet) job(sc *scenario.Scenario, targets []drive.Options) (Job, error) {
	id := make([]byte, 8)
	_, _ = rand.Read(id) // never fails
	run := hex.EncodeToString(id)
	job := Job{
		Format: Format, Version: f.Version, Run: run, Scenario: sc, Name: "ddpgate-" + run, Parts: f.Parts,
		Seed: targets[0].Seed, Env: make(map[string]string),
	}
	for _, o := range targets {
		t := Target{URL: o.URL, Header: o.Header}
		if k := slices.IndexFunc(f.Apps, func(a Target) bool { return a.URL == o.URL && a.CA != nil }); k >= 0 {
			t.CA = f.Apps[k].CA
		}
		job.Targets = append(job.Targets, t)
		if err := drive.CheckEnv(*sc, job.gather(o.Env)); err != nil {
			return Job{}, err
		}
	}
	return job, nil
}

// gather returns an environment that notes what is asked of it.
func (j *Job) gather(env func(string) string) func(string) string {
	return func(name string) string {
		if env == nil {
			return ""
		}
		value := env(name)
		if value != "" {
			j.Env[name] = value
		}
		return value
	}
}

func (f *Fleet) ticket(job Job) Ticket {
	t := Ticket{
		Format: Format, Run: job.Run, Scenario: *job.Scenario, Seed: job.Seed, Count: f.Count,
		Sent: f.now(), Start: job.Start, Deadline: job.Deadline, Parts: job.Parts,
	}
	for _, target := range job.Targets {
		t.Targets = append(t.Targets, target.URL)
	}
	for _, p := range f.Places {
		t.Regions = append(t.Regions, p.Region())
	}
	return t
}

// Collect waits for the parts of a load that another coordinator began, and returns one part a target. It needs the store alone.
func (f *Fleet) Collect(ctx context.Context, t Ticket) ([]*drive.Part, error) {
	if t.Format != Format {
		return nil, fmt.Errorf("the ticket of run %s has format %q, want %s", t.Run, t.Format, Format)
	}
	if t.Count < 1 || len(t.Targets) < 1 || len(t.Regions) < 1 {
		return nil, fmt.Errorf("the ticket of run %s is damaged: it has %d workers, %d targets and %d regions", t.Run, t.Count, len(t.Targets), len(t.Regions))
	}
	if f.Store == nil || t.Parts == "" {
		return nil, fmt.Errorf("the parts of run %s were on their way to the coordinator that is gone, and are lost: --parts keeps them in a bucket", t.Run)
	}
	v := f.voyage(t, Job{}, nil)
	left := t.Deadline.Add(grace).Sub(f.now())
	limited, cancel := context.WithTimeout(ctx, max(left, grace)) // what is there is taken, however late one comes
	defer cancel()
	v.collect(limited)
	parts := v.parts(limited)
	if v.unread != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("the parts of run %s could not be looked for: %w", t.Run, v.unread)
	}
	return parts, ctx.Err()
}

// Hello asks one worker of each place whether it would drive the targets, and returns why one would not: with an UnfitError where somebody
// has to mend something first.
func (f *Fleet) Hello(ctx context.Context, targets ...string) error {
	errs := make([]error, len(f.Places))
	var wg sync.WaitGroup
	for i, p := range f.Places {
		job := Job{Format: Format, Version: f.Version, Run: "hello", Hello: true, Sent: f.now()}
		for _, t := range targets {
			job.Targets = append(job.Targets, Target{URL: t})
		}
		wg.Go(func() {
			if err := hello(ctx, p, job); err != nil {
				errs[i] = fmt.Errorf("%s: %w", p, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func hello(ctx context.Context, p Place, job Job) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	event, err := json.Marshal(job)
	if err != nil {
		return err
	}
	out, err := p.Invoke(ctx, event)
	if err != nil {
		return err
	}
	var answer *Answer
	err = lines(out, func(l line) {
		if l.Answer != nil {
			answer = l.Answer
		}
	})
	switch {
	case answer != nil && answer.Fault != "":
		return unfit(errors.New(answer.Fault))
	case answer == nil && err == nil:
		return errors.New("it gave no answer")
	case answer == nil:
		return err
	}
	return nil
}
