//go:build unix

package meter

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// told is what a Node that runs the program tells of itself. The program must end by itself.
func told(t *testing.T, program, options string) Node {
	t.Helper()
	dir := t.TempDir()
	env, err := Instrument(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "-e", program)
	cmd.Env = os.Environ()
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	n, err := ReadNode(dir, cmd.Process.Pid, start, time.Now(), []float64{0.5, 1})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// needsNode ends a test where there is no Node to try it on; with one it runs everywhere.
func needsNode(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no node on this machine to be measured; .ci/run says so before the tests")
	}
}

// Turns of 5 ms, a few hundred of them, with something done in each.
const turns = `let n = 0; (function turn() { %s; if (++n < 250) setTimeout(turn, 5); })()`

func TestNodeThatBlocks(t *testing.T) {
	needsNode(t)
	calm := told(t, fmt.Sprintf(turns, ""), "")
	blocked := told(t, fmt.Sprintf(turns, `if (n % 10 == 0) { const end = Date.now() + 120; while (Date.now() < end); }`), "--max-old-space-size=300")
	if got := blocked.Figures["loop.p99"]; got < 0.08 || got < calm.Figures["loop.p99"] {
		t.Errorf("the loop of an app that blocks for 120 ms is late by %v s, that of a calm one by %v s", got, calm.Figures["loop.p99"])
	}
	if calm, blocked := calm.Figures["loop.used"], blocked.Figures["loop.used"]; blocked < calm {
		t.Errorf("the loop is busy %v of the time, in a calm app %v", blocked, calm)
	}
	if points := blocked.Series["loop.p99"]; len(points) != 2 {
		t.Errorf("series %v", blocked.Series)
	}
}

func TestNodeThatAllocates(t *testing.T) {
	needsNode(t)
	calm := told(t, fmt.Sprintf(turns, ""), "")
	wasteful := told(t, `globalThis.keep = []; `+fmt.Sprintf(turns, `keep.push(new Array(20000).fill(n), {}); if (keep.length > 200) keep = []`), "")
	if calm, wasteful := calm.Figures["gc"], wasteful.Figures["gc"]; wasteful <= calm || wasteful < 0.001 {
		t.Errorf("an app that allocates collects for %v s, a calm one for %v s", wasteful, calm)
	}
	if calm, wasteful := calm.Figures["heap"], wasteful.Figures["heap"]; wasteful < calm+1<<20 {
		t.Errorf("an app that allocates has %v bytes, a calm one %v", wasteful, calm)
	}
	if f := wasteful.Figures; f["gc.max"] <= 0 || f["gc.max"] > f["gc"] || f["gc.minor"]+f["gc.major"]+f["gc.incremental"]+f["gc.weak"] < f["gc"]*0.999 {
		t.Errorf("got %v", f)
	}
}

func writeLines(t *testing.T, dir string, pid int, lines ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(pid, ".jsonl")), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Only what the app and those below it told in the time counts; a line that was cut off does not.
func TestReadNode(t *testing.T) {
	dir, a := t.TempDir(), time.UnixMilli(1_000_000)
	line := func(from, to, parent int, heap, used float64, gc string, delays ...float64) string {
		all, _ := json.Marshal(delays)
		return fmt.Sprintf(`{"from":%d,"to":%d,"parent":%d,"heap":%v,"used":%v,"gc":%s,"delays":%s}`, from, to, parent, heap, used, gc, all)
	}
	writeLines(t, dir, 7,
		line(999_000, 1_000_000, 1, 9e9, 1, `{"major":[900,900]}`, 900), // before
		line(1_000_000, 1_001_000, 1, 100, 0.5, `{"minor":[10,4],"major":[20,20]}`, 0, 1, 2, 3),
		line(1_001_000, 1_004_000, 1, 200, 0.9, `{"minor":[5,5]}`, 2000),
		`{"from":1004000,"to":10045`)
	writeLines(t, dir, 8, line(1_000_000, 1_001_000, 7, 100, 0.1, `{}`, 0))
	writeLines(t, dir, 9, line(1_000_000, 1_001_000, 1, 5e9, 1, `{"major":[900,900]}`, 900)) // the tool that started the app
	got, err := ReadNode(dir, 7, a, a.Add(5*time.Second), []float64{0.5, 1.5, 4})
	if err != nil {
		t.Fatal(err)
	}
	want := Node{
		Figures: map[string]float64{
			"gc": 0.035, "gc.max": 0.02, "gc.minor": 0.015, "gc.minor.max": 0.005, "gc.major": 0.02, "gc.major.max": 0.02,
			"gc.incremental": 0, "gc.incremental.max": 0, "gc.weak": 0, "gc.weak.max": 0,
			"heap": (100 + 600 + 100) / 5.0, "loop.used": (0.5 + 2.7 + 0.1) / 5, "loop.p50": 2, "loop.p99": 2,
		},
	}
	if diff := cmp.Diff(want.Figures, got.Figures, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
	if heap := got.Series["heap"]; len(heap) != 3 || heap[0] != 100 || heap[2] != 200 {
		t.Errorf("series %v", got.Series)
	}
	for name, read := range map[string]func() (Node, error){
		"told nothing in this time": func() (Node, error) { return ReadNode(dir, 99, a, a.Add(time.Second), nil) },
		"no process told anything":  func() (Node, error) { return ReadNode(t.TempDir(), 7, a, a.Add(time.Second), nil) },
	} {
		if _, err := read(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}

func FuzzParseNode(f *testing.F) {
	f.Add([]byte(`{"from":1,"to":2,"parent":1,"heap":3,"used":0.5,"gc":{"minor":[1,1]},"delays":[0,1]}`))
	f.Add([]byte("{}\n{\"from\":2,\"to\":1}\nnull"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, l := range parseNode(text) {
			again, err := json.Marshal(map[string]any{
				"from": l.From, "to": l.To, "parent": l.Parent, "heap": l.Heap, "gc": l.GC, "delays": l.Delays, "used": l.Used,
			})
			if err != nil {
				t.Fatal(err)
			}
			if back := parseNode(again); len(back) != 1 || !cmp.Equal(back[0], l) {
				t.Errorf("%s: got %+v, want %+v", again, back, l)
			}
			if late, ok := lateness([]nodeLine{l}, 0.99); ok && late < 0 {
				t.Errorf("late by %v", late)
			}
		}
	})
}
