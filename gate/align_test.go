package gate

import (
	"fmt"
	"math"
	"testing"

	"github.com/ddpgate/ddpgate/record"
)

// beside adds a night that measures head beside a pinned build, each as so many times the usual level, on a machine of its own.
func (s *season) beside(pin string, base, head float64, more ...func(*record.Record)) {
	speed := math.Exp(0.3 * s.rng.NormFloat64())
	machine := fmt.Sprint("m", len(s.made))
	s.night(map[string]float64{"time": 100 * head * speed}, append(more, func(r *record.Record) {
		r.Apps[record.Base] = record.App{Version: pin}
		r.Environment.Machine = machine
		for _, run := range r.Scenarios[0].Arm(record.Head) {
			run.Arm, run.Metrics = record.Base, map[string]float64{"time": 100 * base * speed}
			r.Scenarios[0].Runs = append(r.Scenarios[0].Runs, run)
		}
	})...)
}

// A pinned is a stretch of nights beside one pin.
type pinned struct {
	nights     int
	pin        string
	base, head float64
}

// years makes a season of stretches; accepted is the night that somebody accepts.
func years(seed uint64, noise float64, accepted int, all ...pinned) *season {
	s := newSeason(seed, noise)
	for _, p := range all {
		for range p.nights {
			var more []func(*record.Record)
			if len(s.made) == accepted {
				more = append(more, accept("new driver"))
			}
			s.beside(p.pin, p.base, p.head, more...)
		}
	}
	return s
}

const nobody = -1

// TestWhatMeetsAMoveOfThePin: a step that comes with a move, or right after it, is one all the same; the move itself is none.
func TestWhatMeetsAMoveOfThePin(t *testing.T) {
	for name, tc := range map[string]struct {
		accepted int
		nights   []pinned
		want     Outcome
		at       int     // of the open step
		change   float64 // of it
	}{
		"after an acceptance, +15 %":             {13, []pinned{{8, "P", 1, 1}, {6, "P", 1, 1.1}, {8, "v13", 1.1, 1.1 * 1.15}}, Regression, 14, 0.15},
		"after a hasty acceptance, +15 %":        {13, []pinned{{12, "P", 1, 1}, {2, "P", 1, 1.1}, {8, "v13", 1.1, 1.1 * 1.15}}, Regression, 14, 1.1*1.15 - 1}, // two nights are no level yet
		"after a hasty acceptance, +4 %":         {13, []pinned{{12, "P", 1, 1}, {2, "P", 1, 1.1}, {8, "v13", 1.1, 1.1 * 1.03}}, Pass, 0, 0},
		"after an acceptance, as it was":         {13, []pinned{{12, "P", 1, 1}, {2, "P", 1, 1.1}, {8, "v13", 1.1, 1.1}}, Pass, 0, 0},
		"after a promotion, +30 %":               {nobody, []pinned{{14, "P", 1, 1}, {8, "v13", 1, 1.3}}, Regression, 14, 0.3},
		"after a promotion, +10 %":               {nobody, []pinned{{14, "P", 1, 1}, {8, "v13", 1, 1.1}}, Regression, 14, 0.1},
		"after a promotion, as it was":           {nobody, []pinned{{14, "P", 1, 1}, {8, "v13", 1, 1}}, Pass, 0, 0},
		"three nights after a promotion":         {nobody, []pinned{{14, "P", 1, 1}, {3, "v13", 1, 1}, {8, "v13", 1, 1.15}}, Regression, 17, 0.15},
		"after an improvement that was promoted": {nobody, []pinned{{12, "P", 1, 1}, {6, "P", 1, 0.8}, {8, "v17", 0.8, 0.92}}, Regression, 18, 0.15},
		"a build of long ago":                    {nobody, []pinned{{14, "P", 1, 1}, {14, "P", 1, 0.8}, {8, "v5", 1, 0.92}}, Regression, 28, 0.15},
		"at the second of two moves":             {nobody, []pinned{{14, "P", 1, 1.04}, {12, "v9", 1.04, 1.04}, {8, "v20", 1.04, 1.2}}, Regression, 26, 1.2/1.04 - 1},
		"at a move back":                         {nobody, []pinned{{14, "v0", 1, 1}, {12, "v9", 1, 1}, {8, "v0", 1, 1.15}}, Regression, 26, 0.15},
		"a step before it, that stands":          {nobody, []pinned{{14, "P", 1, 1}, {10, "P", 1, 1.1}, {8, "v20", 1.1, 1.1}}, Regression, 14, 0.1},
		"a release that nobody measured":         {nobody, []pinned{{14, "P", 1, 1}, {8, "release", 1.2, 1}}, Pass, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := years(1, 0.01, tc.accepted, tc.nights...).judge(t)
			if h.Outcome != tc.want {
				t.Errorf("got %v: %s, want %v", h.Outcome, h.Reason, tc.want)
			}
			var open []Change
			for _, c := range h.of(t, "time").Changes {
				if c.Open {
					open = append(open, c)
				}
			}
			if tc.at == 0 && len(open) == 0 {
				return
			}
			if len(open) != 1 || open[0].At != tc.at || math.Abs(open[0].Change-tc.change) > 0.025 {
				t.Errorf("open: %+v, want %+.3f at %d", open, tc.change, tc.at)
			}
		})
	}
}

// TestMovesOfThePinAlarmNobody, whether it stays for weeks or is the night before's build each night, and though it is a build of a bad night; a step at the move is found.
func TestMovesOfThePinAlarmNobody(t *testing.T) {
	const trials = 60
	wrong := make(map[string]int)
	for seed := range uint64(trials) {
		judged := map[string]struct {
			made *season
			want Outcome
		}{
			"it stays for weeks":       {years(seed, 0.015, nobody, pinned{20, "P", 1, 1}, pinned{20, "v17", 1, 1}, pinned{20, "v31", 1, 1}), Pass},
			"a step at the move":       {years(seed, 0.015, nobody, pinned{20, "P", 1, 1}, pinned{20, "v17", 1, 1}, pinned{10, "v31", 1, 1.12}), Regression},
			"the build of a bad night": {years(seed, 0.015, nobody, pinned{20, "P", 1, 1}, pinned{1, "P", 1, 1.12}, pinned{20, "v20", 1, 1}), Pass},
		}
		every := newSeason(seed, 0.015)
		for i := range 60 {
			every.beside(fmt.Sprint("v", i-1), 1, 1)
		}
		judged["another each night"] = struct {
			made *season
			want Outcome
		}{every, Pass}
		for name, j := range judged {
			if h := j.made.judge(t); h.Outcome != j.want {
				wrong[name]++
			}
		}
	}
	for name, n := range wrong {
		if n > trials/20 {
			t.Errorf("%s: %d of %d are wrong", name, n, trials)
		}
	}
}
