package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func closeTo(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.8g, want %.8g", what, got, want)
	}
}

// The figures are R's: t.test, wilcox.test, fisher.test.
func TestAgainstKnownFigures(t *testing.T) {
	// Student's sleep data: t = -1.8608, df = 17.776, p = 0.07939 (Welch); t = -4.0621, df = 9, p = 0.002833 (paired).
	one := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	two := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	w := Welch(one, two)
	closeTo(t, "Welch estimate", w.Estimate, 1.58, 1e-9)
	closeTo(t, "Welch df", w.DF, 17.77647, 1e-5)
	closeTo(t, "Welch p", 2*w.Above(0), 0.07939, 1e-5)
	closeTo(t, "Welch lower", w.Lower(0.975), -0.2054832, 1e-6)
	closeTo(t, "Welch upper", w.Upper(0.975), 3.3654832, 1e-6)
	d := make([]float64, len(one))
	for i := range d {
		d[i] = two[i] - one[i]
	}
	closeTo(t, "paired p", 2*Paired(d).Above(0), 0.002833, 1e-6)

	// Hollander and Wolfe's depression scale: V = 40, p = 0.01953 one-sided, exact.
	x := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	y := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	diff := make([]float64, len(x))
	for i := range x {
		diff[i] = x[i] - y[i]
	}
	closeTo(t, "signed ranks", SignedRank(diff), 0.01953125, 1e-9)

	// Their permeability of the placenta: W = 35, p = 0.1272 one-sided; Hodges-Lehmann 0.305.
	term := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	weeks := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	hl := new(Ranks).HodgesLehmann(weeks, term)
	closeTo(t, "Hodges-Lehmann", hl.Estimate, 0.305, 1e-9)
	closeTo(t, "rank sum p", hl.Above(0), 0.1272, 1e-4)
	closeTo(t, "rank sum lower", hl.Lower(0.975), -0.15, 0.08)

	// Fisher's tea: 3 of 4 right, p = 0.2428571; lower tail of a broken arm.
	closeTo(t, "Fisher", Fisher(Count{1, 4}, Count{3, 4}), 0.9857143, 1e-7)
	closeTo(t, "Fisher", Fisher(Count{3, 4}, Count{1, 4}), 0.2428571, 1e-7)
	closeTo(t, "Fisher, nothing failed", Fisher(Count{240, 240}, Count{240, 240}), 1, 1e-9)
	closeTo(t, "least of Fisher", LeastFisher(Count{3, 4}, Count{1, 4}), 1.0/70, 1e-9)

	// Newcombe 1998, table II, method 10, (a): 56/70 against 48/80, 95 % two-sided: 0.0524 to 0.3339.
	lower, upper := Newcombe(Count{48, 80}, Count{56, 70}, 0.975, 0.975)
	closeTo(t, "Newcombe lower", lower, 0.0524, 1e-4)
	closeTo(t, "Newcombe upper", upper, 0.3339, 1e-4)
}

// Jennison and Turnbull's and Lan and DeMets's tables, and the two ends of what is known: one look is a single test, and looks
// that spend all at the end are one too.
func TestSpend(t *testing.T) {
	closeTo(t, "one look", Spend([]float64{1}, 0.05, 1)[0], 0.05, 1e-5)
	late := Spend([]float64{0.5, 1}, 0.05, 40)
	closeTo(t, "spent at the end", late[1], 0.05, 1e-4)
	// Simulated: the chance that any of five looks rejects is alpha, not more.
	looks := []float64{0.2, 0.4, 0.6, 0.8, 1}
	for _, rho := range []float64{1, 3} {
		levels := Spend(looks, 0.05, rho)
		rejected, trials := 0, 200_000
		r := rand.New(rand.NewPCG(7, uint64(rho)))
		for range trials {
			b := 0.0
			for k, at := range looks {
				b += r.NormFloat64() * math.Sqrt(0.2)
				if 0.5*math.Erfc(b/math.Sqrt(at)/math.Sqrt2) <= levels[k] {
					rejected++
					break
				}
			}
		}
		closeTo(t, "chance over five looks", float64(rejected)/float64(trials), 0.05, 0.002)
	}
}

