package gate

import (
	"fmt"

	"github.com/ddpgate/ddpgate/stat"
)

// odd is the chance below which a shape is told. Flags decide nothing.
const odd = 0.01

// flagPairs looks for what makes pairs less sure than their numbers say.
func (c *comparison) flagPairs(pairs []stat.Pair) {
	base, head, middles, first := make([]float64, len(pairs)), make([]float64, len(pairs)), make([]float64, len(pairs)), 0
	for i, p := range pairs {
		base[i], head[i], middles[i] = p.Base, p.Head, (p.Base+p.Head)/2
		if p.HeadFirst {
			first++
		}
	}
	c.flagDrift("the machine", middles, "pair")
	c.flagShape(base, head)
	if len(pairs) >= 5 && (first == 0 || first == len(pairs)) {
		c.finding.warn("one arm came first in every pair: what the second place costs cannot be told from the change")
	}
}

// flag looks at two samples, each in the order in which it was measured.
func (c *comparison) flag(base, head []float64) {
	c.flagDrift("base", base, "run")
	c.flagDrift("head", head, "run")
	c.flagShape(base, head)
}

func (c *comparison) flagDrift(who string, inOrder []float64, step string) {
	if slope, p := stat.Slope(inOrder); p < odd {
		c.finding.warn(fmt.Sprintf("%s drifted by %+.1f %% a %s", who, c.scale.change(slope)*100, step))
	}
}

func (c *comparison) flagShape(base, head []float64) {
	if p := stat.UnequalSpread(base, head); p < odd {
		c.finding.warn("base and head spread unequally")
	}
	if stat.TwoModes(base) {
		c.finding.warn("the runs of base fall into two groups")
	}
	if stat.TwoModes(head) {
		c.finding.warn("the runs of head fall into two groups")
	}
}
