package meter

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A machine is a source whose processes do what a test says. It knows what each role has really used.
type machine struct {
	procs  map[int]*fake
	next   int
	coarse bool // readings are cut to ticks
	deaf   map[int]bool
	during func() // called at each look, to change things under the reader's eyes
	used   map[string]float64
}

// A fake is one process. User and system time are kept apart, as they are cut apart.
type fake struct {
	pid, parent  int
	start        uint64
	name         string
	own, reaped  [2]float64
	zombie       bool
	role         string
	reads, fines int
}

const (
	fakeReaper = 10
	fakeRoot   = 11
	fakeOther  = 5 // a process that is no descendant
)

func newMachine() *machine {
	m := &machine{procs: make(map[int]*fake), next: 100, deaf: make(map[int]bool), used: make(map[string]float64)}
	m.procs[1] = &fake{pid: 1, name: "init"}
	m.procs[fakeOther] = &fake{pid: fakeOther, parent: 1, name: "mongod", own: [2]float64{7, 7}}
	m.procs[fakeReaper] = &fake{pid: fakeReaper, parent: 1, name: "guard"}
	m.procs[fakeRoot] = &fake{pid: fakeRoot, parent: fakeReaper, name: "node", own: [2]float64{3, 1}, reaped: [2]float64{2, 0}, role: "app"}
	return m
}

func (m *machine) list() ([]int, error) { return slices.Sorted(maps.Keys(m.procs)), nil }

func (m *machine) look(pid int) (process, error) {
	if m.during != nil {
		m.during()
	}
	p := m.procs[pid]
	if p == nil {
		return process{}, errGone
	}
	p.reads++
	read := process{
		id: identity{pid, p.start}, parent: p.parent, name: p.name, zombie: p.zombie,
		cpu: m.cut(p.own), reaped: m.cut(p.reaped), ram: 1000,
	}
	if p.zombie {
		read.ram = 0
	}
	return read, nil
}

func (m *machine) cut(t [2]float64) float64 {
	if !m.coarse {
		return t[0] + t[1]
	}
	return (math.Floor(t[0]/tick) + math.Floor(t[1]/tick)) * tick
}

func (m *machine) fine(pid int) float64 {
	if p := m.procs[pid]; p != nil {
		p.fines++
		return p.own[0] + p.own[1]
	}
	return 0
}

func (m *machine) pss(pid int) (float64, error) {
	if m.procs[pid] == nil {
		return 0, errGone
	}
	return 600, nil
}

func (m *machine) command(pid int) string {
	if p := m.procs[pid]; p != nil {
		return "/usr/bin/" + p.name + " --option"
	}
	return ""
}

func (m *machine) burn(pid int, user, system float64) {
	p := m.procs[pid]
	if p == nil || p.zombie {
		return
	}
	p.own[0] += user
	p.own[1] += system
	m.used[p.role] += user + system
}

// fork starts a child; with a name it is another program than its parent.
func (m *machine) fork(parent int, name string) int {
	above := m.procs[parent]
	m.next++
	p := &fake{pid: m.next, parent: parent, start: uint64(m.next), name: above.name, role: above.role}
	if name != "" {
		p.name = name
	}
	if p.name == "mongod" {
		p.role = "db"
	}
	m.procs[p.pid] = p
	return p.pid
}

// exit ends a process: its children go to the reaper, and it waits for its parent, unless that is deaf.
func (m *machine) exit(pid int) {
	p := m.procs[pid]
	p.zombie = true
	for _, c := range m.children(pid) {
		c.parent = fakeReaper
		if c.zombie {
			m.reap(c.pid)
		}
	}
	switch {
	case m.deaf[p.parent]:
		delete(m.procs, pid)
	case p.parent == fakeReaper:
		m.reap(pid)
	}
}

func (m *machine) children(pid int) (found []*fake) {
	for _, id := range slices.Sorted(maps.Keys(m.procs)) {
		if c := m.procs[id]; c.parent == pid {
			found = append(found, c)
		}
	}
	return found
}

// reap has a zombie's parent wait for it.
func (m *machine) reap(pid int) {
	p := m.procs[pid]
	parent := m.procs[p.parent]
	for i := range p.own {
		parent.reaped[i] += p.own[i] + p.reaped[i]
	}
	delete(m.procs, pid)
}

