package record

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/metric"
)

// An artilleryLog is what Meteor's performance suite printed of one run: Artillery's reports, between the lines of two monitors that
// write to the same file at the same time.
type artilleryLog struct {
	app      string // tasks-3.x
	version  string // as the header says it
	release  string // the project's, where a checkout overrides it
	function string // the scenario's test function
	created  string // as the header says it
	zone     string // (+0100), as the phase says it
	rate     float64
	length   float64 // of arrivals, s
	total    float64 // s
	sessions map[string]int
	length95 map[string]float64 // session lengths, ms
	failures []Error
	samples  map[string]*samples
	averages averages
	summary  bool   // in the summary at the end, not in the report of a period
	group    string // the heading that indented lines are under
}

// samples are a monitor's lines, one every ten seconds or so; the averages at the end rest on more.
type samples struct{ cpu, memory []float64 }

// averages are the monitors' last words, in the order in which they stand: each monitor prints its name, its CPU, its memory.
type averages struct {
	names       []string
	cpu, memory []float64
}

var artilleryLines = struct {
	sample, app, version, checkout, total, count, stat, header *regexp.Regexp
}{
	sample:   regexp.MustCompile(`^(APP|DB) \| Cpu ([0-9.eE+-]+) Memory ([0-9.eE+-]+)$`),
	app:      regexp.MustCompile(`^\[\[\[\[\[ .*?([^/ ]+) \]\]\]\]\]$`),
	version:  regexp.MustCompile(`^ *Meteor (?:checkout )?version - (?:METEOR@)?(\S+)`),
	checkout: regexp.MustCompile(`Running Meteor from a checkout .*\(Meteor ([^)]+)\)`),
	total:    regexp.MustCompile(`^All VUs finished\. Total time: (.+)$`),
	count:    regexp.MustCompile(`^(vusers\.[a-z_]+|errors\..+?): \.* ?([0-9]+)$`),
	stat:     regexp.MustCompile(`^  (max|mean|median|p95|p99): \.* ?([0-9.]+)$`),
	header:   regexp.MustCompile(`Artillery Configuration - (.+?)\s*$`),
}

func importArtillery(name string, b []byte, o Importing) (*Record, error) {
	l := artilleryLog{sessions: make(map[string]int), length95: make(map[string]float64), samples: map[string]*samples{"APP": {}, "DB": {}}}
	for line := range strings.Lines(string(b)) {
		l.line(strings.TrimRight(line, "\r\n"))
	}
	if l.total == 0 {
		return nil, errors.New("it has no total time: not a log of the suite, or of a run that did not end")
	}
	l.complete(name, &o)
	load := Load{Rate: l.rate, For: l.length}
	if load.Rate == 0 && load.For > 0 {
		load.Rate = float64(l.sessions["created"]) / load.For
	}
	rec := newImport("artillery-log", o, load, "")
	rec.Scenarios[0].Runs = []Run{l.run(rec.Created)}
	return rec, nil
}

func (l *artilleryLog) line(s string) {
	re := artilleryLines
	switch {
	case strings.HasPrefix(s, "Summary report @"):
		l.summary, l.failures = true, nil
	case re.sample.MatchString(s):
		m := re.sample.FindStringSubmatch(s)
		l.samples[m[1]].add(number(m[2]), number(m[3]))
	case re.app.MatchString(s):
		l.app = re.app.FindStringSubmatch(s)[1]
	case re.version.MatchString(s):
		l.version = re.version.FindStringSubmatch(s)[1]
	case re.checkout.MatchString(s):
		l.release = re.checkout.FindStringSubmatch(s)[1]
	case re.header.MatchString(s):
		l.created = re.header.FindStringSubmatch(s)[1]
	case re.total.MatchString(s):
		l.total = totalTime(re.total.FindStringSubmatch(s)[1])
	default:
		l.words(s)
		l.figures(s)
	}
}

// words reads the configuration that newer logs repeat, and the phase that all announce.
func (l *artilleryLog) words(s string) {
	text := strings.TrimLeft(s, " -")
	if v, found := strings.CutPrefix(text, "arrivalRate: "); found {
		l.rate = number(v)
	}
	if v, found := strings.CutPrefix(text, "testFunction: "); found {
		l.function = strings.Trim(v, `'"`)
	}
	if _, v, found := strings.Cut(s, "duration: "); found && strings.HasPrefix(s, "Phase started") {
		v, zone, _ := strings.Cut(v, "s)")
		l.length, l.zone = number(v), zone[max(0, len(zone)-len("(+0100)")):]
	}
}

