package report

import (
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
)

// A trait is one line of what the sides were measured with, a cell a side.
type trait struct {
	name  string
	sides []string
	// differs says that the sides are not alike where they should be.
	differs bool
}

// A side is where one arm comes from.
type side struct {
	arm string
	of  string // the record's arm
	*record.Record
	app  record.App
	runs []record.Run
}

// sides returns the arms that there is anything of, base first.
func (c Comparison) sides() []side {
	var found []side
	add := func(arm string, r *record.Record, of string) {
		if r == nil {
			return
		}
		s := side{arm: arm, of: of, Record: r, app: r.Apps[of]}
		for i := range r.Scenarios {
			s.runs = append(s.runs, r.Scenarios[i].Arm(of)...)
		}
		if _, has := r.Apps[of]; has || len(s.runs) > 0 {
			found = append(found, s)
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

// basis says in a line what is held against what, and how.
func (c Comparison) basis(sides []side) string {
	var parts []string
	for _, s := range sides {
		if s.app.Version != "" {
			parts = append(parts, s.arm+" "+s.app.Version)
		}
	}
	versions := strings.Join(parts, " → ")
	if !c.compared() {
		return versions
	}
	machines := ""
	if c.Verdict.Design != gate.Pairs {
		machines = "machines " + string(c.Verdict.Environment.Match)
	}
	return join(" · ", versions, designs[c.Verdict.Design], machines)
}

// traits returns what the sides were measured with, without what is not known of any.
func traits(sides []side) []trait {
	var all []trait
	add := func(name string, comparable bool, of func(side) string) {
		t := trait{name: name}
		known := false
		for _, s := range sides {
			text := of(s)
			known = known || text != ""
			t.sides = append(t.sides, or(text, unknown))
			t.differs = t.differs || comparable && text != of(sides[0])
		}
		if known {
			all = append(all, t)
		}
	}
	add("version", false, func(s side) string { return s.app.Version })
	add("app", false, func(s side) string { return or(strings.Join(s.app.Command, " "), s.app.URL) })
	add("processor", true, func(s side) string { return s.Environment.CPU })
	add("cores", true, func(s side) string { return positive(s.Environment.Cores, "core") })
	add("kept on CPUs", true, func(s side) string { return s.Environment.CPUs.String() })
	add("memory", true, func(s side) string { return memory(s.Environment) })
	add("system", true, func(s side) string { return join(" ", s.Environment.OS, s.Environment.Arch) })
	add("kernel", true, func(s side) string { return s.Environment.Kernel })
	add("machine", true, func(s side) string { return start(s.Environment.Machine) })
	if drivers(sides) != "" {
		add("driven by", true, func(s side) string { return or(driversOf(s), record.Drivers{}.String()) })
	}
	add("socket", true, func(s side) string { return extensions(s.runs) })
	add("ddpgate", true, func(s side) string { return join(" ", s.Tool.Version, start(s.Tool.Commit)) })
	add("timers late by", false, func(s side) string { return seconds(s.Environment.Timer) })
	add("calibration load", false, func(s side) string { return calibration(s.Environment) })
	add("measured", false, func(s side) string { return origin(s.Record) })
	add("command", false, func(s side) string { return strings.Join(s.Command, " ") })
	return all
}

func positive(n int, noun string) string {
	if n <= 0 {
		return ""
	}
	return plural(n, noun)
}

func memory(e record.Environment) string {
	if e.Memory <= 0 {
		return ""
	}
	return scaleOf("ram", float64(e.Memory)).write(float64(e.Memory))
}

func seconds(v float64) string {
	if v <= 0 {
		return ""
	}
	return scaleOf("time", v).write(v)
}

func calibration(e record.Environment) string {
	if len(e.Calibration) == 0 {
		return ""
	}
	return seconds(stat.Mean(e.Calibration, nil)) + " of CPU"
}

// extensions returns what was negotiated for the socket; the first run stands for all.
func extensions(runs []record.Run) string {
	for _, r := range runs {
		if r.Extensions != "" {
			return r.Extensions
		}
	}
	return ""
}
