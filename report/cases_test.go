package report

import (
	"math"
	"time"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
)

var nan = math.NaN()

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// run returns a run that is in order, with plausible figures; worse multiplies those that a slower app makes worse.
func run(arm string, index int, worse float64) record.Run {
	wobble := 1 + 0.004*float64(index%3)
	return record.Run{
		Arm: arm, Index: index, Pair: index, Started: noon.Add(time.Duration(index) * time.Minute), Outcome: record.OK, LimitedBy: "none",
		Sessions: record.Sessions{Planned: 240, Started: 240, OK: 240},
		Metrics: map[string]float64{
			"time": 86.2 * wobble, "session.wait.p50": 0.0034 * worse * wobble, "cpu_seconds": 40.1 * worse * wobble, "cpu": 0.465 * worse * wobble, "ram": 442e6 * wobble,
			"ok": 1, "throughput": 111.4, "startup": 1.31 * wobble, "latency.removeAllTasks.updated.p95": 0.00098 * worse * wobble, "db.ram": 1.31e9, "driver.lag.p99": 0.0021,
		},
	}
}

// bothArms returns runs of both arms in turns.
func bothArms(n int, worse float64) []record.Run {
	var runs []record.Run
	for i := range n {
		runs = append(runs, run(record.Base, i, 1), run(record.Head, i, worse))
	}
	return runs
}

func newRecord(runs ...record.Run) *record.Record {
	return &record.Record{
		Format: record.Format, ID: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", Created: noon,
		Tool: record.Tool{Version: "1.0.0"}, Commit: "4f2a91c07be1d3a8",
		Environment: record.Environment{Machine: "a1b2", CPU: "AMD EPYC 7763 64-Core Processor", Cores: 4, Memory: 16.8e9, OS: "linux", Arch: "amd64", Kernel: "6.8.0"},
		Apps:        map[string]record.App{record.Base: {Version: "3.0.4"}, record.Head: {Version: "3.1.0-rc.2"}},
		Scenarios:   []record.Scenario{{Name: "tasks-reactive", Identity: "sha256:1", Load: record.Load{Rate: 4, For: 60}, Runs: runs}},
	}
}

// finding returns what the gate finds, from figures in base units and limits as ratios.
func finding(name string, o gate.Outcome, base, head, lower, upper, threshold float64) gate.Finding {
	def, ok := metric.Lookup(name)
	if !ok {
		panic("no metric " + name)
	}
	f := gate.Finding{
		Scenario: "tasks-reactive", Metric: name, Unit: string(def.Unit), Outcome: o, Gated: def.Gated, Base: base, Head: head, Change: head/base - 1,
		Lower: lower, Upper: upper, LowerLevel: 0.9975, UpperLevel: 0.95, Threshold: threshold, NBase: 5, NHead: 5, SmallestVisible: 0.041, Method: "paired-t-log",
	}
	if def.Counts {
		f.Change = head - base
	}
	return f
}

// floored sets the smallest change in base units that counts.
func floored(f gate.Finding, floor float64) gate.Finding {
	f.Floor, f.Threshold = floor, max(f.Threshold, floor/f.Base)
	return f
}

