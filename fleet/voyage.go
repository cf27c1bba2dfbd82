package fleet

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/ddpgate/ddpgate/drive"
)

// A voyage is one load under way: what is known of each share, and what has been merged so far.
type voyage struct {
	fleet    *Fleet
	ticket   Ticket
	job      Job
	progress func(i int) func(drive.Progress)

	opening chan struct{} // holds one for each answer that is being opened

	mu     sync.Mutex
	shares []share
	merged []*drive.Part            // by target
	region []map[string]*drive.Part // by target and region, where there are several
	unread error                    // why the store could not be looked into, at the last look
}

// A share is what is known of one worker.
type share struct {
	source   drive.Source
	answered bool
	over     bool // its worker has ended, or there never was one: it can only have left its parts in the store
	taken    bool // another worker than the one who was heard has its job
	merged   bool
	clock    clock
	fault    string
}

func (f *Fleet) voyage(t Ticket, job Job, targets []drive.Options) *voyage {
	v := &voyage{fleet: f, ticket: t, job: job, shares: make([]share, t.Count), opening: make(chan struct{}, runtime.GOMAXPROCS(0))}
	regions := make(map[string]bool)
	for i := range v.shares {
		v.shares[i].clock.sent = t.Sent // or later: what it bounds, it bounds from further away
		s := &v.shares[i].source
		s.Share, s.Region = drive.Share{Index: i, Of: t.Count}, t.Regions[i%len(t.Regions)]
		s.Sessions = s.Share.Sessions(t.Scenario.Arrivals.Sessions())
		regions[s.Region] = true
	}
	for range t.Targets {
		v.merged = append(v.merged, drive.NewPart(t.Scenario))
		if len(regions) > 1 {
			v.region = append(v.region, make(map[string]*drive.Part))
		}
	}
	v.progress = gathered(t.Count, func(p drive.Progress) {
		for _, o := range targets {
			if o.Progress != nil {
				o.Progress(p)
			}
		}
	})
	return v
}

// event is the job of a share.
func (v *voyage) event(i int) ([]byte, error) {
	job := v.job
	job.Share, job.Sent = v.shares[i].source.Share, v.fleet.now()
	v.mu.Lock()
	v.shares[i].clock.sent = job.Sent
	v.mu.Unlock()
	return json.Marshal(job)
}

// each does something for every share at once, and waits.
func (v *voyage) each(do func(i int) error) {
	var wg sync.WaitGroup
	for i := range v.shares {
		wg.Go(func() {
			if err := do(i); err != nil {
				v.fault(i, err)
			}
		})
	}
	wg.Wait()
}

// ask hands out the jobs and listens to the answers. A worker whose line goes dead may still have kept its parts.
func (v *voyage) ask(ctx context.Context) {
	v.each(func(i int) error {
		err := v.hearOut(ctx, i)
		v.mu.Lock()
		defer v.mu.Unlock()
		s := &v.shares[i]
		s.over = !errors.Is(err, ErrLost) && !s.taken
		if err == nil && !s.answered && !s.taken {
			err = errors.New("it ended without an answer")
		}
		return err
	})
	switch {
	case v.fleet.Store != nil && !v.complete():
		v.collect(ctx)
	case v.fleet.Store == nil && v.unheard():
		v.outlast(ctx)
	}
}

// unheard says whether a worker may be at it of which nothing can be heard any more.
func (v *voyage) unheard() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.ContainsFunc(v.shares, func(s share) bool { return !s.answered && !s.over })
}