// Holm's own example of three p-values, and its steps' levels.
func TestHolm(t *testing.T) {
	rejected, levels := Holm([]float64{0.01, 0.04, 0.005}, 0.05, nil)
	if !rejected[0] || !rejected[1] || !rejected[2] {
		t.Errorf("got %v", rejected)
	}
	for i, want := range []float64{0.025, 0.05, 0.05 / 3} {
		closeTo(t, "level", levels[i], want, 1e-12)
	}
	rejected, levels = Holm([]float64{0.03, 0.02, 0.9}, 0.05, nil)
	for i := range rejected {
		if rejected[i] {
			t.Errorf("test %d is rejected", i)
		}
		closeTo(t, "level where it stopped", levels[i], 0.05/3, 1e-12)
	}
	if rejected, _ := Holm([]float64{math.NaN()}, 0.05, nil); rejected[0] {
		t.Error("a chance that is no number is rejected")
	}
}

// The distribution of the rank sum agrees between its three ways of being computed.
func TestRankSumsAgree(t *testing.T) {
	base, head := []float64{1, 3, 5, 7, 9, 11, 13}, []float64{2, 4, 6, 8, 10, 12}
	ranks := make([]int, 13)
	for i := range ranks {
		ranks[i] = 2 * (i + 1)
	}
	exact, dealt, normal := new(Ranks).null(base, ascending(head)), tail(deal(ranks, 6), 2, 6, 7), normalRankSums(6, 7, 0)
	for k := range exact {
		closeTo(t, "dealt", dealt[k], exact[k], 1e-12)
		closeTo(t, "normal", normal[k], exact[k], 0.01)
	}
	// All tied: the shift is what it is, and none is shown.
	r := new(Ranks).HodgesLehmann([]float64{1, 1, 1, 1, 1}, []float64{1, 1, 1, 1, 1})
	if r.Above(0) != 1 || r.Below(0) != 1 || r.Lower(0.95) != 0 || r.Upper(0.95) != 0 {
		t.Errorf("all tied: %v %v %v %v", r.Above(0), r.Below(0), r.Lower(0.95), r.Upper(0.95))
	}
}

// Small samples: the limits are infinite, never an error or a number made up.
func TestTooFew(t *testing.T) {
	for _, s := range []Shift{Welch([]float64{1}, []float64{2, 3}), Paired([]float64{1}), Paired(nil), SteadyPairs(make([]Pair, 4)).Shift, Predict([]float64{1}, 2, 0)} {
		if s.Above(0) != 1 || s.Below(0) != 1 || !math.IsInf(s.Lower(0.9), -1) || !math.IsInf(s.Upper(0.9), 1) {
			t.Errorf("%+v claims to know something", s)
		}
	}
	if r := new(Ranks).HodgesLehmann(nil, []float64{1}); r.Above(0) != 1 || !math.IsInf(r.Upper(0.9), 1) {
		t.Error("no runs claim to know something")
	}
	if !math.IsInf(Tolerance(nil, 0.95, 0.95), 1) {
		t.Error("no values have a tolerance bound")
	}
}

// The quantile is the distribution's inverse wherever the gate asks.
func TestQuantile(t *testing.T) {
	for _, df := range []float64{1, 2.5, 3, 4.2, 9, 30, 1000} {
		for _, p := range []float64{0.001, 0.3, 0.5, 0.8, 0.95, 0.9975, 0.999999} {
			got := Quantile(p, df)
			closeTo(t, "chance below the quantile", 1-Shift{Estimate: got, SE: 1, DF: df}.Above(0), p, 1e-9)
		}
	}
}

// Merging rows of differences is the same as sorting them.
func TestDifferences(t *testing.T) {
	value := rapid.OneOf(rapid.Float64Range(-5, 5), rapid.Map(rapid.IntRange(-2, 2), func(i int) float64 { return float64(i) }))
	rapid.Check(t, func(t *rapid.T) {
		base, head := rapid.SliceOfN(value, 1, 9).Draw(t, "base"), rapid.SliceOfN(value, 1, 9).Draw(t, "head")
		var all []float64
		for _, h := range head {
			for _, b := range base {
				all = append(all, h-b)
			}
		}
		slices.Sort(all)
		got, _ := differences(ascending(base), ascending(head), rapid.SampledFrom([][]float64{nil, make([]float64, 3), make([]float64, 100)}).Draw(t, "scratch"))
		if !slices.Equal(got, all) {
			t.Fatalf("got %v, want %v", got, all)
		}
	})
}

