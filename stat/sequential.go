package stat

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// Spend returns the level of a single one-sided test at each of several looks at growing evidence, so that all looks together
// reject a true hypothesis with the chance alpha. The looks are ascending fractions of the planned evidence, above 0 and at most
// 1; at fraction t, alpha times t^rho is spent (Lan and DeMets 1983; the family of Kim and DeMets 1987). The tests' joint
// distribution is that of a Brownian motion, integrated look by look (Armitage, McPherson and Rowe 1969).
func Spend(looks []float64, alpha, rho float64) []float64 {
	levels := make([]float64, len(looks))
	var path walk
	spent := 0.0
	for k, t := range looks {
		now := alpha * math.Pow(t, rho)
		bound := path.bound(t, now-spent)
		levels[k] = distuv.UnitNormal.Survival(bound)
		path = path.step(t, bound)
		spent = now
	}
	return levels
}

// A walk is the density of a Brownian motion at time t that no look has stopped, at Gauss-Legendre nodes.
type walk struct {
	t       float64
	x, mass []float64 // mass is density times weight
}

const (
	nodes    = 48
	farthest = 7 // standard deviations that count
)

// bound returns the z at which the walk is stopped at time t with that chance.
func (w walk) bound(t, chance float64) float64 {
	if !(chance > 0) {
		return math.Inf(1)
	}
	const steps = 1 << 20
	k := sort.Search(steps, func(k int) bool { return w.above(t, zAt(k, steps)) <= chance })
	return zAt(k, steps)
}

// zAt spreads the steps of a search over all z that matter.
func zAt(k, steps int) float64 { return farthest * (2*float64(k)/float64(steps) - 1) }

// above returns the chance that the walk is above z standard deviations at time t.
func (w walk) above(t, z float64) float64 {
	if w.x == nil {
		return distuv.UnitNormal.Survival(z)
	}
	p := 0.0
	for i, m := range w.mass {
		p += m * distuv.UnitNormal.Survival((z*math.Sqrt(t)-w.x[i])/math.Sqrt(t-w.t))
	}
	return p
}

// step moves the walk on to time t and stops it above the bound.
func (w walk) step(t, bound float64) walk {
	sd := math.Sqrt(t)
	next := walk{t: t, x: make([]float64, nodes), mass: make([]float64, nodes)}
	quad.Legendre{}.FixedLocations(next.x, next.mass, -farthest*sd, min(bound, farthest)*sd)
	for j, y := range next.x {
		if w.x == nil {
			next.mass[j] *= distuv.UnitNormal.Prob(y/sd) / sd
			continue
		}
		step, density := math.Sqrt(t-w.t), 0.0
		for i, m := range w.mass {
			density += m * distuv.UnitNormal.Prob((y-w.x[i])/step) / step
		}
		next.mass[j] *= density
	}
	return next
}
