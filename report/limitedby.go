package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/record"
)

// nothing is what limited a run that had all that it wanted.
const nothing = "none"

// limitedBy says what the runs of each side ran into, empty where no run says.
func limitedBy(c Comparison) string {
	var parts []string
	same := true
	for _, side := range []string{record.Base, record.Head} {
		var runs []record.Run
		for _, scenario := range c.scenarios() {
			for _, a := range c.arms(scenario) {
				if a.name == side {
					runs = append(runs, a.runs...)
				}
			}
		}
		if text := limitsOf(runs); text != "" {
			same = same && (len(parts) == 0 || strings.HasSuffix(parts[0], " by "+text))
			parts = append(parts, side+" by "+text)
		}
	}
	if len(parts) > 0 && same {
		_, text, _ := strings.Cut(parts[0], " by ")
		return text
	}
	return join("; ", parts...)
}

// limitsOf counts what limited runs, the most frequent first, with one run's grounds.
func limitsOf(runs []record.Run) string {
	counts, grounds := make(map[string]int), make(map[string]string)
	for _, r := range runs {
		if r.LimitedBy != "" {
			counts[r.LimitedBy]++
			grounds[r.LimitedBy] = or(grounds[r.LimitedBy], r.LimitedWhy)
		}
	}
	var names []string
	for name := range counts {
		if name != nothing {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, name := range names {
		text := fmt.Sprintf("%s in %d of %s", name, counts[name], plural(len(runs), "run"))
		if why := grounds[name]; why != "" {
			text += " (" + why + ")"
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 && counts[nothing] > 0 {
		return "nothing"
	}
	return join(", ", parts...)
}
