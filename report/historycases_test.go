package report

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
)

// A tale makes histories: what a night's metrics are, and what else is special about its record.
type tale struct {
	nights int
	levels func(night int) map[string]float64
	change func(night int, r *record.Record)
	accept map[int]string
}

// told judges a tale of records with five runs, each one shaken by its own small noise.
func (s tale) told(t testing.TB) *gate.History {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	var nights []gate.Night
	for i := range s.nights {
		rec := &record.Record{
			ID: fmt.Sprintf("sha256:%064x", i), Created: time.Date(2026, 1, 1+i, 3, 0, 0, 0, time.UTC), Commit: fmt.Sprintf("%x", sha1.Sum(fmt.Append(nil, i))), Repository: "meteor/meteor",
			Environment: record.Environment{Machine: "m1", CPU: "AMD EPYC 7763", Cores: 4, OS: "linux", Arch: "amd64"},
			Apps:        map[string]record.App{record.Head: {Version: fmt.Sprintf("3.1-beta.%d", i/10)}},
			Scenarios:   []record.Scenario{{Name: "tasks-reactive", Identity: "one"}},
		}
		own := 0.006 * rng.NormFloat64()
		for k := range 5 {
			run := record.Run{Arm: record.Head, Index: k, Pair: k, Outcome: record.OK, Metrics: make(map[string]float64), Sessions: record.Sessions{Planned: 240, Started: 240, OK: 240}}
			levels := s.levels(i)
			for _, name := range slices.Sorted(maps.Keys(levels)) {
				run.Metrics[name] = levels[name] * math.Exp(own+0.01*rng.NormFloat64())
			}
			rec.Scenarios[0].Runs = append(rec.Scenarios[0].Runs, run)
		}
		if s.change != nil {
			s.change(i, rec)
		}
		nights = append(nights, gate.Observe(rec, s.accept[i]))
	}
	h, err := gate.JudgeHistory(nights, gate.Policy{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// after is size from a night on, 0 before.
func after(night int, size float64) func(int) float64 {
	return func(n int) float64 {
		if n < night {
			return 0
		}
		return size
	}
}

// eventful has of all that can happen one: an open step, an accepted one, steps close together, a drift, a new machine, a spike, nights that are left out.
func eventful() tale {
	open, accepted, machine, down, up, again := after(70, 0.12), after(40, 0.15), after(25, 0.2), after(50, -0.1), after(56, 0.16), after(62, -0.12)
	return tale{
		nights: 100,
		levels: func(n int) map[string]float64 {
			slow := math.Exp(machine(n))
			m := map[string]float64{
				"time": 100 * math.Exp(open(n)) * slow, "ram": 4e8 * math.Exp(accepted(n)), "cpu_seconds": 60 * slow * math.Exp(down(n)+up(n)+again(n)),
				"session.wait.p50": 0.8 * slow * math.Exp(0.0012*float64(n)), "latency.insertTask.p95": 0.02 * slow, "startup": 2.2 * slow * math.Exp(accepted(n)),
			}
			if n == 85 {
				m["ram"] *= 1.6
			}
			return m
		},
		change: func(n int, r *record.Record) {
			if n >= 25 {
				r.Environment.CPU = "Intel Xeon Platinum 8370C"
			}
			switch n {
			case 10, 11:
				r.Scenarios[0].Identity = "another"
			case 33:
				for k := range r.Scenarios[0].Runs {
					r.Scenarios[0].Runs[k].Outcome, r.Scenarios[0].Runs[k].Reasons = record.Invalid, []string{"the driver used 91 % of its processors"}
				}
			}
		},
		accept: map[int]string{42: "the new driver keeps its buffers"},
	}
}

// paired is measured beside a build that is replaced once, on another machine each night.
func paired() tale {
	step := after(30, 0.08)
	return tale{
		nights: 60,
		levels: func(n int) map[string]float64 {
			return map[string]float64{"time": 100 * math.Exp(step(n)), "cpu_seconds": 60, "ram": 4e8}
		},
		change: func(n int, r *record.Record) {
			r.Environment.Machine = fmt.Sprint("m", n)
			base, pin := 0.0, "3.0.4"
			if n >= 45 {
				base, pin = 0.08, "3.1-beta.3"
			}
			r.Apps[record.Base] = record.App{Version: pin}
			for _, run := range slices.Clone(r.Scenarios[0].Runs) {
				run.Arm, run.Metrics = record.Base, map[string]float64{"time": 100 * math.Exp(base), "cpu_seconds": 60, "ram": 4e8}
				r.Scenarios[0].Runs = append(r.Scenarios[0].Runs, run)
			}
		},
		accept: map[int]string{45: "the pin moves"},
	}
}

// fleet runs on either of two kinds of machine each night.
func fleet() tale {
	rng := rand.New(rand.NewPCG(3, 3))
	kinds := make([]bool, 80)
	for i := range kinds {
		kinds[i] = rng.IntN(2) == 0
	}
	step := after(50, 0.1)
	return tale{
		nights: len(kinds),
		levels: func(n int) map[string]float64 {
			v := 100 * math.Exp(step(n))
			if kinds[n] {
				v *= 1.2
			}
			return map[string]float64{"time": v, "ram": 4e8}
		},
		change: func(n int, r *record.Record) {
			r.Environment.Machine = fmt.Sprint("m", n)
			if kinds[n] {
				r.Environment.CPU = "Intel Xeon"
			}
		},
	}
}

// creeping drifts by so little a night that there is no step to see, and changes its level often in one week.
func creeping() tale {
	return tale{nights: 110, levels: func(n int) map[string]float64 {
		jump := math.Pow(1.3, float64(min(4, max(0, n/3-20))))
		if n >= 75 {
			jump = 1
		}
		return map[string]float64{"time": 100 * math.Exp(0.0011*float64(n)), "ram": 4e8 * jump}
	}}
}

// hostileTale says in each name what a page must not obey.
func hostileTale(evil string) tale {
	s := eventful()
	s.nights, s.accept = 60, map[int]string{42: evil}
	tame := s.change
	s.change = func(n int, r *record.Record) {
		tame(n, r)
		r.Commit, r.Repository, r.Scenarios[0].Name, r.Environment.CPU = fmt.Sprint(evil, n), evil+"/x", evil, evil
		r.Apps[record.Head] = record.App{Version: fmt.Sprint(evil, n)}
		for k := range r.Scenarios[0].Runs {
			if r.Scenarios[0].Runs[k].Reasons != nil {
				r.Scenarios[0].Runs[k].Reasons = []string{evil}
			}
		}
	}
	return s
}

// histories are those that tests look at, by name.
func histories(t testing.TB) map[string]*gate.History {
	quiet, short := eventful(), eventful()
	quiet.levels = func(int) map[string]float64 { return map[string]float64{"time": 100, "ram": 4e8} }
	quiet.change, quiet.accept, short.nights = nil, nil, 3
	return map[string]*gate.History{
		"eventful": eventful().told(t), "paired": paired().told(t), "fleet": fleet().told(t), "creeping": creeping().told(t), "quiet": quiet.told(t), "short": short.told(t),
		"hostile": hostileTale(evil).told(t), "none": tale{}.told(t),
	}
}

// long has a thousand nights of twelve metrics, with a step in each somewhere.
func long(nights int) tale {
	names := []string{"time", "cpu_seconds", "ram", "session.wait.p50", "session.p50", "session.p95", "session.p99", "session.max", "cpu", "ram_peak", "throughput", "startup"}
	return tale{nights: nights, levels: func(n int) map[string]float64 {
		m := make(map[string]float64)
		for i, name := range names {
			m[name] = 100 * math.Exp(0.08*math.Sin(float64((n+40*i)/150)*2))
		}
		return m
	}}
}

func historyIn(t testing.TB, format string, h *gate.History) []byte {
	t.Helper()
	var out bytes.Buffer
	write := map[string]func(io.Writer, string, *gate.History, HistoryOptions) error{"html": HistoryHTML, "svg": HistorySVG}[format]
	if err := write(&out, "main", h, HistoryOptions{}); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return out.Bytes()
}
