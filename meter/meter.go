// Package meter reads what process trees use: CPU seconds and resident memory, by role.
package meter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"
)

// Options are how a Meter works. The zero value is the default.
type Options struct {
	// Interval is the time between samples; 0 is half a second.
	Interval time.Duration
	// Proc is where the proc file system is; empty is /proc.
	Proc string
	// Sys is where the sys file system is; empty is /sys.
	Sys string
}

// A Target is a process tree to measure, or a part of one.
type Target struct {
	// Role is what the processes are measured as: "app", "db".
	Role string
	// PID is the tree's first process.
	PID int
	// Reaper, when set, is the process that inherits orphans of this tree. It is not measured itself, but all that
	// descends from it is, and so is what it has waited for.
	Reaper int
	// Match, when set, makes this target only those processes below PID whose name or command line matches the regular
	// expression, and what descends from them. Without it the target is PID and all below it that has no other role. Where a
	// process matches several, the first one holds.
	Match string
	// Optional is set where it is no fault that no process matches.
	Optional bool
	// Process, when set, makes this target only that process below PID, and what descends from it.
	Process int
	// Endpoint, when set, is a process elsewhere that tells its own figures; PID is not used then.
	Endpoint *Endpoint
	// Groups are the directories of the control groups that hold PID, all that descends from it, and nothing else. What ends unseen
	// is in their figures.
	Groups []string
}

// A Meter samples process trees until Stop. Its methods may be called from several goroutines.
type Meter struct {
	interval time.Duration
	ticker   *time.Ticker
	end      context.CancelFunc
	sampling sync.WaitGroup

	mu      sync.Mutex
	ledger  *ledger
	remotes []*remote
	vitals  *vitals
	samples []sample
	taken   int     // samples that were tried
	spent   float64 // CPU seconds of taking them
	failed  int     // samples that could not be taken
	why     error   // the first of them
	unread  error   // why proportional memory could not be read
	stopped bool
}

// shareEvery is how many samples apart proportional memory is read: the kernel walks through all pages of a process for it.
const shareEvery = 10

// Start begins to sample. It fails when a target's process is not there or its expression is wrong. Sampling ends with
// Stop, or with ctx.
func Start(ctx context.Context, o Options, targets ...Target) (*Meter, error) {
	s, err := newSource(o)
	if err != nil {
		return nil, fmt.Errorf("meter processes: %w", err)
	}
	if o.Interval <= 0 {
		o.Interval = 500 * time.Millisecond
	}
	m := &Meter{interval: o.Interval, vitals: newVitals(o)}
	if m.ledger, err = newLedger(s, slices.DeleteFunc(slices.Clone(targets), Target.elsewhere)); err != nil {
		return nil, err
	}
	for _, t := range targets {
		if t.elsewhere() {
			m.remotes = append(m.remotes, newRemote(m.ledger.number(t.Role), *t.Endpoint))
		}
	}
	if err := m.begin(); err != nil {
		return nil, err
	}
	if m.sample(true); m.failed > 0 {
		return nil, m.why
	}
	ctx, m.end = context.WithCancel(ctx)
	m.ticker = time.NewTicker(o.Interval)
	m.sampling.Go(func() {
		defer m.ticker.Stop()
		for {
			select {
			case <-m.ticker.C:
				m.sample(false)
			case <-ctx.Done():
				return
			}
		}
	})
	return m, nil
}

func (t Target) elsewhere() bool { return t.Endpoint != nil }

// begin finds the targets.
func (m *Meter) begin() error {
	if err := m.ledger.first(); err != nil {
		return err
	}
	for _, r := range m.remotes {
		if err := r.begin(); err != nil {
			return fmt.Errorf("%s: %w", m.ledger.roles[r.role], err)
		}
	}
	return nil
}

