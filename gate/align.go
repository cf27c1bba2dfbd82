package gate

import (
	"slices"

	"github.com/ddpgate/ddpgate/stat"
)

// steady is how many nights in a row on one machine make it a machine of its own, and not one of a fleet.
const steady = 3

// places returns, by night, what a value hangs on beside the code: the kind of machine, and the machine itself where it stayed the same.
func places(nights []Night, points []int) []string {
	keys := make([]string, len(points))
	for from := 0; from < len(points); {
		id := nights[points[from]].machine
		to := from + 1
		for to < len(points) && nights[points[to]].machine == id {
			to++
		}
		for i := from; i < to; i++ {
			keys[i] = nights[points[i]].Machine
			if to-from >= steady {
				keys[i] += " " + id
			}
		}
		from = to
	}
	return keys
}

// pins returns, by night, the build that head was held against.
func pins(nights []Night, points []int) []string {
	keys := make([]string, len(points))
	for i, p := range points {
		keys[i] = nights[p].Pinned
	}
	return keys
}

// reach is how many values on each side of a change of places say how far the places are apart.
const reach = 5

// A shift is the place where a series goes from one key to another.
type shift struct {
	at       int
	from, to string
	by       float64
}

// shifts returns the places where the key changes, with the difference of the medians around each.
func shifts(values []float64, keys []string) []shift {
	var found []shift
	for i := 1; i < len(values); i++ {
		if keys[i] == keys[i-1] {
			continue
		}
		from, to := i-1, i+1
		for from > 0 && i-from < reach && keys[from-1] == keys[i-1] {
			from--
		}
		for to < len(values) && to-i < reach && keys[to] == keys[i] {
			to++
		}
		found = append(found, shift{i, keys[i-1], keys[i], stat.Median(values[i:to]) - stat.Median(values[from:i])})
	}
	return found
}

// align moves the values of each key to the level that they would have at the newest value's key. Where two keys meet more than once, the median of what was seen
// counts, so that a step of the code at one of the meetings stays a step.
func align(values []float64, keys []string) ([]float64, []shift) {
	meetings := shifts(values, keys)
	if len(meetings) == 0 {
		return slices.Clone(values), nil
	}
	offset := map[string]float64{keys[len(keys)-1]: 0}
	for grown := true; grown; {
		grown = false
		for i := len(meetings) - 1; i >= 0; i-- { // the newest meetings first: they know best
			m := meetings[i]
			_, hasFrom := offset[m.from]
			_, hasTo := offset[m.to]
			if hasFrom == hasTo {
				continue
			}
			by := apart(meetings, m.from, m.to)
			if hasTo {
				offset[m.from] = offset[m.to] + by
			} else {
				offset[m.to] = offset[m.from] - by
			}
			grown = true
		}
	}
	aligned := make([]float64, len(values))
	for i, v := range values {
		aligned[i] = v + offset[keys[i]]
	}
	return aligned, meetings
}

// apart returns how much higher values are at the key to than at from.
func apart(meetings []shift, from, to string) float64 {
	var seen []float64
	for _, m := range meetings {
		switch {
		case m.from == from && m.to == to:
			seen = append(seen, m.by)
		case m.from == to && m.to == from:
			seen = append(seen, -m.by)
		}
	}
	return stat.Median(seen)
}