// below are the processes below the reaper that have not ended, and those that have.
func (m *machine) below() (living, zombies []int) {
	for _, pid := range slices.Sorted(maps.Keys(m.procs)) {
		switch p := m.procs[pid]; {
		case pid <= fakeReaper:
		case p.zombie:
			zombies = append(zombies, pid)
		default:
			living = append(living, pid)
		}
	}
	return living, zombies
}

// step does one thing at random.
func (m *machine) step(t *rapid.T) {
	living, zombies := m.below()
	if len(living) == 0 {
		return
	}
	pid := rapid.SampledFrom(living).Draw(t, "pid")
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0, 1, 2, 3:
		ms := rapid.IntRange(1, 300)
		m.burn(pid, float64(ms.Draw(t, "user"))/1000, float64(ms.Draw(t, "system"))/1000)
	case 4, 5:
		m.fork(pid, rapid.SampledFrom([]string{"", "", "sh", "mongod"}).Draw(t, "name"))
	case 6, 7:
		if pid != fakeRoot {
			m.exit(pid)
		}
	default:
		if len(zombies) > 0 {
			m.reap(rapid.SampledFrom(zombies).Draw(t, "zombie"))
		}
	}
}

func ledgerOf(t interface{ Fatal(...any) }, s source) *ledger {
	l, err := newLedger(s, []Target{
		{Role: "app", PID: fakeRoot, Reaper: fakeReaper},
		{Role: "db", PID: fakeRoot, Reaper: fakeReaper, Match: "mongod"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.first(); err != nil {
		t.Fatal(err)
	}
	return l
}

func sum(xs []float64) (s float64) {
	for _, x := range xs {
		s += x
	}
	return s
}

func (m *machine) total() float64 { return sum(slices.Collect(maps.Values(m.used))) }

// Whatever processes do, the ledger's total is what was used, it never falls, and the roles' totals never do.
func TestLedgerCountsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine()
		l := ledgerOf(t, m)
		last := make([]float64, len(l.roles))
		for range rapid.IntRange(1, 30).Draw(t, "samples") {
			for range rapid.IntRange(0, 12).Draw(t, "steps") {
				m.step(t)
			}
			r, err := l.take(false)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := sum(r.used), m.total(); math.Abs(got-want) > 1e-6 {
				t.Fatalf("got %v s, want %v", got, want)
			}
			rising(t, last, r.used)
			last = r.used
		}
	})
}

func rising(t *rapid.T, last, now []float64) {
	for i := range now {
		if now[i] < last[i] {
			t.Fatalf("role %d fell from %v to %v", i, last[i], now[i])
		}
	}
}

// With readings cut to ticks the total is off by what the cutting hides of living processes, however long it goes on.
func TestLedgerRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine()
		m.coarse = true
		l := ledgerOf(t, m)
		last := make([]float64, len(l.roles))
		for range rapid.IntRange(1, 30).Draw(t, "samples") {
			for range rapid.IntRange(0, 12).Draw(t, "steps") {
				m.step(t)
			}
			fine := rapid.Bool().Draw(t, "fine")
			r, err := l.take(fine)
			if err != nil {
				t.Fatal(err)
			}
			living, zombies := m.below()
			hidden := float64(len(living)+len(zombies)+1) * 4 * tick
			if got, want := sum(r.used), m.total(); math.Abs(got-want) > hidden {
				t.Fatalf("got %v s, want %v within %v", got, want, hidden)
			}
			rising(t, last, r.used)
			last = r.used
		}
	})
}

// Where nobody waits for a process, what was seen of it stays, and nothing else is lost or made up.
func TestLedgerOfProcessesThatNobodyWaitsFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine()
		l := ledgerOf(t, m)
		last := make([]float64, len(l.roles))
		for range rapid.IntRange(1, 30).Draw(t, "samples") {
			living, _ := m.below()
			m.deaf[rapid.SampledFrom(living).Draw(t, "deaf")] = true
			for range rapid.IntRange(0, 12).Draw(t, "steps") {
				m.step(t)
			}
			r, err := l.take(false)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := sum(r.used), m.total(); got > want+1e-6 {
				t.Fatalf("got %v s, want at most %v", got, want)
			}
			rising(t, last, r.used)
			last = r.used
		}
	})
}