// newLedger sorts the targets into trees.
func newLedger(s source, targets []Target) (*ledger, error) {
	l := &ledger{source: s, roles: []string{none: ""}}
	byRoot := make(map[int]*tree)
	var faults []error
	for _, t := range targets {
		at := byRoot[t.PID]
		if at == nil {
			at = &tree{root: t.PID}
			byRoot[t.PID] = at
			l.trees = append(l.trees, at)
		}
		at.reaper = max(at.reaper, t.Reaper)
		if len(t.Groups) > 0 {
			at.group = &group{directories: t.Groups}
		}
		role := l.number(t.Role)
		match, err := regexp.Compile(t.Match)
		switch {
		case t.Role == "" || t.PID <= 0:
			faults = append(faults, fmt.Errorf("role %q, process %d: no target", t.Role, t.PID))
		case err != nil:
			faults = append(faults, fmt.Errorf("role %s: %w", t.Role, err))
		case t.Process != 0:
			at.rules = append(at.rules, rule{pid: t.Process, role: role, optional: t.Optional})
		case t.Match != "":
			at.rules = append(at.rules, rule{match: match, role: role, optional: t.Optional})
		case at.role != none && at.role != role:
			faults = append(faults, fmt.Errorf("process %d is both %s and %s", t.PID, l.roles[at.role], t.Role))
		default:
			at.role = role
		}
	}
	return l, errors.Join(faults...)
}

// number returns a role's number.
func (l *ledger) number(role string) int {
	i := slices.Index(l.roles, role)
	if i < 0 {
		i = len(l.roles)
		l.roles = append(l.roles, role)
	}
	return i
}

// sample takes a sample and returns its time. One that fails is counted.
func (m *Meter) sample(fine bool) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := time.Now()
	if m.stopped {
		return at
	}
	var r reading
	var err error
	m.spent += cost(func() { r, err = m.read(fine) })
	r.cost = m.spent
	if err != nil {
		m.failed++
		if m.why == nil {
			m.why = fmt.Errorf("read processes: %w", err)
		}
		return at
	}
	m.samples = append(m.samples, sample{at, r})
	return at
}

// read reads all that there is to know now.
func (m *Meter) read(fine bool) (reading, error) {
	r, err := m.ledger.take(fine)
	if err != nil {
		return r, err
	}
	if fine || m.taken%shareEvery == 0 {
		m.unread = cmp.Or(m.unread, m.ledger.share(&r))
	}
	m.taken++
	for _, remote := range m.remotes {
		remote.take(&r)
	}
	r.host = m.vitals.read()
	return r, nil
}

// Mark takes a sample at once and returns its time, for Usage.Between and Usage.RAMAt.
func (m *Meter) Mark() time.Time {
	at := m.sample(true)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.stopped {
		m.ticker.Reset(m.interval) // the next interval is a whole one
	}
	return at
}

// Stop takes a last sample, ends the sampling and returns all that was seen. The error tells of samples that could not be
// taken; the usage is what the others show. Further calls return the same.
func (m *Meter) Stop() (Usage, error) {
	m.end()
	m.sampling.Wait()
	m.sample(true)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stopped = true
	var err error
	if m.failed > 0 {
		err = fmt.Errorf("%d of %d samples could not be taken: %w", m.failed, m.failed+len(m.samples), m.why)
	}
	u := newUsage(m.ledger.roles, m.samples, m.interval)
	u.missing, u.broken = m.missing(), m.broken()
	return u.Between(u.samples[0].at, u.samples[len(u.samples)-1].at), err
}

// broken says which roles' figures ended before the metering did.
func (m *Meter) broken() map[string]broken {
	all := make(map[string]broken)
	for _, r := range m.remotes {
		if r.broken != nil {
			all[m.ledger.roles[r.role]] = broken{r.end, r.broken.Error(), r.restarted}
		}
	}
	return all
}

// missing says why roles lack what others have.
func (m *Meter) missing() map[string]map[string]string {
	all := make(map[string]map[string]string)
	note := func(role int, name, why string) {
		r := m.ledger.roles[role]
		if all[r] == nil {
			all[r] = make(map[string]string)
		}
		all[r][name] = why
	}
	for _, t := range m.ledger.trees {
		if t.role == none || t.group == nil {
			continue
		}
		for name, figure := range charged {
			if why, missing := t.group.missing[figure]; missing {
				note(t.role, name, why)
			}
		}
	}
	if m.unread != nil && !errors.Is(m.unread, errGone) {
		for role := range m.ledger.roles[1:] {
			note(role+1, ramPSS, m.unread.Error())
		}
	}
	return all
}
