package meter

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadProcFixture(t *testing.T) {
	s, err := newSource(Options{Proc: "testdata/proc"})
	if err != nil {
		t.Fatal(err)
	}
	page := float64(os.Getpagesize())
	for _, want := range []process{
		{id: identity{100, 10000}, parent: 90, name: "node", cpu: 2.5, reaped: 0.4, ram: 50000 * page},
		{id: identity{101, 10100}, parent: 100, name: "a) R 1 (b", cpu: 0.5, ram: 1000 * page},
		{id: identity{102, 10200}, parent: 100, name: "gone", cpu: 0.08, zombie: true},
	} {
		got, err := s.look(want.id.pid)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, close6, cmp.AllowUnexported(process{}, identity{})); diff != "" {
			t.Errorf("process %d (-want +got):\n%s", want.id.pid, diff)
		}
	}
	if _, err := s.look(999); !errors.Is(err, errGone) {
		t.Errorf("got %v, want %v", err, errGone)
	}
	if got, want := s.fine(100), 2.517; got != want {
		t.Errorf("got %v s of the threads, want %v", got, want)
	}
	if got, want := s.command(103), "/bin/sh -c exec mongod --dbpath /tmp/x"; got != want {
		t.Errorf("got command %q, want %q", got, want)
	}
}

func fixtureTargets() []Target {
	return []Target{
		{Role: "app", PID: 100, Reaper: 90},
		{Role: "db", PID: 100, Reaper: 90, Match: "mongod"},
	}
}

func TestMemoryOfFixture(t *testing.T) {
	m, err := Start(t.Context(), Options{Proc: "testdata/proc"}, fixtureTargets()...)
	if err != nil {
		t.Fatal(err)
	}
	at := m.Mark()
	u, err := m.Stop()
	if err != nil {
		t.Fatal(err)
	}
	page := float64(os.Getpagesize())
	// The zombie and the guard have none, and the other mongod is somebody else's.
	want := map[string]float64{"app": 51000 * page, "db": 20300 * page}
	if got := u.RAMAt(at); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if r := u.Roles["app"]; r.CPUSeconds != 0 {
		t.Errorf("got %v s of an app that did nothing since", r.CPUSeconds)
	}
}

// A procTree is a copy of the fixture that a test changes.
type procTree struct {
	t    *testing.T
	root string
}

func newProcTree(t *testing.T) procTree {
	p := procTree{t, t.TempDir()}
	if err := os.CopyFS(p.root, os.DirFS("testdata/proc")); err != nil {
		t.Fatal(err)
	}
	return p
}