func regressed() Comparison {
	return Comparison{
		Head: newRecord(bothArms(5, 1.123)...),
		Verdict: &gate.Verdict{
			Outcome: gate.Regression, Reason: "cpu_seconds of tasks-reactive rose by 12.3 % (threshold 5 %)",
			Design: gate.Pairs, Confidence: 0.99, Environment: gate.Environment{Match: gate.Identical},
			Metrics: []gate.Finding{
				finding("time", gate.Pass, 86.2, 86.4, -0.009, 0.014, 0.05),
				floored(finding("session.wait.p50", gate.Pass, 0.0034, 0.00362, 0.011, 0.081, 0.10), 0.020),
				finding("cpu_seconds", gate.Regression, 40.1, 45.03, 0.081, 0.167, 0.05),
				finding("ram", gate.Improvement, 442e6, 381e6, -0.165, -0.112, 0.10),
				finding("ok", gate.Pass, 1, 0.9992, -0.004, 0, 0.01),
				finding("session.p95", gate.Pass, 25.4, 25.6, -0.01, 0.02, 0.10),
				finding("cpu", gate.Regression, 1.034, 1.16, 0.079, 0.164, 0.05),
				finding("throughput", gate.Pass, 111.4, 111.1, -0.01, 0.01, 0.10),
				finding("latency.insertTask.p95", gate.Pass, 0.0031, 0.0032, -0.02, 0.09, 0.10),
				finding("latency.removeAllTasks.updated.p95", gate.Regression, 0.00098, 0.00149, 0.43, 0.62, 0.10),
				finding("db.ram", gate.Pass, 1.31e9, 1.30e9, -0.03, 0.02, 0.10),
				finding("driver.lag.p99", gate.Inconclusive, 0.0021, 0.0019, nan, nan, 0.10),
				finding("host.steal", gate.Inconclusive, nan, nan, nan, nan, 0.10),
			},
		},
	}
}

func passed() Comparison {
	base, head := newRecord(), newRecord()
	base.Created, base.Apps[record.Head] = noon.Add(-72*time.Hour), record.App{Version: "3.0.4"}
	for i := range 10 {
		head.Scenarios[0].Runs = append(head.Scenarios[0].Runs, run(record.Head, i, 1))
		base.Scenarios[0].Runs = append(base.Scenarios[0].Runs, run(record.Head, i, 1))
	}
	v := &gate.Verdict{
		Outcome: gate.Pass, Reason: "no gated metric is worse by its threshold", Design: gate.SameMachine, Confidence: 0.99,
		Environment: gate.Environment{Match: gate.Identical},
		Metrics: []gate.Finding{
			finding("time", gate.Pass, 162.4, 162.1, -0.012, 0.008, 0.05), finding("cpu_seconds", gate.Pass, 188, 187, -0.021, 0.013, 0.05),
			finding("ram", gate.Pass, 442e6, 447e6, -0.012, 0.035, 0.12), finding("ok", gate.Pass, 1, 1, -0.002, 0, 0.01),
		},
	}
	for i := range v.Metrics {
		v.Metrics[i].NBase, v.Metrics[i].NHead = 10, 10
	}
	v.Metrics[2].Accepted = &gate.Acceptance{Metric: "ram", Change: 0.12, Reason: "driver upgrade", Until: "2027-03-01"}
	v.Metrics[2].NHead, v.Metrics[2].Warnings = 9, []string{"1 of 10 runs of head do not count: the meter lost the process"}
	return Comparison{Verdict: v, Base: base, Head: head}
}

func undecided() Comparison {
	c := regressed()
	v := c.Verdict
	v.Outcome, v.Reason = gate.Inconclusive, "ram of tasks-reactive is not settled: between -4.2 % and +12.9 % (threshold 10 %)"
	v.Design, v.Warnings = gate.OtherMachines, []string{"base was measured on another machine: differences between machines count as noise"}
	v.Environment = gate.Environment{Match: gate.Compatible, Differs: []string{"kernel: 6.8.0 in base, 6.11.0 in head", "machine: a1b2 in base, c3d4 in head"}}
	ram := finding("ram", gate.Inconclusive, 442e6, 459e6, -0.042, 0.129, 0.10)
	ram.Reason, ram.RunsNeeded, ram.SmallestVisible = "the change may be on either side of the threshold", 12, 0.17
	wait := finding("session.wait.p50", gate.Inconclusive, nan, 0.0034, math.Inf(-1), math.Inf(1), 0.10)
	wait.Reason, wait.NBase, wait.Change, wait.SmallestVisible = "base does not have it", 0, nan, nan
	v.Metrics = []gate.Finding{finding("time", gate.Pass, 86.2, 86.4, -0.009, 0.014, 0.05), wait, ram}
	v.Discarded = []gate.Discarded{
		{Scenario: "tasks-reactive", Arm: record.Head, Index: 3, Reasons: []string{"the driver used 91 % of its processors, more than 80 %", "sessions started late: p99 72 ms"}},
		{Scenario: "tasks-reactive", Arm: record.Base, Index: 0, Reasons: []string{"steal was 4.1 %, more than 2 %"}},
	}
	return c
}

