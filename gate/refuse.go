package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/metric"
	"github.com/ddpgate/ddpgate/record"
)

// refuse returns every reason why two records must not be held against each other.
func refuse(base, head *record.Record) error {
	var faults []error
	if base.Format != "" && head.Format != "" && base.Format != head.Format {
		faults = append(faults, fmt.Errorf("base is of format %s, head of %s: their metrics may not mean the same", base.Format, head.Format))
	}
	common := false
	for i := range head.Scenarios {
		h := &head.Scenarios[i]
		b := base.Scenario(h.Name)
		if b == nil {
			continue
		}
		common = true
		faults = append(faults, refuseScenario(b, h))
	}
	if !common && len(head.Scenarios) > 0 && len(base.Scenarios) > 0 {
		faults = append(faults, fmt.Errorf("no scenario is in both records: base has %s, head has %s", names(base), names(head)))
	}
	return errors.Join(faults...)
}

func names(r *record.Record) string {
	var names []string
	for _, s := range r.Scenarios {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

func refuseScenario(base, head *record.Scenario) error {
	var faults []error
	if base.Identity != head.Identity {
		faults = append(faults, fmt.Errorf("scenario %s differs: %s", head.Name, differing(base, head)))
	}
	faults = append(faults, refuseRuns(head.Name, base.Runs, head.Runs))
	return errors.Join(faults...)
}

// refuseRuns holds what was negotiated and what instruments were in the app against each other.
func refuseRuns(scenario string, base, head []record.Run) error {
	var faults []error
	if b, h := extensions(base), extensions(head); b != "" && h != "" && b != h {
		faults = append(faults, fmt.Errorf("scenario %s: base negotiated %s, head %s: another compression is another load", scenario, b, h))
	}
	if b, h := instrumented(base), instrumented(head); b != h && measured(base) && measured(head) {
		with := map[bool]string{true: "with", false: "without"}
		faults = append(faults, fmt.Errorf("scenario %s: base ran %s Node's instruments, head %s", scenario, with[b], with[h]))
	}
	return errors.Join(faults...)
}

// extensions returns all that runs negotiated, in words, empty where they do not say.
func extensions(runs []record.Run) string {
	var all []string
	for i := range runs {
		if e := runs[i].Extensions; e != "" {
			all = append(all, e)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " and ")
}

// instrumented says whether Node's own figures were asked for: some run has one, or says why not.
func instrumented(runs []record.Run) bool {
	figures := slices.DeleteFunc(metric.Names(), func(name string) bool { return !strings.HasPrefix(name, "node.") })
	for i := range runs {
		for _, name := range figures {
			if _, ok := runs[i].Metrics[name]; ok || runs[i].Missing[name] != "" {
				return true
			}
		}
	}
	return false
}

// measured says whether there is a run that has figures.
func measured(runs []record.Run) bool {
	for i := range runs {
		if len(runs[i].Metrics) > 0 && whole(&runs[i]) {
			return true
		}
	}
	return false
}

// differing names what differs between two versions of a scenario.
func differing(base, head *record.Scenario) string {
	var found []string
	differ := func(what string, b, h any) {
		if b != h {
			found = append(found, fmt.Sprintf("%s is %v in base and %v in head", what, b, h))
		}
	}
	differ("the arrival rate", base.Load.Rate, head.Load.Rate)
	differ("the arrivals' time in seconds", base.Load.For, head.Load.For)
	if b, h := base.Resolved, head.Resolved; b != nil && h != nil {
		differ("think time", fmt.Sprint(b.Think.Min, "..", b.Think.Max), fmt.Sprint(h.Think.Min, "..", h.Think.Max))
		differ("timeout", b.Timeout, h.Timeout)
		differ("transport", b.Transport, h.Transport)
		differ("compression", b.Compression, h.Compression)
		differ("a variable", fmt.Sprint(b.Vars), fmt.Sprint(h.Vars))
	}
	if len(found) == 0 {
		return "its steps are not the same in base and head"
	}
	return strings.Join(found, ", ")
}
