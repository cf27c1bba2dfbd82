package cgroup

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Figure is what a control group tells.
type Figure string

// The figures. Counters grow from the birth of the group on; what the groups below it used is in them.
const (
	CPU       Figure = "cpu"       // s, counter
	Throttled Figure = "throttled" // s in which the group had to wait for its quota, counter
	Anon      Figure = "anon"      // bytes that belong to no file
	File      Figure = "file"      // bytes of file cache, shared memory without a file included
	Shared    Figure = "shared"    // bytes of shared memory without a file
	Peak      Figure = "peak"      // bytes, most that was ever charged
	OOMKills  Figure = "oom_kills" // processes killed for want of memory, counter
)

// A place is where a figure may stand.
type place struct {
	file string
	key  string  // of the line, empty where the file is one number
	unit float64 // of the number, in the figure's
}

// places has version 1 first, because its files stand only where it is in charge.
var places = map[Figure][]place{
	CPU:       {{"cpuacct.usage", "", 1e-9}, {"cpu.stat", "usage_usec", 1e-6}},
	Throttled: {{"cpu.stat", "throttled_time", 1e-9}, {"cpu.stat", "throttled_usec", 1e-6}},
	Anon:      {{"memory.stat", "total_rss", 1}, {"memory.stat", "anon", 1}},
	File:      {{"memory.stat", "total_cache", 1}, {"memory.stat", "file", 1}},
	Shared:    {{"memory.stat", "total_shmem", 1}, {"memory.stat", "shmem", 1}},
	Peak:      {{"memory.max_usage_in_bytes", "", 1}, {"memory.peak", "", 1}},
	OOMKills:  {{"memory.oom_control", "oom_kill", 1}, {"memory.events", "oom_kill", 1}},
}

// A Reading is what the groups of one process tell.
type Reading struct {
	Values map[Figure]float64
	// Missing is why a figure is not among the values: it is never 0 for want of a reading.
	Missing map[Figure]string
}

// Read reads the groups in the directories, one for each hierarchy.
func Read(directories []string) Reading {
	r := Reading{make(map[Figure]float64), make(map[Figure]string)}
	files := make(map[string]contents)
	for figure, where := range places {
		value, err := find(directories, where, files)
		if err != nil {
			r.Missing[figure] = err.Error()
			continue
		}
		r.Values[figure] = value
	}
	return r
}

// contents is a file that was read.
type contents struct {
	text []byte
	err  error
}

// find returns a figure from the first place that has it.
func find(directories []string, where []place, files map[string]contents) (float64, error) {
	var refused error
	for _, p := range where {
		for _, dir := range directories {
			path := filepath.Join(dir, p.file)
			c, known := files[path]
			if !known {
				c.text, c.err = os.ReadFile(path)
				files[path] = c
			}
			n, err := number(c.text, p.key)
			switch {
			case errors.Is(c.err, fs.ErrNotExist), c.err == nil && errors.Is(err, errNoLine):
			case c.err != nil:
				refused = c.err
			case err != nil:
				refused = fmt.Errorf("%s: %w", path, err)
			default:
				return n * p.unit, nil
			}
		}
	}
	if refused != nil {
		return 0, refused
	}
	return 0, errors.New("the control group does not account for it")
}

var errNoLine = errors.New("no such line")

// number returns the file's one number, or the one on the line of a key.
func number(text []byte, key string) (float64, error) {
	if key == "" {
		return strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if k, v, _ := strings.Cut(lines.Text(), " "); k == key {
			return strconv.ParseFloat(strings.TrimSpace(v), 64)
		}
	}
	return 0, errNoLine
}
