package main

import (
	"fmt"
	"math"

	"github.com/ddpgate/ddpgate/fleet"
)

// dryRun prints what would be measured, by whom, how long it takes and what it costs.
func (m *measurement) dryRun(c *command) (int, error) {
	fmt.Fprintf(c.Stdout, "plan      %s\n", announce(m.plan, m.estimate, m.judge.gates()))
	if m.fleet == nil {
		return exitPass, nil
	}
	fmt.Fprintf(c.Stdout, "workers   %s\n", m.where())
	lines, err := m.drivers()
	if err != nil {
		return 0, err
	}
	for _, line := range lines {
		fmt.Fprintf(c.Stdout, "load      %s\n", line)
	}
	least, most, err := m.bill()
	if err != nil {
		return 0, err
	}
	text := fmt.Sprint(least)
	if most.loads > least.loads {
		text += fmt.Sprintf("; up to %v where that is not enough to decide", most)
	}
	fmt.Fprintf(c.Stdout, "in all    %s\n", text)
	if most.cost > 0 {
		fmt.Fprintf(c.Stdout, "prices    %s\n", prices(m.fleet.Places[0].Limits()))
	}
	return exitPass, nil
}

// A bill is what some loads cost in all, at most.
type bill struct {
	loads int
	cost  float64 // US dollars
}

func (b bill) String() string {
	text := fmt.Sprintf("%d%s", b.loads, plural(b.loads, " load"))
	if b.cost > 0 {
		text += fmt.Sprintf(", $%.2f at most", math.Ceil(b.cost*100)/100)
	}
	return text
}

func (b *bill) add(loads int, each float64) {
	b.loads += loads
	b.cost += float64(loads) * each
}

// bill returns what the fewest runs cost, and the most that may be made.
func (m *measurement) bill() (least, most bill, err error) {
	turns := len(m.plan.Arms) / m.targets()
	runs := m.plan.Runs
	for i, sc := range m.plan.Scenarios {
		p, err := m.fleet.Plan(sc, m.targets())
		if err != nil {
			return bill{}, bill{}, err
		}
		if i == 0 {
			least.add(turns*runs.Warmup, p.Cost)
			most.add(turns*runs.Warmup, p.Cost)
		}
		fewest := min(runs.Min, m.estimate.Fit)
		least.add(turns*fewest, p.Cost)
		if m.judge.gates() {
			fewest = m.estimate.Fit
		}
		most.add(turns*fewest, p.Cost)
	}
	return least, most, nil
}

// prices says what costs are reckoned by.
func prices(l fleet.Limits) string {
	return fmt.Sprintf("AWS Lambda on arm64 in us-east-1: $%.10f a GB-second of functions with %d MB, $%.2f a million calls; traffic and what is free are not counted",
		l.PerGBs, l.Memory, l.PerInvoke*1e6)
}