func TestModerate(t *testing.T) {
	past := []Spread{{1, 8}, {1.2, 8}, {0.9, 8}, {1.1, 8}, {0.8, 8}}
	m := Moderate(Spread{2, 8}, past)
	if !(m.Variance > 1 && m.Variance < 2 && m.DF > 8 && m.DF <= 48) {
		t.Errorf("got %+v: between the run's own variance and the history's, with at most the degrees of freedom of both", m)
	}
	if m := Moderate(Spread{20, 8}, past); m != (Spread{20, 8}) {
		t.Errorf("a spread that history does not explain became %+v", m)
	}
	if m := Moderate(Spread{2, 8}, past[:4]); m != (Spread{2, 8}) {
		t.Errorf("four records moved it to %+v", m)
	}
	for _, y := range []float64{0.01, 0.5, 3, 100} {
		closeTo(t, "inverse of trigamma", trigamma(inverseTrigamma(y)), y, 1e-6*y)
	}
}

func TestExplains(t *testing.T) {
	y := []float64{1, 2, 3, 4, 5, 6}
	if p := Explains(y, []float64{1.1, 1.9, 3.05, 4, 4.9, 6.1}); p > 1e-3 {
		t.Errorf("what explains all has a chance of %v", p)
	}
	if p := Explains(y, []float64{3, -1, 2, -2, 1, -3}); p < 0.5 {
		t.Errorf("what explains nothing has a chance of %v", p)
	}
	if p := Explains(y[:4], y[:4]); p != 1 {
		t.Errorf("four values have a chance of %v", p)
	}
}