// What changes while it is read counts once all the same.
func TestLedgerReadsWhileThingsChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine()
		l := ledgerOf(t, m)
		for range rapid.IntRange(1, 20).Draw(t, "samples") {
			for range rapid.IntRange(0, 12).Draw(t, "steps") {
				m.step(t)
			}
			at := rapid.IntRange(1, 12).Draw(t, "at")
			m.during = func() {
				if at--; at == 0 {
					m.step(t)
				}
			}
			if _, err := l.take(false); err != nil {
				t.Fatal(err)
			}
			m.during = nil
		}
		r, err := l.take(false)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sum(r.used), m.total(); math.Abs(got-want) > 1e-6 {
			t.Fatalf("got %v s, want %v", got, want)
		}
	})
}

func byRole(l *ledger, r reading) map[string]float64 {
	used := make(map[string]float64)
	for i, name := range l.roles {
		if i != none {
			used[name] = r.used[i]
		}
	}
	return used
}

func TestLedgerRoles(t *testing.T) {
	m := newMachine()
	wrapper := m.fork(fakeRoot, "sh")
	early := m.fork(wrapper, "mongod")
	l := ledgerOf(t, m)
	take := func() map[string]float64 {
		r, err := l.take(false)
		if err != nil {
			t.Fatal(err)
		}
		return byRole(l, r)
	}
	m.burn(early, 1, 0)
	m.burn(fakeRoot, 2, 0)
	m.burn(fakeOther, 99, 0)
	if got, want := take(), map[string]float64{"app": 2, "db": 1}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// A child of a database is the database's, and a process that becomes one is from then on, with its children.
	worker := m.fork(early, "worker")
	late := m.fork(fakeRoot, "")
	child := m.fork(late, "child")
	m.burn(worker, 1, 0)
	m.burn(late, 4, 0)
	if got, want := take(), map[string]float64{"app": 6, "db": 2}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	m.procs[late].name = "mongod"
	m.burn(late, 8, 0)
	m.burn(child, 16, 0)
	if got, want := take(), map[string]float64{"app": 6, "db": 26}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// An orphan keeps its role, and a database that ends leaves its figures where they are.
	m.exit(early)
	m.reap(early)
	m.burn(worker, 1, 0)
	if got, want := take(), map[string]float64{"app": 6, "db": 27}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLedgerOfPartsOnly(t *testing.T) {
	m := newMachine()
	db := m.fork(fakeRoot, "mongod")
	l, err := newLedger(m, []Target{{Role: "db", PID: fakeRoot, Match: "mongod"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.first(); err != nil {
		t.Fatal(err)
	}
	m.burn(fakeRoot, 5, 0)
	m.burn(db, 1, 0)
	r, err := l.take(false)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := byRole(l, r), map[string]float64{"db": 1}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Strangers are read once, not at every sample, and finely never.
func TestLedgerLeavesStrangersAlone(t *testing.T) {
	m := newMachine()
	l := ledgerOf(t, m)
	for range 10 {
		if _, err := l.take(true); err != nil {
			t.Fatal(err)
		}
	}
	if other := m.procs[fakeOther]; other.reads != 1 || other.fines != 0 {
		t.Errorf("a stranger was read %d times and %d times finely, want once and never", other.reads, other.fines)
	}
	if root := m.procs[fakeRoot]; root.fines < 10 {
		t.Errorf("the app was read finely %d times, want at each sample", root.fines)
	}
}

func TestReusedPID(t *testing.T) {
	m := newMachine()
	child := m.fork(fakeRoot, "sh")
	l := ledgerOf(t, m)
	m.burn(child, 1, 0)
	if _, err := l.take(false); err != nil {
		t.Fatal(err)
	}
	m.exit(child)
	m.reap(child)
	m.procs[child] = &fake{pid: child, parent: 1, start: 9999, name: "sh", own: [2]float64{50, 0}} // somebody else's
	if _, err := l.take(false); err != nil {
		t.Fatal(err)
	}
	m.procs[child] = &fake{pid: child, parent: fakeRoot, start: 10001, name: "sh", own: [2]float64{2, 0}} // again one of ours
	delete(l.strangers, child)                                                                            // it was not listed in between
	r, err := l.take(false)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sum(r.used), 3.0; math.Abs(got-want) > 1e-9 {
		t.Errorf("got %v s, want %v", got, want)
	}
}
