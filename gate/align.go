package gate

import (
	"math"
	"slices"

	"github.com/ddpgate/ddpgate/stat"
)

// steady is how many nights make a machine one of its own, and not one of a fleet, where they are in a row, and a pin one that stays.
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

// A link says how much higher values are at the key to than at from, by what is known of both.
type link struct {
	from, to string
	by       float64
}

// links returns what the pinned builds' own nights say of them: each was head once, held against another pin. That tells a step of the code from the move
// with which it comes, which the meeting of the two cannot. Of a pin that is there for a night or two nothing is said, so that one that moves every night does not add up
// each night's noise.
func links(nights []Night, points []int, values []float64, keys []string, seed uint64) []link {
	used := make(map[string]int)
	for _, pin := range keys {
		used[pin]++
	}
	var known []link
	own := make(map[string]int) // of each build, its newest night so far
	met := make(map[string]bool)
	for i, pin := range keys {
		if j, ok := own[pin]; ok && !met[pin] && used[pin] >= steady && keys[j] != pin {
			known = append(known, link{keys[j], pin, -levelAt(values, keys, j, seed)})
		}
		met[pin] = true
		if build := nights[points[i]].Version; build != "" {
			own[build] = i
		}
	}
	return known
}

// distinct is how many times the noise two nights or more must be off the level around them to be a level of their own.
const distinct = 3

// levelAt returns the level of a night among those around it with its key. Where it is one of the first of a step that is too new to be found, those say it; a single night
// that is off is a bad one.
func levelAt(values []float64, keys []string, at int, seed uint64) float64 {
	from, to := at, at+1
	for from > 0 && keys[from-1] == keys[at] {
		from--
	}
	for to < len(keys) && keys[to] == keys[at] {
		to++
	}
	values, at = values[from:to], at-from
	start, end := 0, len(values)
	for _, s := range stat.Steps(values, seed) {
		if s.At <= at {
			start = s.At
		} else {
			end = min(end, s.At)
		}
	}
	level := stat.Median(values[max(start, at-reach+1):min(end, at+reach)])
	far := distinct * stat.Noise(values)
	if math.Abs(values[at]-level) <= far {
		return level
	}
	own := func(i int) bool { return math.Abs(values[i]-values[at]) < math.Abs(values[i]-level) }
	first, last := at, at
	for first > 0 && own(first-1) {
		first--
	}
	for last+1 < len(values) && own(last+1) {
		last++
	}
	if group := stat.Median(values[first : last+1]); last > first && math.Abs(group-level) > far {
		return group
	}
	return level
}

// align moves the values of each key to the level that they would have at the newest value's key, and returns where the keys change and by how much that moves the values. What
// is known of two keys counts before what is seen where they meet. Where they meet more than once, the median of what was seen counts, so that a step of the code at one of
// the meetings stays a step.
func align(values []float64, keys []string, known []link) ([]float64, []shift) {
	meetings := shifts(values, keys)
	if len(meetings) == 0 {
		return slices.Clone(values), nil
	}
	offset := map[string]float64{keys[len(keys)-1]: 0}
	connect(offset, known)
	for grown := true; grown; {
		grown = false
		for _, m := range slices.Backward(meetings) { // the newest meetings first: they know best
			if m.joins(offset) {
				place(offset, link{m.from, m.to, apart(meetings, m.from, m.to)})
				connect(offset, known)
				grown = true
			}
		}
	}
	aligned := make([]float64, len(values))
	for i, v := range values {
		aligned[i] = v + offset[keys[i]]
	}
	for i := range meetings {
		meetings[i].by = offset[meetings[i].from] - offset[meetings[i].to]
	}
	return aligned, meetings
}

// connect gives an offset to every key that links lead to from one that has it, by the newest first.
func connect(offset map[string]float64, known []link) {
	for grown := true; grown; {
		grown = false
		for _, l := range slices.Backward(known) {
			grown = place(offset, l) || grown
		}
	}
}

// place gives the one key of a link an offset, where the other has one.
func place(offset map[string]float64, l link) bool {
	from, hasFrom := offset[l.from]
	to, hasTo := offset[l.to]
	switch {
	case hasTo && !hasFrom:
		offset[l.from] = to + l.by
	case hasFrom && !hasTo:
		offset[l.to] = from - l.by
	}
	return hasFrom != hasTo
}

// joins says whether one of the two keys has an offset and the other none.
func (s shift) joins(offset map[string]float64) bool {
	_, hasFrom := offset[s.from]
	_, hasTo := offset[s.to]
	return hasFrom != hasTo
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
