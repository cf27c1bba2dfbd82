package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/report/chart"
)

// quantiles are those in the table beside a curve.
var quantiles = []float64{0.5, 0.9, 0.95, 0.99, 0.999}

// percentiles draws each latency's percentiles: of each run by itself, then the middle and the range of the runs, since a run is what is
// judged.
func (c Comparison) percentiles(scenario string) ([]picture, error) {
	arms := c.arms(scenario)
	var first, more []picture
	for _, name := range keys(arms, func(r record.Run) map[string]string { return r.Histograms }, strings.Compare) {
		p := picture{kind: latencies, subject: name, title: latency(name), figures: grid{headers: []string{"percentile"}, left: map[int]bool{0: true}}}
		to := &first
		if name == "lag" || strings.HasSuffix(name, ".updated") {
			p.kind, to = secondary, &more
		}
		var err error
		if *to, err = percentilesOf(*to, p, arms); err != nil {
			return nil, err
		}
	}
	return append(first, more...), nil
}

// latency returns what a histogram holds.
func latency(name string) string {
	switch name {
	case "session":
		return "Length of a session"
	case "session.wait":
		return "Waiting of a session for the app"
	case "lag":
		return "Lateness of the driver's sessions"
	case "ready":
		return "Subscription until ready"
	case "connect":
		return "Dial until connected"
	case "visible":
		return "Own write until it is visible"
	case "foreign":
		return "Write until others see it"
	}
	if method, found := strings.CutSuffix(name, ".updated"); found {
		return method + " until updated"
	}
	return name + " until its result"
}

func percentilesOf(all []picture, p picture, arms []arm) ([]picture, error) {
	held, err := decoded(arms, p.subject)
	if err != nil {
		return nil, err
	}
	most, longest := int64(1), 0.0
	for _, r := range slices.Concat(held...) {
		most, longest = max(most, r.Count()), max(longest, r.Max())
	}
	scale := scaleOf("time", longest)
	places, marks := ladder(most)
	curves := chart.Curves{Unit: scale.unit + ", logarithmic", Across: "percentile", Ticks: marks, Log: true}
	var said, without []string
	for i, a := range arms {
		quantile := func(run int, q float64) float64 { return held[i][run].quantile(q) }
		curve := over(places, len(held[i]), func(run int, at float64) float64 { return quantile(run, 1-math.Pow(10, -at)) })
		curves.Arms = append(curves.Arms, curve.of(a, scale))
		table := over(quantiles, len(held[i]), quantile)
		p.figures.headers = append(p.figures.headers, a.name)
		for n, q := range quantiles {
			p.figures.set(n, i+1, share(q), scaleOf("time", table.Y[n]).write(table.Y[n]))
		}
		said = append(said, fmt.Sprintf("%s has a median of %s and a 95th percentile of %s", a.name, scale.write(table.Y[0]), scale.write(table.Y[2])))
		if n := censored(held[i]); n > 0 {
			without = append(without, fmt.Sprintf("%d of %s", n, a.name))
		}
	}
	p.alt = fmt.Sprintf("Percentiles of %s, the middle and the range of the runs. %s", p.title, strings.Join(said, "; "))
	if len(without) > 0 {
		p.note = "attempts that ended without a duration, counted as longer than all others: " + strings.Join(without, ", ")
	}
	return draw(all, p, curves)
}

// A latencyRun is one run's histogram, with the attempts that ended without a duration.
type latencyRun struct {
	*metric.Histogram
	censored int64
}

// decoded returns each arm's histograms of a name.
func decoded(arms []arm, name string) ([][]latencyRun, error) {
	held := make([][]latencyRun, len(arms))
	for i, a := range arms {
		for _, r := range a.runs {
			encoded, found := r.Histograms[name]
			if !found {
				continue
			}
			h, err := metric.DecodeHistogram(encoded)
			if err != nil {
				return nil, fmt.Errorf("run %d of %s: latency %s: %w", r.Index+1, a.name, name, err)
			}
			held[i] = append(held[i], latencyRun{h, max(0, r.Censored[name])})
		}
	}
	return held, nil
}

func censored(runs []latencyRun) (sum int64) {
	for _, r := range runs {
		sum += r.censored
	}
	return sum
}

// quantile returns a quantile of all attempts, NaN where it falls on one that has no duration. The place below all is the shortest.
func (r latencyRun) quantile(q float64) float64 {
	n := r.Count()
	if n == 0 {
		return math.NaN()
	}
	of := float64(n+r.censored) / float64(n)
	v, ok := r.Quantile(max(q, 1e-9) * of)
	if !ok {
		return math.NaN()
	}
	return v
}

// ladder returns where percentiles of so many values are drawn, as powers of ten of the share above them, and the marks among them.
func ladder(n int64) (places []float64, marks []chart.Tick) {
	end := max(1, min(4, math.Log10(float64(n))))
	const steps = 40
	for i := range steps + 1 {
		places = append(places, end*float64(i)/steps)
	}
	for _, m := range []struct {
		q     float64
		label string
	}{{0, "0"}, {0.5, "50"}, {0.9, "90"}, {0.99, "99"}, {0.999, "99.9"}, {0.9999, "99.99"}} {
		if at := -math.Log10(1 - m.q); at <= end {
			marks = append(marks, chart.Tick{At: math.Abs(at), Label: m.label})
		}
	}
	return places, marks
}
