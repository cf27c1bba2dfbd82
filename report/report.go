// Package report renders records and the verdict on them for people. It writes to io.Writer only, and the same input always
// gives the same output.
//
// What comes from outside (names of scenarios and methods, errors, an app's output) is shown and never obeyed: control
// characters are written out, and in Markdown nothing of it becomes a mention, a link, a picture or HTML.
package report

import (
	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
)

// A Comparison is what is reported. Without a Verdict it is a summary of the records.
type Comparison struct {
	Verdict *gate.Verdict
	Base    *record.Record // what Head was held against; nil where Head holds both arms, or stands alone
	Head    *record.Record // may be nil where there is a Verdict
	Away    string         // how far Base is from Head and how old, where it was looked for in the history of the code
}

// Options say how text is laid out. The zero value is 80 columns without colour.
type Options struct {
	Width int  // columns; 0 for 80, at least 60
	Color bool // with ANSI colours
	Brief bool // of what is not gated, only what moved by its threshold
}

func (o Options) width() int {
	if o.Width == 0 {
		return 80
	}
	return max(o.Width, 60)
}

// An arm is one side's runs of one scenario.
type arm struct {
	name string // base or head
	runs []record.Run
}

// arms returns the sides that have runs of a scenario, base first.
func (c Comparison) arms(scenario string) []arm {
	var found []arm
	add := func(name string, r *record.Record, of string) {
		if r == nil {
			return
		}
		if s := r.Scenario(scenario); s != nil {
			if runs := s.Arm(of); len(runs) > 0 {
				found = append(found, arm{name, runs})
			}
		}
	}
	if c.Base == nil || c.Base == c.Head {
		add(record.Base, c.Head, record.Base)
	} else {
		add(record.Base, c.Base, record.Head)
	}
	add(record.Head, c.Head, record.Head)
	return found
}

// scenarios returns the names of all scenarios, in the verdict's order, then in the records'.
func (c Comparison) scenarios() []string {
	var names []string
	seen := make(map[string]bool)
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for _, r := range []*record.Record{c.Head, c.Base} {
		if r != nil {
			for i := range r.Scenarios {
				add(r.Scenarios[i].Name)
			}
		}
	}
	if c.Verdict != nil {
		for _, f := range c.Verdict.Metrics {
			add(f.Scenario)
		}
	}
	return names
}

// scenario returns a scenario's measurements, of head if it has any, else of base.
func (c Comparison) scenario(name string) *record.Scenario {
	for _, r := range []*record.Record{c.Head, c.Base} {
		if r != nil {
			if s := r.Scenario(name); s != nil {
				return s
			}
		}
	}
	return nil
}
