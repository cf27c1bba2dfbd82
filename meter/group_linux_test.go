package meter

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/internal/cgroup"
)

// enclosed moves a worker into control groups of its own, where that is allowed, and returns them.
func enclosed(t *testing.T, w *worker) []string {
	t.Helper()
	pid := w.cmd.Process.Pid
	own, err := cgroup.Make("/", pid)
	if err != nil {
		t.Logf("by its processes alone: %v", err)
		return nil
	}
	t.Cleanup(func() {
		if err := cgroup.End(own.Directories(), 10*time.Second); err != nil {
			t.Error(err)
		}
	})
	if err := own.Enter(pid); err != nil {
		t.Fatal(err)
	}
	return own.Directories()
}

// The accuracy that ddpgate claims, with control groups and without, against what the processes say by their own clocks.
func TestAccuracy(t *testing.T) {
	for _, grouped := range []bool{false, true} {
		t.Run(fmt.Sprintf("grouped %v", grouped), func(t *testing.T) {
			w := newWorker(t)
			target := Target{Role: "app", PID: w.cmd.Process.Pid}
			if grouped {
				target.Groups = enclosed(t, w)
			}
			m := meter(t, target)
			a := m.Mark()
			used := w.do("burn 3000")
			b := m.Mark()
			w.do("touch 200")
			c := m.Mark()
			u := stop(t, m)
			near(t, "CPU seconds", u.Between(a, b).Roles["app"].CPUSeconds, used, 0.02, 0)
			near(t, "memory", u.RAMAt(c)["app"]-u.RAMAt(b)["app"], 200<<20, 0.03, 0)
		})
	}
}

func TestAccuracyOfManyChildren(t *testing.T) {
	for grouped, children := range map[bool]int{false: 100, true: 500} {
		t.Run(fmt.Sprintf("grouped %v", grouped), func(t *testing.T) {
			w := newWorker(t)
			target := Target{Role: "app", PID: w.cmd.Process.Pid}
			if grouped {
				target.Groups = enclosed(t, w)
			}
			m := meter(t, target)
			a := m.Mark()
			used := w.do(fmt.Sprint("start ", children))
			b := m.Mark()
			near(t, "CPU seconds", stop(t, m).Between(a, b).Roles["app"].CPUSeconds, used, 0.03, 0)
		})
	}
}

// Children that nobody waits for leave nothing behind but in their control group.
func TestChildrenThatNobodyWaitsFor(t *testing.T) {
	w := newWorker(t)
	groups := enclosed(t, w)
	m := meter(t, Target{Role: "app", PID: w.cmd.Process.Pid, Groups: groups})
	a := m.Mark()
	used := w.do("drop 20")
	b := m.Mark()
	got := stop(t, m).Between(a, b).Roles["app"].CPUSeconds
	// Starting and ending them costs more than they can say of themselves.
	if got > used*1.3 || len(groups) > 0 && got < used*0.97 {
		t.Errorf("got %v CPU seconds of at least %v", got, used)
	}
}

// A control group's figures are the role's, its memory only where it is one role's alone.
func TestFiguresOfAGroup(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set := func(cpu, throttledUsec, anon, peak, kills int) {
		write("cpu.stat", fmt.Sprintf("usage_usec %d\nthrottled_usec %d\n", cpu, throttledUsec))
		write("memory.stat", fmt.Sprintf("anon %d\nfile 100\n", anon))
		write("memory.peak", fmt.Sprintln(peak))
		write("memory.events", fmt.Sprintf("oom_kill %d\n", kills))
	}
	set(0, 1e6, 1000, 5000, 1)
	own := Target{Role: "app", PID: os.Getpid(), Groups: []string{dir}}
	for _, several := range []bool{false, true} {
		targets := []Target{own}
		if several {
			targets = append(targets, Target{Role: "db", PID: own.PID, Match: "no-such-program"})
		}
		set(0, 1e6, 1000, 5000, 1)
		m := meter(t, targets...)
		a := m.Mark()
		set(50e6, 3e6, 3000, 8000, 3)
		b := m.Mark()
		r := stop(t, m).Between(a, b).Roles["app"]
		near(t, "CPU seconds", r.CPUSeconds, 50, 0.02, 0)
		want := map[string]float64{ramAnon: 2000, ramFile: 100, ramCharged: 8000, throttled: 2, oomKills: 2}
		if several {
			want = map[string]float64{oomKills: 2}
		}
		for name := range charged {
			got, found := r.More[name]
			wanted, there := want[name]
			if found != there || got != wanted {
				t.Errorf("%s with several roles %v: got %v (%v), want %v (%v)", name, several, got, found, wanted, there)
			}
		}
		if r.Missing[ramShared] == "" {
			t.Error("no reason why there is no shared memory")
		}
	}
}

func TestAbsent(t *testing.T) {
	w := newWorker(t)
	pid := w.cmd.Process.Pid
	m := meter(t, Target{Role: "app", PID: pid}, Target{Role: "db", PID: pid, Match: "mongod"})
	err := m.Absent()
	if err == nil || !strings.Contains(err.Error(), `db: no process`) || !strings.Contains(err.Error(), `"mongod"`) ||
		!strings.Contains(err.Error(), filepath.Base(os.Args[0])) {
		t.Errorf("got %v, want what was looked for and what is there", err)
	}
	if err := meter(t, Target{Role: "app", PID: pid}).Absent(); err != nil {
		t.Error(err)
	}
}

// One process below another one, which started it, is a role by its number, with what descends from it.
func TestRoleByNumber(t *testing.T) {
	w := newWorker(t)
	m := meter(t, Target{Role: "tool", PID: os.Getpid()}, Target{Role: "app", PID: os.Getpid(), Process: w.cmd.Process.Pid})
	if err := m.Absent(); err != nil {
		t.Fatal(err)
	}
	a := m.Mark()
	used := w.do("start 10")
	b := m.Mark()
	roles := stop(t, m).Between(a, b).Roles
	near(t, "the app", roles["app"].CPUSeconds, used, 0.03, 0.02)
	if tool := roles["tool"].CPUSeconds; tool > used/2 {
		t.Errorf("the tool has %v s, want what the app did with the app", tool)
	}
}

// What several processes share counts once in proportional memory.
func TestProportionalMemory(t *testing.T) {
	w := newWorker(t)
	m := meter(t, Target{Role: "app", PID: os.Getpid()})
	at := m.Mark()
	w.do("burn 0")
	u := stop(t, m)
	pss, found := u.Roles["app"].More[ramPSS]
	if !found {
		if u.Roles["app"].Missing[ramPSS] == "" {
			t.Error("neither proportional memory nor a reason")
		}
		return
	}
	if ram := u.RAMAt(at)["app"]; !(pss > 1<<20 && pss < ram) {
		t.Errorf("got %v bytes, want less than the %v of resident memory: two processes of one program share its pages", pss, ram)
	}
}

func TestCostIsMeasured(t *testing.T) {
	m := meter(t, Target{Role: "app", PID: os.Getpid()})
	for range 10 {
		m.Mark()
	}
	if cost := stop(t, m).Cost; !(cost > 0 && cost < 5) {
		t.Errorf("got %v s for eleven samples", cost)
	}
}