func died() Comparison {
	runs := bothArms(2, 1)
	for i := range runs {
		if r := &runs[i]; r.Arm == record.Head {
			r.Outcome, r.Died, r.Reasons = record.Failed, true, []string{"the app died: exit status 134"}
			r.Sessions = record.Sessions{Planned: 240, Started: 238, OK: 180 - i, Failed: 58 + i, Dropped: 2}
			r.Errors = []record.Error{
				{Cause: "the app died", Count: 55 + i, Example: "session 181: read tcp 127.0.0.1:50412->127.0.0.1:3000: connection reset by peer"},
				{Cause: "timed out in step 4 (await taskCollection)", Count: 3, Example: "timed out in step 4 (await taskCollection)"},
			}
			r.Output = []string{"<--- Last few GCs --->", "", "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", "    at processTicksAndRejections (node:internal/process/task_queues:95:5)"}
		}
	}
	v := &gate.Verdict{
		Outcome: gate.Regression, Reason: "the app died in 2 of 2 runs of head of tasks-reactive, in none of base", Design: gate.Pairs, Confidence: 0.99,
		Environment: gate.Environment{Match: gate.Identical},
		Metrics: []gate.Finding{
			finding("time", gate.Inconclusive, 86.2, nan, nan, nan, 0.05), finding("ram", gate.Inconclusive, 442e6, nan, nan, nan, 0.10),
			finding("ok", gate.Regression, 1, 0.748, -0.31, -0.2, 0.01),
		},
	}
	for i := range v.Metrics {
		f := &v.Metrics[i]
		f.NBase, f.NHead, f.SmallestVisible = 2, 2, nan
		f.Reason = "the app died in 2 of 2 runs of head, in none of base"
		if f.Outcome == gate.Inconclusive {
			f.Reason, f.NHead, f.Warnings = "no run counts", 0, []string{"2 of 2 runs of head do not count: the app died"}
		}
	}
	return Comparison{Verdict: v, Head: newRecord(runs...)}
}

func unjudged() Comparison {
	r := newRecord(bothArms(3, 1.2)...)
	for i := range r.Scenarios[0].Runs {
		if run := &r.Scenarios[0].Runs[i]; run.Arm == record.Base {
			run.Arm, run.Index = record.Head, run.Index+3
		}
	}
	delete(r.Apps, record.Base)
	odd := &r.Scenarios[0].Runs[5]
	odd.Outcome, odd.Reasons = record.Invalid, []string{"steal was 4.1 %, more than 2 %"}
	r.Interrupted = true
	r.Scenarios = append(r.Scenarios, record.Scenario{Name: "idle", Load: record.Load{Rate: 0.5, For: 10}})
	return Comparison{Head: r}
}

func alone() Comparison {
	c := unjudged()
	c.Head.Interrupted = false
	c.Verdict = &gate.Verdict{Outcome: gate.Inconclusive, Reason: `no baseline under key "main" in dir:.ddpgate/baselines`, Design: gate.Alone, Confidence: 0.99}
	return c
}

