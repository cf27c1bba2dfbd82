package main

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ddpgate/ddpgate/stat"
)

// models returns what noise there is to test with.
func models(t *testing.T) []model {
	t.Helper()
	all := simulated()
	if data := os.Getenv("DDPGATE_DATA"); data != "" {
		real, err := measured(data)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, real)
	}
	return all
}

// TestTargets holds our rule to what docs/history.md promises: for steps of twice the noise with eight nights after, a precision of 0.9 and a recall of 0.8, and no alarm in 95 of a
// hundred stable series. The margins are those of 200 series.
func TestTargets(t *testing.T) {
	ours := rules()[0]
	for _, m := range models(t) {
		s := rate(ours, m, 200, 4, within)
		if s.precision() < 0.9-0.04 || s.recall() < 0.8-0.06 || s.alarms() > 0.05+0.03 {
			t.Errorf("%s: precision %.2f, recall %.2f, alarms %.3f", m.name, s.precision(), s.recall(), s.alarms())
		}
	}
}

func TestLabelledSet(t *testing.T) {
	set, err := labelledSet()
	if err != nil {
		t.Fatal(err)
	}
	if s := rateLabelled(rules()[0], set); s.precision() < 0.9 || s.recall() < 0.8 {
		t.Errorf("precision %.2f, recall %.2f", s.precision(), s.recall())
	}
}

func TestStories(t *testing.T) {
	m := simulated()[0]
	for _, s := range stories() {
		rng := rand.New(rand.NewPCG(9, 3))
		wrong := 0
		for range 20 {
			h, err := s.live(m, rng)
			if err != nil {
				t.Fatal(err)
			}
			if h.Outcome != s.want {
				wrong++
			}
		}
		if wrong > 2 {
			t.Errorf("%s: %d of 20 verdicts are not %v", s.name, wrong, s.want)
		}
	}
}

func TestScore(t *testing.T) {
	var s score
	s.compare([]stat.Break{{At: 9}, {At: 11}, {At: 30}}, []int{10, 50}, 3)
	s.compare([]stat.Break{{At: 1}}, nil, 3)
	s.compare(nil, nil, 3)
	if s != (score{series: 2, alarmed: 1, steps: 2, found: 1, wrong: 3}) {
		t.Errorf("got %+v", s)
	}
}

func TestNoiseIsOne(t *testing.T) {
	for _, m := range models(t) {
		rng := rand.New(rand.NewPCG(1, 1))
		sum, n := 0.0, 0
		for range 200 {
			v := m.make(rng, 60)
			mean := 0.0
			for _, x := range v {
				mean += x / float64(len(v))
			}
			for _, x := range v {
				sum += (x - mean) * (x - mean)
				n++
			}
		}
		if v := sum / float64(n); v < 0.8 || v > 1.2 {
			t.Errorf("%s: variance %v", m.name, v)
		}
	}
}

func TestTables(t *testing.T) {
	page := filepath.Join(t.TempDir(), "history.md")
	if err := os.WriteFile(page, []byte("before\n"+begin+"OUTDATED\n"+end+"after\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := command([]string{"-trials", "10", "-into", page}, io.Discard, io.Discard, ""); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	if !strings.HasPrefix(got, "before\n"+begin) || !strings.HasSuffix(got, end+"after\n") || strings.Contains(got, "OUTDATED") || strings.Count(got, "**ours**") != 5 {
		t.Errorf("got %s", got)
	}
	if err := command([]string{"-trials", "10", "-into", filepath.Join(t.TempDir(), "none")}, io.Discard, io.Discard, ""); err == nil {
		t.Error("a page that is not there was written")
	}
}
