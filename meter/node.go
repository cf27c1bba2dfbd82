package meter

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed node.js
var nodeJS []byte

const nodeFile = "ddpgate-node.js"

// Instrument prepares a directory in which Node processes tell what they are at, and returns the environment variables that make them do
// so. options is the NODE_OPTIONS that they would have otherwise.
func Instrument(dir, options string) (map[string]string, error) {
	script := filepath.Join(dir, nodeFile)
	if err := os.WriteFile(script, nodeJS, 0o644); err != nil {
		return nil, fmt.Errorf("node's own figures: %w", err)
	}
	require := `--require "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(script) + `"`
	return map[string]string{"NODE_OPTIONS": strings.TrimSpace(options + " " + require), "DDPGATE_NODE": dir}, nil
}

// Node is what a Node process, and those below it, told of themselves over a time.
type Node struct {
	// Figures are by name: "gc" (s of pauses) and "gc.max" (s), the same for "gc.minor", "gc.major", "gc.incremental" and "gc.weak";
	// "loop.p50" and "loop.p99" (s by which the event loop was late); "loop.used" (ratio, from Node 14.10 on); "heap" (bytes in
	// use, mean).
	Figures map[string]float64
	// Series are "loop.p99", "loop.used" and "heap", over each interval that ends at a time of ReadNode's t.
	Series map[string][]float64
}

// A nodeLine is what a process wrote about one interval.
type nodeLine struct {
	From, To float64 // ms since 1970
	Parent   int
	Heap     float64               // bytes
	GC       map[string][2]float64 // by kind, ms of all pauses and of the longest
	Delays   []float64             // ms, ascending, each standing for the same share of the loop's turns
	Used     *float64              // ratio
}

// ReadNode returns what the process, and Node processes that it started, wrote into a directory from a to b, with series at times t, in s from a.
// The error says why there is nothing.
func ReadNode(dir string, pid int, a, b time.Time, t []float64) (Node, error) {
	told, err := readNodes(dir)
	if err != nil {
		return Node{}, err
	}
	from, to := float64(a.UnixMilli()), float64(b.UnixMilli())
	var lines []nodeLine
	for _, of := range slices.Sorted(maps.Keys(told)) {
		if !below(told, pid, of) {
			continue
		}
		for _, l := range told[of] {
			if middle := (l.From + l.To) / 2; middle >= from && middle <= to {
				lines = append(lines, l)
			}
		}
	}
	switch {
	case len(told) == 0:
		return Node{}, errors.New("no process told anything: is the app a Node of version 14 or later, and does it keep NODE_OPTIONS?")
	case len(lines) == 0:
		return Node{}, fmt.Errorf("process %d told nothing in this time; there was something of %v", pid, slices.Sorted(maps.Keys(told)))
	}
	slices.SortFunc(lines, func(x, y nodeLine) int { return int(x.To - y.To) })
	return Node{Figures: nodeFigures(lines), Series: nodeSeries(lines, from, t)}, nil
}

// readNodes reads what each process wrote, by its number. A line that was cut off by its end is left out.
func readNodes(dir string) (map[int][]nodeLine, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	told := make(map[int][]nodeLine)
	for _, file := range files {
		pid, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(file), ".jsonl"))
		if err != nil {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("node's own figures: %w", err)
		}
		if lines := parseNode(text); len(lines) > 0 {
			told[pid] = lines
		}
	}
	return told, nil
}

func parseNode(text []byte) []nodeLine {
	var lines []nodeLine
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var l nodeLine
		if json.Unmarshal(in.Bytes(), &l) == nil && l.sound() {
			lines = append(lines, l)
		}
	}
	return lines
}

// sound tells whether a line can be one of ours: the file is open to whatever runs as the app.
func (l nodeLine) sound() bool {
	return l.To > l.From && l.Heap >= 0 && slices.IsSorted(l.Delays) && (len(l.Delays) == 0 || l.Delays[0] >= 0) &&
		(l.Used == nil || *l.Used >= 0 && *l.Used <= 1)
}

// below tells whether a process is the one at the root or was started by one that is.
func below(told map[int][]nodeLine, root, pid int) bool {
	for range len(told) + 1 {
		if pid == root {
			return true
		}
		lines := told[pid]
		if len(lines) == 0 {
			return false
		}
		pid = lines[0].Parent
	}
	return false
}

// gcKinds are always told of: no pause of a kind is a figure too.
var gcKinds = []string{"minor", "major", "incremental", "weak"}

func nodeFigures(lines []nodeLine) map[string]float64 {
	figures := map[string]float64{"gc": 0, "gc.max": 0}
	for _, kind := range gcKinds {
		figures["gc."+kind], figures["gc."+kind+".max"] = 0, 0
	}
	var heap, used, seconds, known float64
	for _, l := range lines {
		length := (l.To - l.From) / 1000
		seconds += length
		heap += l.Heap * length
		if l.Used != nil {
			used += *l.Used * length
			known += length
		}
		for _, kind := range gcKinds {
			all, longest := l.GC[kind][0]/1000, l.GC[kind][1]/1000
			figures["gc"] += all
			figures["gc."+kind] += all
			figures["gc.max"] = max(figures["gc.max"], longest)
			figures["gc."+kind+".max"] = max(figures["gc."+kind+".max"], longest)
		}
	}
	figures["heap"] = heap / seconds
	if known > 0 {
		figures["loop.used"] = used / known
	}
	for name, p := range map[string]float64{"loop.p50": 0.5, "loop.p99": 0.99} {
		if late, ok := lateness(lines, p); ok {
			figures[name] = late
		}
	}
	return figures
}

// lateness returns a quantile of the loop's delay in s. Each interval counts by its length: one in which the loop stood still has few turns,
// and would else count for little.
func lateness(lines []nodeLine, p float64) (late float64, ok bool) {
	type point struct{ late, weight float64 }
	var points []point
	var all float64
	for _, l := range lines {
		for _, ms := range l.Delays {
			weight := (l.To - l.From) / float64(len(l.Delays))
			points = append(points, point{ms / 1000, weight})
			all += weight
		}
	}
	slices.SortFunc(points, func(x, y point) int { return int(math.Copysign(1, x.late-y.late)) })
	var sum float64
	for _, at := range points {
		if sum += at.weight; sum >= p*all*(1-1e-12) {
			return at.late, true
		}
	}
	return 0, false
}

// nodeSeries returns the figures of the last interval that told of them at each time, of the first one before that.
func nodeSeries(lines []nodeLine, from float64, t []float64) map[string][]float64 {
	series := make(map[string][]float64)
	for _, name := range []string{"loop.p99", "loop.used", "heap"} {
		var ends, values []float64
		for i, l := range lines {
			if v, found := nodeFigures(lines[i : i+1])[name]; found {
				ends, values = append(ends, l.To-from), append(values, v)
			}
		}
		if len(values) == 0 {
			continue
		}
		at := 0
		for _, seconds := range t {
			for at+1 < len(ends) && ends[at+1] <= seconds*1000 {
				at++
			}
			series[name] = append(series[name], values[at])
		}
	}
	return series
}