// set changes fields of a process's stat, counted from 1 as in proc(5).
func (p procTree) set(pid string, fields map[int]string) {
	p.t.Helper()
	path := filepath.Join(p.root, pid, "stat")
	was, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	i := strings.LastIndex(string(was), ")") + 2
	words := strings.Fields(string(was)[i:])
	for f, v := range fields {
		words[f-3] = v
	}
	if err := os.WriteFile(path, []byte(string(was)[:i]+strings.Join(words, " ")+"\n"), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p procTree) remove(pid string) {
	p.t.Helper()
	if err := os.RemoveAll(filepath.Join(p.root, pid)); err != nil {
		p.t.Fatal(err)
	}
}

const (
	statParent  = 4
	statUser    = 14
	statReaped  = 16
	statStarted = 22
)

func TestMeterOverTime(t *testing.T) {
	p := newProcTree(t)
	synctest.Test(t, func(t *testing.T) {
		m, err := Start(t.Context(), Options{Proc: p.root}, fixtureTargets()...)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		<-time.After(250 * time.Millisecond)
		p.set("100", map[int]string{statUser: "300"}) // 1 s more
		<-time.After(500 * time.Millisecond)          // one sample in it
		p.set("104", map[int]string{statUser: "110"}) // 0.5 s more, by the database's child
		<-time.After(500 * time.Millisecond)          // another one
		a := m.Mark()                                 // at 1.25 s
		// The child ends, having used 0.3 s more that nobody saw, and its parent waits for it.
		p.remove("104")
		p.set("103", map[int]string{statReaped: "180"})
		// Another one's number goes to a process that is none of ours.
		p.remove("101")
		p.set("100", map[int]string{statReaped: "80"}) // its parent had waited for it
		if err := os.CopyFS(filepath.Join(p.root, "101"), os.DirFS("testdata/proc/201")); err != nil {
			t.Fatal(err)
		}
		p.set("101", map[int]string{statStarted: "99999", statParent: "1"})
		<-time.After(500 * time.Millisecond)
		b := m.Mark() // at 1.75 s
		u, err := m.Stop()
		if err != nil {
			t.Error(err)
		}
		page := float64(os.Getpagesize())
		whole := []float64{0.5, 1, 1.25, 1.75}
		if diff := cmp.Diff(whole, u.T, close6); diff != "" {
			t.Errorf("times (-want +got):\n%s", diff)
		}
		app, db := u.Roles["app"], u.Roles["db"]
		// What was read finely at the start was more than stat's ticks showed: that part is not seen twice.
		near(t, "app", app.CPUSeconds, 1-0.017, 0, 0.006)
		near(t, "db", db.CPUSeconds, 0.8, 0, 0.02)
		near(t, "app's first interval", app.CPU[0], (1-0.017)/0.5, 0, 0.02)
		near(t, "db's second interval", db.CPU[1], 1, 0, 0.02)
		if got, want := app.RAM, []float64{51000 * page, 51000 * page, 51000 * page, 50000 * page}; !cmp.Equal(got, want) {
			t.Errorf("got memory %v, want %v", got, want)
		}
		w := u.Between(a, b)
		if !w.Start.Equal(begun.Add(1250*time.Millisecond)) || w.Seconds != 0.5 {
			t.Errorf("got a window of %v s from %v", w.Seconds, w.Start.Sub(begun))
		}
		near(t, "db in the window", w.Roles["db"].CPUSeconds, 0.3, 0, 0.02)
		near(t, "app in the window", w.Roles["app"].CPUSeconds, 0, 0, 1e-9)
	})
}

func TestSamplingFails(t *testing.T) {
	p := newProcTree(t)
	synctest.Test(t, func(t *testing.T) {
		m, err := Start(t.Context(), Options{Proc: p.root}, fixtureTargets()...)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(p.root, "100", "stat")
		was, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("nonsense"), 0o644); err != nil {
			t.Fatal(err)
		}
		<-time.After(1200 * time.Millisecond)
		if err := os.WriteFile(path, was, 0o644); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			u, err := m.Stop()
			if err == nil || !strings.Contains(err.Error(), "2 of 4 samples could not be taken") {
				t.Errorf("got %v, want two failed samples", err)
			}
			if len(u.T) != 1 || u.Roles["app"].RAMMean == 0 {
				t.Errorf("got %+v, want what the other samples show", u)
			}
		}
	})
}

func TestStartRefuses(t *testing.T) {
	tests := []struct {
		name    string
		targets []Target
		says    string
	}{
		{"no process", []Target{{Role: "app", PID: 4711}}, "app: process 4711: no such process"},
		{"a zombie", []Target{{Role: "app", PID: 102}}, "app: process 102: no such process"},
		{"no reaper", []Target{{Role: "app", PID: 100, Reaper: 4711}}, "app: process 4711: no such process"},
		{"expression", []Target{{Role: "db", PID: 100, Match: "("}}, "role db: error parsing regexp"},
		{"no role", []Target{{PID: 100}}, "no target"},
		{"two roles", []Target{{Role: "app", PID: 100}, {Role: "db", PID: 100}}, "process 100 is both app and db"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Start(t.Context(), Options{Proc: "testdata/proc"}, tt.targets...)
			if err == nil {
				m.Stop()
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %q, want %q in it", err, tt.says)
			}
		})
	}
	if _, err := Start(t.Context(), Options{Proc: "testdata/nowhere"}, Target{Role: "app", PID: 100}); err == nil {
		t.Error("it started without a proc file system")
	}
}