// outlast waits until every worker is at its end, heard or not: the next load must not come on top of theirs.
func (v *voyage) outlast(ctx context.Context) {
	timer := time.NewTimer(v.ticket.Deadline.Sub(v.fleet.now()))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (v *voyage) hearOut(ctx context.Context, i int) error {
	out, err := v.patiently(ctx, i, v.fleet.place(i).Invoke)
	if err != nil {
		return err
	}
	return lines(out, func(l line) { v.hear(ctx, i, l) })
}

// send hands out the jobs, for parts that are looked for in the store.
func (v *voyage) send(ctx context.Context) {
	v.each(func(i int) error {
		_, err := v.patiently(ctx, i, func(ctx context.Context, event []byte) (io.ReadCloser, error) {
			return nil, v.fleet.place(i).Send(ctx, event)
		})
		v.mu.Lock()
		defer v.mu.Unlock()
		v.shares[i].over = err != nil && !errors.Is(err, ErrLost)
		return err
	})
}

// patiently hands out a job, again and again while no worker is free and the start has not come. What no worker took has not been done.
func (v *voyage) patiently(ctx context.Context, i int, invoke func(context.Context, []byte) (io.ReadCloser, error)) (io.ReadCloser, error) {
	wait, began := 50*time.Millisecond, v.fleet.now()
	for {
		event, err := v.event(i)
		if err != nil {
			return nil, err
		}
		out, err := invoke(ctx, event)
		if err == nil || !errors.Is(err, ErrBusy) {
			return out, err
		}
		if now := v.fleet.now(); !now.Add(wait).Before(v.ticket.Start) {
			return nil, fmt.Errorf("nobody took the job for %v, until the start: %w", now.Sub(began).Round(time.Millisecond), err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		}
		wait = min(2*wait, time.Second)
	}
}

// maxLine is how many bytes a worker's line may have: an answer of the most bytes, and room for what is about it.
const maxLine = MaxAnswer + 1<<20

// lines reads what a worker writes, until it ends. What is no line of ours is passed over: a runtime may write too.
func lines(out io.ReadCloser, hear func(line)) error {
	in := bufio.NewScanner(out)
	in.Buffer(make([]byte, 0, 4<<10), maxLine)
	for in.Scan() {
		var l line
		if json.Unmarshal(in.Bytes(), &l) == nil {
			hear(l)
		}
	}
	err := in.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("it wrote a line of more than %d bytes", maxLine)
	}
	return errors.Join(err, out.Close())
}

// hear takes in one line of a worker.
func (v *voyage) hear(ctx context.Context, i int, l line) {
	now := v.fleet.now()
	v.mu.Lock()
	v.shares[i].clock.live = true
	v.shares[i].clock.heard(l.At, now)
	v.mu.Unlock()
	if l.Progress != nil {
		v.progress(i)(*l.Progress)
	}
	if l.Answer == nil {
		return
	}
	if l.Answer.Stored && v.fleet.Store != nil {
		if err := v.fetch(ctx, i); err != nil {
			v.fault(i, err)
		}
		return
	}
	v.take(i, l)
}

// take takes in a worker's answer: each share's once. Several are opened at once, and merged one after the other.
func (v *voyage) take(i int, l line) {
	if !v.admit(i, l.Answer) {
		return
	}
	var parts []*drive.Part
	fault := l.Answer.Fault
	if fault == "" {
		v.opening <- struct{}{}
		parts, fault = v.open(i, l.Answer.Parts)
		<-v.opening
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	s := &v.shares[i]
	if fault == "" {
		v.merge(i, parts)
		fault = cmp.Or(s.clock.fault(), lateness(parts))
	}
	s.fault = fault
}

// admit notes who answered, and says whether it is the answer to a share that has none.
func (v *voyage) admit(i int, a *Answer) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := &v.shares[i]
	switch {
	case a.Fault == "" && (a.Run != v.ticket.Run || a.Share != s.source.Share):
		s.fault = fmt.Sprintf("it answered for share %d of run %s", a.Share.Index, a.Run)
		return false
	case a.Duplicate:
		s.source.Duplicates++
		s.taken = true
		return false
	case s.answered:
		s.source.Duplicates++
		if first := s.source.Worker; len(a.Parts) > 0 && a.Worker.ID != first && s.fault == "" {
			s.fault = fmt.Sprintf("workers %s and %s both drove it: the app had more sessions than were asked for", first, a.Worker.ID)
		}
		return false
	}
	s.answered = true
	s.source.Worker, s.source.Machine = a.Worker.ID, a.Worker.Machine
	if a.Worker.Region != "" {
		s.source.Region = a.Worker.Region
	}
	s.clock.received(a.Received)
	s.source.Ahead = s.clock.ahead()
	return true
}

// fault notes why there is nothing of a share; its first reason stays.
func (v *voyage) fault(i int, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := &v.shares[i]; s.fault == "" && !s.answered {
		s.fault = err.Error()
	}
}