func TestShapes(t *testing.T) {
	if _, p := Slope([]float64{1, 2.1, 2.9, 4, 5.2, 6}); p > 1e-4 {
		t.Errorf("a clear slope has a chance of %v", p)
	}
	if _, p := Slope([]float64{1, -1, 1, -1, 1, -1}); p < 0.3 {
		t.Errorf("no slope has a chance of %v", p)
	}
	if p := UnequalSpread([]float64{1, 1.1, 0.9, 1, 1.05, 0.95}, []float64{10, -9, -8, 12, -11, 9}); p > 0.01 {
		t.Errorf("unequal spreads have a chance of %v", p)
	}
	if !TwoModes([]float64{1, 1.01, 0.99, 1, 1.02, 1.3, 1.31, 1.29, 1.3, 1}) || TwoModes([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
		t.Error("two modes are not told from one")
	}
	r, found := rand.New(rand.NewPCG(1, 2)), 0
	for range 5000 {
		x := make([]float64, 15)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		if TwoModes(x) {
			found++
		}
	}
	closeTo(t, "normal samples that seem to have two modes", float64(found)/5000, 0.01, 0.005)
}

// draw makes n pairs of a machine that drifts, in which the second run of a pair is slower and one run in ten is an outlier.
func draw(r *rand.Rand, n int, shift, spread, drift, second, outliers float64) []Pair {
	pairs := make([]Pair, n)
	for i := range pairs {
		value := func(place int) float64 {
			v := spread*r.NormFloat64() + drift*float64(2*i+place) + second*float64(place)
			if r.Float64() < outliers {
				v += math.Log(1.3)
			}
			return v
		}
		first, later := value(0), value(1)
		pairs[i] = Pair{Base: first, Head: later + shift}
		if (i+r.IntN(2))%2 == 1 {
			pairs[i] = Pair{Base: later, Head: first + shift, HeadFirst: true}
		}
	}
	return pairs
}

// The interval of steady pairs covers the true shift as often as it says, on steady and on drifting machines.
func TestSteadyPairsCovers(t *testing.T) {
	const trials = 8000
	for _, tt := range []struct {
		name                           string
		drift, second, outliers, extra float64
	}{{name: "steady"}, {name: "drifting", drift: 0.01, second: 0.02}, {name: "outliers", outliers: 0.1, extra: 0.03}} {
		for _, n := range []int{8, 15} {
			r := rand.New(rand.NewPCG(3, uint64(n)))
			below, above := 0, 0
			for range trials {
				s := SteadyPairs(draw(r, n, 0.1, 0.03, tt.drift, tt.second, tt.outliers))
				if s.Lower(0.95) <= 0.1 {
					below++
				}
				if s.Upper(0.95) >= 0.1 {
					above++
				}
			}
			for limit, covered := range map[string]int{"lower": below, "upper": above} {
				if got := float64(covered) / trials; got < 0.94 || got > 0.96+tt.extra {
					t.Errorf("%s, %d pairs: the %s limit covers %.3f, want 0.95", tt.name, n, limit, got)
				}
			}
		}
	}
}

// So do the intervals of the plainer methods.
func TestPlainIntervalsCover(t *testing.T) {
	const trials = 8000
	type interval interface {
		Lower(float64) float64
		Upper(float64) float64
	}
	var ranks Ranks
	for name, estimate := range map[string]func(base, head []float64) interval{
		"Welch":          func(b, h []float64) interval { return Welch(b, h) },
		"Hodges-Lehmann": func(b, h []float64) interval { return ranks.HodgesLehmann(b, h) },
		"paired":         func(b, h []float64) interval { return Paired(minus(h, b)) },
	} {
		r := rand.New(rand.NewPCG(4, 4))
		below, above := 0, 0
		for range trials {
			base, head := make([]float64, 10), make([]float64, 10)
			for i := range base {
				base[i], head[i] = 0.05*r.NormFloat64(), 0.1+0.05*r.NormFloat64()
			}
			e := estimate(base, head)
			if e.Lower(0.95) <= 0.1 {
				below++
			}
			if e.Upper(0.95) >= 0.1 {
				above++
			}
		}
		for limit, covered := range map[string]int{"lower": below, "upper": above} {
			closeTo(t, name+", how often the "+limit+" limit covers", float64(covered)/trials, 0.95, 0.01)
		}
	}
}

func minus(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}

// Properties that any estimate of a shift must have.
func TestProperties(t *testing.T) {
	value := rapid.Float64Range(-5, 5)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(5, 12).Draw(t, "n")
		base, head := rapid.SliceOfN(value, n, n).Draw(t, "base"), rapid.SliceOfN(value, n, n).Draw(t, "head")
		by := rapid.Float64Range(-3, 3).Draw(t, "by")
		pairs, swapped, moved := make([]Pair, n), make([]Pair, n), make([]Pair, n)
		shifted := make([]float64, n)
		for i := range pairs {
			first := i%3 == 0
			pairs[i], swapped[i], moved[i] = Pair{base[i], head[i], first}, Pair{head[i], base[i], !first}, Pair{base[i], head[i] + by, first}
			shifted[i] = head[i] + by
		}
		same := func(what string, a, b float64) {
			if !(math.Abs(a-b) <= 1e-6*(1+math.Abs(a))) {
				t.Fatalf("%s: %v and %v", what, a, b)
			}
		}
		s, u, m := SteadyPairs(pairs), SteadyPairs(swapped), SteadyPairs(moved)
		same("swapping the sides of pairs", s.Estimate, -u.Estimate)
		same("and their error", s.SE, u.SE)
		same("moving head", s.Estimate+by, m.Estimate)
		same("and its error", s.SE, m.SE)
		w, x := Welch(base, head), Welch(head, base)
		same("swapping samples", w.Above(0.1), x.Below(-0.1))
		h, k := new(Ranks).HodgesLehmann(base, head), new(Ranks).HodgesLehmann(head, base)
		same("swapping ranks", h.Lower(0.95), -k.Upper(0.95))
		same("swapping chances", h.Above(0.1), k.Below(-0.1))
		if tied := slices.Sorted(slices.Values(slices.Concat(base, head, shifted))); len(slices.Compact(tied)) == 3*n { // ties change the distribution
			same("moving ranks", h.Lower(0.95)+by, new(Ranks).HodgesLehmann(base, shifted).Lower(0.95))
		}
		if lower := h.Lower(0.9); !math.IsInf(lower, 0) && h.Above(lower-1e-9) > 0.1 {
			t.Fatalf("the limit %v is not where the chance crosses: %v", lower, h.Above(lower-1e-9))
		}
	})
}
