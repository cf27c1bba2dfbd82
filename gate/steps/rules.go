package main

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/ddpgate/ddpgate/stat"
)

// A rule finds changes of level.
type rule struct {
	name string
	find func(values []float64) []stat.Break
}

func rules() []rule {
	return []rule{
		{"**ours**", func(v []float64) []stat.Break { return stat.Steps(v, 1) }},
		{"E-divisive means alone", func(v []float64) []stat.Break { return stat.Breaks(v, 1) }},
		{"step test on medians alone", stat.MedianBreaks},
		{"windowed t, 8 nights, .001", func(v []float64) []stat.Break { return stat.WindowBreaks(v, 8, 0.001) }},
	}
}

const (
	before   = 30 // nights before a step
	after    = 8  // and after it
	stepSize = 2  // in units of the noise
	stable   = 60 // nights of a series without a step
	within   = 3  // nights that a step may be misplaced by
)

// A score counts what a rule found.
type score struct {
	series, alarmed int // without a step
	steps, found    int
	wrong           int // found where there is none, or misplaced
}

func (s score) alarms() float64    { return float64(s.alarmed) / float64(max(1, s.series)) }
func (s score) recall() float64    { return float64(s.found) / float64(max(1, s.steps)) }
func (s score) precision() float64 { return float64(s.found) / float64(max(1, s.found+s.wrong)) }

// compare holds what was found against the truth.
func (s *score) compare(found []stat.Break, truth []int, within int) {
	taken := make(map[int]bool)
	s.steps += len(truth)
	for _, b := range found {
		hit := false
		for _, at := range truth {
			if !taken[at] && max(b.At-at, at-b.At) <= within {
				taken[at], hit = true, true
				s.found++
				break
			}
		}
		if !hit {
			s.wrong++
		}
	}
	if len(truth) == 0 {
		s.series++
		if len(found) > 0 {
			s.alarmed++
		}
	}
}

// rate scores a rule on noise alone, and on one step up or down.
func rate(r rule, m model, trials int, seed uint64, within int) score {
	rng := rand.New(rand.NewPCG(seed, 2))
	var s score
	for range trials {
		s.compare(r.find(m.make(rng, stable)), nil, within)
	}
	alarmed := s
	s = score{}
	for i := range trials {
		v := m.make(rng, before+after)
		for k := before; k < len(v); k++ {
			v[k] += stepSize * float64(1-2*(i%2))
		}
		s.compare(r.find(v), []int{before}, within)
	}
	s.series, s.alarmed = alarmed.series, alarmed.alarmed
	return s
}

func writeRules(w io.Writer, models []model, trials int, seed uint64) {
	fmt.Fprintf(w, "\nA step of %d σ with %d nights before and %d after it, up and down in turn; found means within %d nights. Alarms are series of %d nights without a step in which one was seen. %d series a cell, so that 5 %% is ±%.1f.\n\n",
		stepSize, before, after, within, stable, trials, 196*math.Sqrt(0.05*0.95/float64(trials)))
	fmt.Fprintln(w, "| noise | rule | precision | recall | within 2 nights | alarms |\n|---|---|--:|--:|--:|--:|")
	for _, m := range models {
		for _, r := range rules() {
			s, near := rate(r, m, trials, seed, within), rate(r, m, trials, seed, 2)
			fmt.Fprintf(w, "| %s | %s | %.2f | %.2f | %.2f | %.1f %% |\n", m.name, r.name, s.precision(), s.recall(), near.recall(), s.alarms()*100)
		}
	}
}

//go:embed labelled.csv
var labelled string

// A labelledSeries is one whose steps a person marked.
type labelledSeries struct {
	name   string
	steps  []int
	values []float64
}

func labelledSet() ([]labelledSeries, error) {
	rows, err := csv.NewReader(strings.NewReader(labelled)).ReadAll()
	if err != nil {
		return nil, err
	}
	var set []labelledSeries
	for _, row := range rows[1:] {
		s := labelledSeries{name: row[0]}
		for _, at := range strings.FieldsFunc(row[1], func(r rune) bool { return r == ';' }) {
			n, err := strconv.Atoi(at)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			s.steps = append(s.steps, n)
		}
		for value := range strings.SplitSeq(row[2], ";") {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			s.values = append(s.values, v)
		}
		set = append(set, s)
	}
	return set, nil
}

func rateLabelled(r rule, set []labelledSeries) score {
	var s score
	for _, l := range set {
		s.compare(r.find(logs(l.values)), l.steps, within)
	}
	return s
}

func writeLabelled(w io.Writer) error {
	set, err := labelledSet()
	if err != nil {
		return err
	}
	steps := 0
	for _, l := range set {
		steps += len(l.steps)
	}
	fmt.Fprintf(w, "\nThe labelled set, `gate/steps/labelled.csv`: %d series in the shapes that the suite's figures have, with %d steps.\n\n| rule | precision | recall | quiet series with an alarm |\n|---|--:|--:|--:|\n", len(set), steps)
	for _, r := range rules() {
		s := rateLabelled(r, set)
		fmt.Fprintf(w, "| %s | %.2f | %.2f | %d of %d |\n", r.name, s.precision(), s.recall(), s.alarmed, s.series)
	}
	return nil
}
