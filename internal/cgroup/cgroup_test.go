package cgroup

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func directories(t *testing.T, root string) []string {
	t.Helper()
	groups, err := Of(root, 100)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, g := range groups {
		all = append(all, g.Path)
	}
	return all
}

func TestRead(t *testing.T) {
	memory := map[Figure]float64{Anon: 5000, File: 3000, Shared: 1000, Peak: 9000, OOMKills: 2}
	with := func(more map[Figure]float64) map[Figure]float64 {
		all := maps.Clone(memory)
		maps.Copy(all, more)
		return all
	}
	for root, want := range map[string]map[Figure]float64{
		"v1":        with(map[Figure]float64{CPU: 2.5, Throttled: 0.75}),
		"v2":        with(map[Figure]float64{CPU: 2.5, Throttled: 0.75}),
		"hybrid":    with(map[Figure]float64{CPU: 2.5}),
		"container": {CPU: 2.5},
		"sparse":    {CPU: 2.5, Anon: 5000},
	} {
		r := Read(directories(t, filepath.Join("testdata", root)))
		for figure := range places {
			got, found := r.Values[figure]
			wanted, there := want[figure]
			if found != there || found && abs(got-wanted) > 1e-9 {
				t.Errorf("%s: %s: got %v (%v), want %v (%v)", root, figure, got, found, wanted, there)
			}
			if reason := r.Missing[figure]; (reason == "") != found {
				t.Errorf("%s: %s is there: %v, and the reason why not is %q", root, figure, found, reason)
			}
		}
	}
	if reason := Read(directories(t, "testdata/sparse")).Missing[File]; !strings.Contains(reason, "memory.stat") {
		t.Errorf("got %q for a figure that is no number, want a reason that names the file", reason)
	}
}

func TestQuota(t *testing.T) {
	for _, tt := range []struct {
		files map[string]string
		want  float64
	}{
		{map[string]string{"cgroup.procs": "", "cpu.max": "max 100000"}, 0},
		{map[string]string{"cgroup.procs": "", "cpu.max": "150000 100000"}, 1.5},
		{map[string]string{"cgroup.procs": "", "below/cgroup.procs": "", "cpu.max": "50000 100000", "below/cpu.max": "150000 100000"}, 0.5},
		{map[string]string{"cgroup.procs": "", "cpu.cfs_quota_us": "200000", "cpu.cfs_period_us": "100000"}, 2},
		{map[string]string{"cgroup.procs": "", "cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000"}, 0},
		{map[string]string{"cgroup.procs": "", "cpu.max": "100000 0"}, 0},
		{nil, 0},
	} {
		dir := t.TempDir()
		for name, text := range tt.files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, deep := tt.files["below/cgroup.procs"]; deep {
			dir = filepath.Join(dir, "below")
		}
		got, limited := Quota([]Group{{Path: dir}})
		if got != tt.want || limited != (tt.want > 0) {
			t.Errorf("%v: got %v (%v), want %v", tt.files, got, limited, tt.want)
		}
	}
}

func abs(x float64) float64 { return max(x, -x) }

func TestOfAProcessThatIsNotThere(t *testing.T) {
	if groups, err := Of("testdata/v2", 101); err == nil || !strings.Contains(err.Error(), "101") {
		t.Errorf("got %v, %v; want an error that names the process", groups, err)
	}
}

// A share of its own in the processors would change what is measured.
func TestNoGroupWhereItWouldBeScheduledApart(t *testing.T) {
	o, err := Make("testdata/v1", 100)
	if err == nil || !strings.Contains(err.Error(), "CPU time alone") || len(o.Directories()) > 0 {
		t.Errorf("got %v, %v", o.Directories(), err)
	}
}

// What a controller of version 1 is tied to is known, and the figures stand beside it.
func TestOf(t *testing.T) {
	groups, err := Of("testdata/v1", 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(groups) != 2 {
		t.Fatalf("got %v, want memory and cpu with cpuacct", groups)
	}
	for _, g := range groups {
		if g.Unified() || g.Has("name=systemd") {
			t.Errorf("got %+v", g)
		}
	}
	if i := slices.IndexFunc(groups, func(g Group) bool { return g.Has("cpu") && g.Has("cpuacct") }); i < 0 {
		t.Errorf("got %v, without cpu and cpuacct together", groups)
	}
}