// figures reads the summary and the monitors' last words.
func (l *artilleryLog) figures(s string) {
	if !l.summary {
		return
	}
	if m := artilleryLines.count.FindStringSubmatch(s); m != nil {
		if cause, found := strings.CutPrefix(m[1], "errors."); found {
			l.failures = append(l.failures, Error{Cause: cause, Count: int(number(m[2]))})
		} else {
			l.sessions[strings.TrimPrefix(m[1], "vusers.")] = int(number(m[2]))
		}
	} else if m := artilleryLines.stat.FindStringSubmatch(s); m != nil {
		if l.group == "vusers.session_length" {
			l.length95[m[1]] = number(m[2])
		}
	} else if s == "APP" || s == "DB" {
		l.averages.names = append(l.averages.names, s)
	} else if v, found := strings.CutPrefix(s, "Average CPU usage (%): "); found {
		l.averages.cpu = append(l.averages.cpu, number(v)/100)
	} else if v, found := strings.CutPrefix(s, "Average Memory usage (bytes): "); found {
		bytes, err := parseFigure(v, metric.Bytes)
		if err != nil {
			bytes = math.NaN()
		}
		l.averages.memory = append(l.averages.memory, bytes)
	} else if strings.HasSuffix(s, ":") && !strings.HasPrefix(s, " ") {
		l.group = strings.TrimSuffix(s, ":")
	}
}

// add takes a sample. The first one says 0 for the CPU whatever was used; a process without memory is none: its monitor outlived it.
func (m *samples) add(cpu, memory float64) {
	if memory > 0 {
		m.cpu, m.memory = append(m.cpu, cpu/100), append(m.memory, memory)
	}
}

// series returns the samples without the first.
func (m *samples) series() (cpu, memory []float64) {
	if len(m.cpu) == 0 {
		return nil, nil
	}
	return m.cpu[1:], m.memory[1:]
}

// complete says what the file does not, from its name.
func (l *artilleryLog) complete(name string, o *Importing) {
	if o.Scenario == "" {
		o.Scenario = "tasks-reactive"
		in := strings.ToLower(l.function)
		if in == "" {
			in = strings.ToLower(filepath.Base(name))
		}
		if strings.Contains(in, "nonreactive") || strings.Contains(in, "non-reactive") {
			o.Scenario = "tasks-nonreactive"
		}
	}
	if o.Version == "" {
		o.Version = l.version
		switch {
		case l.version != "" && l.release != "":
			o.Version = fmt.Sprintf("%.12s (checkout of %s)", l.version, l.release)
		case l.release != "":
			o.Version = "checkout of " + l.release
		case l.version == "":
			o.Version = l.app
		}
	}
	if t := headerTime(l.created, l.zone); !t.IsZero() {
		o.Created = t
	}
}

// run returns the run with the figures that the suite's reports publish.
func (l *artilleryLog) run(started time.Time) Run {
	run := Run{Arm: Head, Started: started, Outcome: OK, Metrics: map[string]float64{"time": l.total}, Errors: l.failures}
	run.Sessions = Sessions{Planned: l.sessions["created"], Started: l.sessions["created"], OK: l.sessions["completed"], Failed: l.sessions["failed"]}
	if lost := run.Sessions.Started - run.Sessions.OK - run.Sessions.Failed; lost > 0 {
		run.Sessions.Failed += lost
	}
	if run.Sessions.Failed > 0 {
		run.Outcome = Failed
	}
	for name, of := range map[string]string{"session.p50": "median", "session.p95": "p95", "session.p99": "p99", "session.max": "max"} {
		if ms, found := l.length95[of]; found {
			run.Metrics[name] = round(ms / 1e3)
		}
	}
	series := make(map[string][]float64)
	for monitor, role := range map[string]string{"APP": "app", "DB": "db"} {
		cpu, memory := l.samples[monitor].series()
		if len(cpu) > 0 {
			series[role+".cpu"], series[role+".ram"] = cpu, memory
		}
	}
	l.averages.give(run.Metrics, l.samples)
	derive(run.Metrics)
	run.Series = evenly(series, l.total)
	return run
}

// evenly gives series their common time: the lines carry none, and come at equal distances. A monitor that wrote a line more than the other loses it.
func evenly(series map[string][]float64, total float64) map[string][]float64 {
	n := math.MaxInt
	for _, points := range series {
		n = min(n, len(points))
	}
	if len(series) == 0 || n == 0 {
		return nil
	}
	t := make([]float64, n)
	for i := range t {
		t[i] = round(total * float64(i+1) / float64(n))
	}
	for name := range series {
		series[name] = series[name][:n]
	}
	series["t"] = t
	return series
}

func number(s string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// totalTime reads 2 minutes, 42 seconds. It returns 0 for what is none.
func totalTime(s string) float64 {
	total := 0.0
	for part := range strings.SplitSeq(s, ",") {
		fields := strings.Fields(part)
		if len(fields) != 2 {
			return 0
		}
		factor, known := map[string]float64{"second": 1, "minute": 60, "hour": 3600, "day": 86400}[strings.TrimSuffix(fields[1], "s")]
		n, err := strconv.ParseFloat(fields[0], 64)
		if !known || err != nil || !(n >= 0) {
			return 0
		}
		total += n * factor
	}
	return total
}

// headerTime reads the time at which newer logs begin. The name of its zone says nothing for sure, the phase's offset does.
func headerTime(s, zone string) time.Time {
	fields := strings.Fields(s)
	if len(fields) != 7 {
		return time.Time{}
	}
	t, err := time.Parse("Mon Jan 2 03:04:05 PM 2006 (-0700)", strings.Join(append(fields[:5:5], fields[6], zone), " "))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
