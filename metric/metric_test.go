package metric

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLookup(t *testing.T) {
	for _, tt := range []struct {
		name string
		want Def
	}{
		{"time", Def{Unit: Seconds, Better: Lower, Gated: true}},
		{"time_above_floor", Def{Unit: Seconds, Better: Lower}},
		{"session.wait.p50", Def{Unit: Seconds, Better: Lower, Gated: true}},
		{"session.max", Def{Unit: Seconds, Better: Lower}},
		{"cpu_seconds", Def{Unit: Seconds, Better: Lower, Gated: true}},
		{"cpu", Def{Unit: Ratio, Better: Lower}},
		{"ram", Def{Unit: Bytes, Better: Lower, Gated: true}},
		{"throughput", Def{Unit: PerSecond, Better: Higher}},
		{"ok", Def{Unit: Ratio, Better: Higher, Gated: true, Counts: true}},
		{"node.loop.p99", Def{Unit: Seconds, Better: Lower}},
		{"host.steal", Def{Unit: Ratio, Better: Neither}},
		{"driver.lag.p99", Def{Unit: Seconds, Better: Neither}},
		{"driver.sched.p99", Def{Unit: Seconds, Better: Neither}},
		{"driver.gc", Def{Unit: Seconds, Better: Neither}},
		// sizes
		{"result.fetchTasks.bytes", Def{Unit: Bytes, Better: Lower}},
		{"result.a.b.bytes", Def{Unit: Bytes, Better: Lower}},
		// roles
		{"db.ram", Def{Unit: Bytes, Better: Lower}},
		{"db.ram_peak", Def{Unit: Bytes, Better: Lower}},
		{"db.cpu_seconds", Def{Unit: Seconds, Better: Lower}},
		{"driver.cpu_seconds", Def{Unit: Seconds, Better: Lower}},
		{"driver.cpu", Def{Unit: Ratio, Better: Lower}},
		// latencies
		{"latency.insertTask.p50", Def{Unit: Seconds, Better: Lower}},
		{"latency.insertTask.p99", Def{Unit: Seconds, Better: Lower}},
		{"latency.insertTask.updated.p95", Def{Unit: Seconds, Better: Lower}},
		{"latency.ready.p95", Def{Unit: Seconds, Better: Lower}},
		{"latency./chat/send.p95", Def{Unit: Seconds, Better: Lower}},
		{"latency.a.b.c.p95", Def{Unit: Seconds, Better: Lower}},
		{"latency.updated.p95", Def{Unit: Seconds, Better: Lower}},
	} {
		got, ok := Lookup(tt.name)
		if !ok {
			t.Errorf("%s is not known", tt.name)
			continue
		}
		if got.What == "" {
			t.Errorf("%s is not described", tt.name)
		}
		tt.want.Name, tt.want.What = tt.name, got.What
		if got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestLookupOfNothing(t *testing.T) {
	for _, name := range []string{
		"", "tim", "Time", "time ", ".ram", "db.", "db.time", "db.ok", "db.host.steal", "a.b.ram", "latency", "latency.", "latency.p95", "latency..p95", "latency.x",
		"latency.x.p90", "result", "result.", "result.bytes", "result..bytes", "result.x", "latency.x.updated", "session", "session.p90", "p95",
	} {
		if def, ok := Lookup(name); ok || def != (Def{}) {
			t.Errorf("%q is known as %+v", name, def)
		}
	}
}

func TestDescriptions(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"db.ram", "db: resident memory, mean over the load"},
		{"latency.insertTask.p95", "latency of insertTask, 95th percentile"},
		{"latency.insertTask.updated.p50", "latency of insertTask, call until its writes are visible, median"},
	} {
		if got, _ := Lookup(tt.name); got.What != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got.What, tt.want)
		}
	}
}

func TestGated(t *testing.T) {
	want := []string{"time", "session.wait.p50", "cpu_seconds", "ram", "ok"}
	if got := Gated(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, name := range Gated() {
		if def, ok := Lookup(name); !ok || !def.Gated || def.Better == Neither {
			t.Errorf("%s is gated, but %+v", name, def)
		}
	}
}

func TestNames(t *testing.T) {
	names := Names()
	for _, name := range names {
		if def, ok := Lookup(name); !ok || def.Name != name || def.Unit == "" {
			t.Errorf("%s: %+v, %v", name, def, ok)
		}
		if never := strings.HasPrefix(name, "host.") || strings.HasPrefix(name, "driver."); never {
			if def, _ := Lookup(name); def.Better != Neither {
				t.Errorf("%s decides whether a run is valid, and must have no direction", name)
			}
		}
	}
	names[0] = "changed"
	if Names()[0] == "changed" {
		t.Error("a caller's change to the names changes them for all")
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(Names()) {
		t.Error("a name is there twice")
	}
}

func TestCompare(t *testing.T) {
	names := []string{"latency.b.p95", "ok", "db.ram", "time", "latency.a.p95", "no.such", "ram", "cpu_seconds"}
	want := []string{"time", "cpu_seconds", "ram", "ok", "db.ram", "latency.a.p95", "latency.b.p95", "no.such"}
	if got := slices.SortedFunc(slices.Values(names), Compare); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := slices.SortedFunc(slices.Values(Names()), Compare); !slices.Equal(got, Names()) {
		t.Errorf("the fixed names are not in their own order: %v", got)
	}
	name := rapid.OneOf(rapid.SampledFrom(Names()), rapid.SampledFrom([]string{"db.ram", "latency.a.p95", "x"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := name.Draw(t, "a"), name.Draw(t, "b"), name.Draw(t, "c")
		if x, y := Compare(a, b), Compare(b, a); (x < 0) != (y > 0) || (x == 0) != (a == b) {
			t.Fatalf("%q and %q: %d one way, %d the other", a, b, x, y)
		}
		if Compare(a, b) <= 0 && Compare(b, c) <= 0 && Compare(a, c) > 0 {
			t.Fatalf("%q, %q and %q are in no order", a, b, c)
		}
	})
}

func FuzzLookup(f *testing.F) {
	for _, name := range []string{"time", "db.ram", "latency.x.updated.p95", "latency.", "."} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if def, ok := Lookup(name); ok && def.Name != name || !ok && def != (Def{}) {
			t.Errorf("%q: %+v, %v", name, def, ok)
		}
	})
}
