package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

	mu     sync.Mutex
	shares []share
	merged []*drive.Part            // by target
	region []map[string]*drive.Part // by target and region, where there are several
}

// A share is what is known of one worker.
type share struct {
	source   drive.Source
	answered bool
	merged   bool
	clock    clock
	fault    string
}

func (f *Fleet) voyage(t Ticket, job Job, targets []drive.Options) *voyage {
	v := &voyage{fleet: f, ticket: t, job: job, shares: make([]share, t.Count)}
	regions := make(map[string]bool)
	for i := range v.shares {
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
		out, err := v.patiently(ctx, i, v.fleet.place(i).Invoke)
		if err != nil {
			return err
		}
		return lines(out, func(l line) { v.hear(ctx, i, l) })
	})
	if v.fleet.Store != nil && !v.complete() {
		v.collect(ctx)
	}
}

// send hands out the jobs, for parts that are looked for in the store.
func (v *voyage) send(ctx context.Context) {
	v.each(func(i int) error {
		_, err := v.patiently(ctx, i, func(ctx context.Context, event []byte) (io.ReadCloser, error) {
			return nil, v.fleet.place(i).Send(ctx, event)
		})
		return err
	})
}

// patiently hands out a job, again and again while no worker is free and the start has not come. What no worker took has not been done.
func (v *voyage) patiently(ctx context.Context, i int, invoke func(context.Context, []byte) (io.ReadCloser, error)) (io.ReadCloser, error) {
	wait := 50 * time.Millisecond
	for {
		event, err := v.event(i)
		if err != nil {
			return nil, err
		}
		out, err := invoke(ctx, event)
		if err == nil || !errors.Is(err, ErrBusy) || !v.fleet.now().Add(wait).Before(v.ticket.Start) {
			return out, err
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

// lines reads what a worker writes, until it ends. What is no line of ours is passed over: a runtime may write too.
func lines(out io.ReadCloser, hear func(line)) error {
	r := bufio.NewReaderSize(out, 64<<10)
	for {
		text, err := r.ReadBytes('\n')
		var l line
		if len(text) > 0 && json.Unmarshal(text, &l) == nil {
			hear(l)
		}
		if errors.Is(err, io.EOF) {
			return out.Close()
		}
		if err != nil {
			return errors.Join(err, out.Close())
		}
	}
}

// hear takes in one line of a worker.
func (v *voyage) hear(ctx context.Context, i int, l line) {
	now := v.fleet.now()
	v.mu.Lock()
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

// pollEvery is how often the store is looked into.
const pollEvery = 500 * time.Millisecond

// collect looks for the parts in the store, until there are all or the context ends.
func (v *voyage) collect(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		missing := 0
		for i := range v.shares {
			if !v.wanted(i) {
				continue
			}
			switch err := v.fetch(ctx, i); {
			case errors.Is(err, fs.ErrNotExist):
				missing++
			case err != nil && ctx.Err() == nil:
				v.fault(i, err)
			case err != nil:
				missing++
			}
		}
		if missing == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// wanted says whether a share's parts may still be in the store.
func (v *voyage) wanted(i int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.shares[i].answered
}

func (v *voyage) complete() bool {
	for i := range v.shares {
		if v.wanted(i) {
			return false
		}
	}
	return true
}

// fetch takes a share's answer from the store.
func (v *voyage) fetch(ctx context.Context, i int) error {
	text, err := v.fleet.Store.Get(ctx, object(v.ticket.Run, v.shares[i].source.Share, kept))
	if err != nil {
		return fmt.Errorf("fetch the parts: %w", err)
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil || l.Answer == nil {
		l.Answer = &Answer{Run: v.ticket.Run, Share: v.shares[i].source.Share, Fault: "the part is damaged: it is no answer of a worker"}
	}
	v.mu.Lock()
	v.shares[i].clock.heard(l.At, v.fleet.now())
	v.mu.Unlock()
	v.take(i, l)
	return nil
}

// take takes in a worker's answer: each share's once.
func (v *voyage) take(i int, l line) {
	a := l.Answer
	v.mu.Lock()
	defer v.mu.Unlock()
	s := &v.shares[i]
	switch {
	case a.Fault == "" && (a.Run != v.ticket.Run || a.Share != s.source.Share):
		s.fault = fmt.Sprintf("it answered for share %d of run %s", a.Share.Index, a.Run)
		return
	case a.Duplicate:
		s.source.Duplicates++
		return
	case s.answered:
		s.source.Duplicates++
		return
	}
	s.answered = true
	s.source.Worker, s.source.Machine = a.Worker.ID, a.Worker.Machine
	if a.Worker.Region != "" {
		s.source.Region = a.Worker.Region
	}
	s.clock.received(a.Received)
	s.source.Ahead = s.clock.ahead()
	s.fault = a.Fault
	if s.fault == "" {
		s.fault = v.open(i, a.Parts)
	}
	if s.fault == "" {
		s.fault = s.clock.fault(v.fleet.Async)
	}
}

// open merges a share's parts, and returns why they cannot be.
func (v *voyage) open(i int, sealed []Sealed) (fault string) {
	s := &v.shares[i].source
	if len(sealed) != len(v.merged) {
		return fmt.Sprintf("it answered with %d parts, want %d", len(sealed), len(v.merged))
	}
	parts := make([]*drive.Part, len(sealed))
	for t := range sealed {
		part, err := sealed[t].open()
		if err != nil {
			return err.Error()
		}
		if part.Planned != s.Sessions {
			return fmt.Sprintf("it planned %d sessions, want %d", part.Planned, s.Sessions)
		}
		if lag := part.Histograms["lag"]; lag != nil {
			if p99, ok := lag.Quantile(0.99); ok {
				s.Lag = max(s.Lag, p99)
			}
		}
		s.Self.Busy = max(s.Self.Busy, part.Self.Busy)
		s.Self.CPU += part.Self.CPU
		parts[t] = part
	}
	for t, part := range parts {
		v.merge(t, i, part)
	}
	v.shares[i].merged = true
	return ""
}

func (v *voyage) merge(target, i int, part *drive.Part) {
	if v.region != nil {
		name := v.shares[i].source.Region
		region := v.region[target][name]
		if region == nil {
			region = drive.NewPart(v.ticket.Scenario)
			v.region[target][name] = region
		}
		region.Merge(part.Clone())
	}
	v.merged[target].Merge(part)
}

// fault notes why there is nothing of a share; its first reason stays.
func (v *voyage) fault(i int, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := &v.shares[i]; s.fault == "" && !s.answered {
		s.fault = err.Error()
	}
}

// parts closes the sums: shares that are missing are sessions that were dropped, and make the load one that may not be judged.
func (v *voyage) parts(ctx context.Context) []*drive.Part {
	doubled := make(map[int]int)
	if v.fleet.Store != nil {
		fresh, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		if found, err := duplicates(fresh, v.fleet.Store, v.ticket.Run); err == nil {
			doubled = found
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range v.shares {
		s := &v.shares[i]
		s.source.Duplicates = max(s.source.Duplicates, doubled[i])
		if !s.answered && s.fault == "" {
			s.fault = "it gave no answer in time"
		}
		s.source.Fault = s.fault
		for _, p := range v.merged {
			if !s.merged {
				p.Planned, p.Dropped = p.Planned+s.source.Sessions, p.Dropped+s.source.Sessions
			}
		}
	}
	for t, p := range v.merged {
		v.finish(t, p)
	}
	return v.merged
}

func (v *voyage) finish(target int, p *drive.Part) {
	p.Start = v.ticket.Start
	for i := range v.shares {
		s := v.shares[i].source
		p.Sources = append(p.Sources, s)
		if s.Fault != "" {
			where := ""
			if s.Region != "" {
				where = " in " + s.Region
			}
			p.Faults = append(p.Faults, fmt.Sprintf("worker %d of %d%s: %s", i+1, len(v.shares), where, s.Fault))
		}
	}
	if v.region == nil {
		return
	}
	p.Regions = make(map[string]map[string]float64)
	for name, part := range v.region[target] {
		p.Regions[name], _ = part.Metrics()
	}
}
