package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	pollEvery = 500 * time.Millisecond // the store is looked into
	takenBy   = 5 * time.Second        // after the start a worker has taken its job, or none does
	fetchers  = 8
)

// collect looks for the parts in the store, until there are all that can come or the context ends.
func (v *voyage) collect(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		late := v.fleet.now().After(v.ticket.Start.Add(takenBy)) // before the look, so that it is of a time when it was
		names, err := v.fleet.Store.List(ctx, v.ticket.Run+"/")
		if first || ctx.Err() == nil { // the look that the end cuts short says nothing of those before it
			v.mu.Lock()
			v.unread = err
			v.mu.Unlock()
		}
		if err == nil {
			v.fetchAll(ctx, names)
			if !v.missing(names, late) {
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// fetchAll takes in those parts that are in the store and were not taken in yet, some at a time.
func (v *voyage) fetchAll(ctx context.Context, names []string) {
	var wg sync.WaitGroup
	free := make(chan struct{}, fetchers)
	for i := range v.shares {
		if !v.wanted(i) || !slices.Contains(names, v.object(i, kept)) {
			continue
		}
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			if err := v.fetch(ctx, i); err != nil && ctx.Err() == nil {
				v.fault(i, err)
			}
		})
	}
	wg.Wait()
}

// missing says whether there are parts that may still come. late says that those who have not taken their jobs never will.
func (v *voyage) missing(names []string, late bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	missing := false
	for i := range v.shares {
		s := &v.shares[i]
		if late && !slices.Contains(names, v.object(i, claimed)) {
			s.over = true
			if !s.answered && s.fault == "" {
				s.fault = fmt.Sprintf("no worker had taken its job %v after the start", takenBy)
			}
		}
		missing = missing || !s.answered && !s.over
	}
	return missing
}

func (v *voyage) object(i int, kind string) string {
	return object(v.ticket.Run, v.shares[i].source.Share, kind)
}

// wanted says whether a share's parts have not been taken in.
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
	text, err := v.fleet.Store.Get(ctx, v.object(i, kept))
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
