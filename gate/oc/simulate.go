package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
)

// A cell is one place of a table: a situation, simulated many times.
type cell struct {
	model   model
	n       int     // runs a side
	change  float64 // of the first metric, a ratio
	metrics int
	stored  bool // against a stored baseline; else interleaved
	earlier int  // records of the same scenario that the gate knows
	looks   gate.Looks
	beside  bool // ask the rivals too
}

// A tally counts what a cell's trials said.
type tally struct {
	trials                 int
	failed, passed         int // builds
	metricFail, metricPass int // the metric that changed
	runs                   int // pairs or runs a side that were made
	rivals                 []int
}

// share returns a count's share in percent and its Monte Carlo error, one standard deviation; of none or all, that of one trial.
func (t tally) share(count int) (percent, err float64) {
	n := float64(t.trials)
	p := float64(count) / n
	q := max(1/n, min(1-1/n, p))
	return p * 100, math.Sqrt(q*(1-q)/n) * 100
}

func (t tally) String(count int) string {
	p, err := t.share(count)
	return fmt.Sprintf("%.1f ±%.1f", p, err)
}

// simulate judges a cell's situation so often. The same seed gives the same tally.
func (c cell) simulate(seed uint64, trials int) (tally, error) {
	r := rand.New(rand.NewPCG(seed, uint64(c.n)<<32|math.Float64bits(c.change)>>32))
	t := tally{trials: trials, rivals: make([]int, len(rivals))}
	p := policy(c.metrics)
	p.Looks = c.looks
	for range trials {
		for i := range min(c.earlier, len(p.History)) {
			p.History[i] = nil
		}
		p.History = p.History[:0]
		for range c.earlier {
			p.History = append(p.History, c.past(r))
		}
		a, made, base, head, err := c.trial(r, p)
		if err != nil {
			return tally{}, err
		}
		t.count(a, made)
		if c.beside {
			t.alarms(base, head, c.metrics)
		}
	}
	return t, nil
}

// past makes an earlier record of the kind that the cell judges.
func (c cell) past(r *rand.Rand) *record.Record {
	if c.stored {
		return c.model.alone(r, c.n, c.metrics, 1)
	}
	rec := empty(r)
	c.model.pairs(r, rec, c.n, c.metrics, 1)
	return rec
}

// trial makes one record or two, and judges.
func (c cell) trial(r *rand.Rand, p gate.Policy) (a answer, made int, base, head *record.Record, err error) {
	var v *gate.Verdict
	if c.stored {
		base, head = c.model.alone(r, c.n, c.metrics, 1), c.model.alone(r, c.n, c.metrics, 1+c.change)
		v, err = gate.Judge(base, head, p)
	} else {
		head = empty(r)
		for _, n := range c.lengths() {
			made = n
			c.model.pairs(r, head, n, c.metrics, 1+c.change)
			if done, _, err := gate.Settled(nil, head, p, 1); err != nil || done {
				break
			}
		}
		v, err = gate.JudgePairs(head, p)
	}
	if err != nil {
		return answer{}, 0, nil, nil, err
	}
	return answerOf(v), made, base, head, nil
}

// lengths returns the numbers of pairs at which a record may end.
func (c cell) lengths() []int {
	if c.looks.Max == 0 {
		return []int{c.n}
	}
	return c.looks.At()
}

func (t *tally) count(a answer, made int) {
	t.runs += made
	switch {
	case a.build == gate.Regression:
		t.failed++
	case a.build.Passed():
		t.passed++
	}
	switch {
	case a.metric == gate.Regression:
		t.metricFail++
	case a.metric.Passed():
		t.metricPass++
	}
}

// alarms asks the rivals about every metric; one alarm is enough to fail a build.
func (t *tally) alarms(base, head *record.Record, metrics int) {
	from := record.Head
	if base == nil {
		base, from = head, record.Base
	}
	for i, rule := range rivals {
		for _, name := range gated[:metrics] {
			if rule.alarm(logs(base, from, name), logs(head, record.Head, name)) {
				t.rivals[i]++
				break
			}
		}
	}
}