// driven is a comparison of two records whose loads came from two regions, in one of which a worker was lost once and a job came twice.
func driven() Comparison {
	c := passed()
	c.Base.Scenarios[0].Runs, c.Head.Scenarios[0].Runs = c.Base.Scenarios[0].Runs[:4], c.Head.Scenarios[0].Runs[:4]
	v := c.Verdict
	v.Metrics = v.Metrics[:2]
	for i := range v.Metrics {
		v.Metrics[i].NBase, v.Metrics[i].NHead = 4, 4
	}
	v.Environment.Drivers = make(map[string]record.Drivers)
	for arm, r := range map[string]*record.Record{record.Base: c.Base, record.Head: c.Head} {
		for i := range r.Scenarios[0].Runs {
			shareOut(&r.Scenarios[0].Runs[i])
		}
		v.Environment.Drivers[arm] = r.Drivers(record.Head)
	}
	odd := &c.Head.Scenarios[0].Runs[3]
	odd.Outcome, odd.Reasons = record.Invalid, []string{"worker 2 of 4 in us-east-1: it gave no answer in time"}
	odd.Shards[1].Worker, odd.Shards[1].Fault = "", "it gave no answer in time"
	odd.Shards[0].Duplicates = 1
	v.Discarded = []gate.Discarded{{Scenario: "tasks-reactive", Arm: record.Head, Index: 3, Reasons: odd.Reasons}}
	v.Metrics[1].NHead = 3
	return c
}

// shareOut has four workers in two regions drive a run.
func shareOut(r *record.Run) {
	r.Regions = make(map[string]map[string]float64)
	for i, region := range []string{"eu-central-1", "us-east-1", "eu-central-1", "us-east-1"} {
		r.Shards = append(r.Shards, record.Shard{Shard: i, Worker: "w", Region: region, Sessions: 60})
		far := 1 + 30*float64(i%2) + 0.1*float64(r.Index)
		r.Regions[region] = map[string]float64{"session.p50": 0.004 * far, "session.p95": 0.007 * far, "session.p99": 0.02, "latency.insertTask.p50": 0.002 * far, "ok": 1}
	}
	delete(r.Regions["us-east-1"], "latency.insertTask.p50") // all of its attempts failed
}

// evil is text that tries to be obeyed.
const evil = "\x1b[31mred\u202e @octocat #12 <img src=x onerror=y> <!-- ddpgate --> ![p](http://e.vil/p) [l](//e.vil) `a``` | \\| www.e.vil\r\n## head\n* \x00\xff"

func hostile() Comparison {
	c := died()
	c.Head.Scenarios[0].Name = evil
	c.Head.Apps[record.Head] = record.App{Version: evil}
	c.Head.Environment.CPU = evil
	c.Head.Commit = evil
	for i := range c.Head.Scenarios[0].Runs {
		r := &c.Head.Scenarios[0].Runs[i]
		r.Reasons, r.Errors, r.Output = []string{evil}, []record.Error{{Cause: evil, Count: 1, Example: "e.g. " + evil}}, []string{"```", evil, "````", "</details>", "<!-- ddpgate -->"}
	}
	v := c.Verdict
	v.Reason, v.Warnings = "time of "+evil+" rose", []string{evil}
	v.Environment = gate.Environment{Match: gate.Mismatched, Differs: []string{"cpu: " + evil}}
	v.Discarded = []gate.Discarded{{Scenario: evil, Arm: evil, Reasons: []string{evil}}}
	for i := range v.Metrics {
		f := &v.Metrics[i]
		f.Scenario, f.Reason, f.Warnings = evil, evil, []string{evil}
		f.Accepted = &gate.Acceptance{Reason: evil, Until: evil, Change: 0.1}
	}
	for i := range c.Head.Scenarios[0].Runs {
		r := &c.Head.Scenarios[0].Runs[i]
		r.Shards = []record.Shard{{Worker: evil, Region: evil, Machine: evil, Fault: evil}}
		r.Regions = map[string]map[string]float64{evil: {"session.p50": 1, "latency." + evil + ".p95": 2}}
	}
	odd := finding("latency.x.p95", gate.Pass, 1, 1, 0, 0, 0.1)
	odd.Scenario, odd.Metric = evil, "latency."+evil+".p95"
	v.Metrics = append(v.Metrics, odd)
	return c
}

// cases are the reports that have golden files.
func cases() map[string]Comparison {
	return map[string]Comparison{
		"regression": regressed(), "pass": passed(), "inconclusive": undecided(), "died": died(), "unjudged": unjudged(), "alone": alone(),
		"hostile": hostile(), "nothing": {}, "driven": driven(),
	}
}
