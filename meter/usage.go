package meter

import (
	"cmp"
	"slices"
	"time"
)

// Usage is what the roles used over a time.
type Usage struct {
	// Start is what T counts from.
	Start time.Time
	// Seconds is the length of the time.
	Seconds float64
	// T are the ends of the sampling intervals, in s from Start, ascending.
	T []float64
	// Roles is what each role used. A role of which no process was seen is not in it.
	Roles map[string]Role
	// Host is what the whole machine did.
	Host Host
	// Cost is the CPU seconds that metering took.
	Cost float64

	broken   map[string]broken            // by role
	missing  map[string]map[string]string // by role and name, why a figure is not there
	roles    []string                     // by number
	samples  []sample                     // of the whole time that was metered
	interval time.Duration
}

// A Role is what the processes of one role used over a time.
type Role struct {
	CPUSeconds float64   // of all its processes, those included that have ended
	RAMMean    float64   // bytes, resident, over the time in which it had a process
	RAMPeak    float64   // bytes, largest sample
	CPU        []float64 // cores in use over each interval that ends at T
	RAM        []float64 // bytes at T, 0 where it had no process
	Ended      bool      // it had a process, and none was left at the end of the time
	// More is what the system tells of some roles only: "ram_pss", "ram_anon", "ram_file", "ram_shared", "ram_charged" (bytes),
	// "throttled" (s), "oom_kills" (a count).
	More map[string]float64
	// Missing is why something is not in More that could be.
	Missing map[string]string
	// Broken is why the figures end before the time does, empty if they do not. The series end there, and the others are not whole.
	Broken string
	// Restarted says that they do because the process was restarted.
	Restarted bool
}

// A broken is how a role's figures ended.
type broken struct {
	at        time.Time // of the last one
	why       string
	restarted bool
}

// A sample is a reading and when it was taken.
type sample struct {
	at time.Time
	reading
}

func newUsage(roles []string, samples []sample, interval time.Duration) Usage {
	u := Usage{roles: roles, samples: samples, interval: interval}
	return u.Between(samples[0].at, samples[len(samples)-1].at)
}

// Between returns the usage from a to b, or what of it was metered. Times of Mark are exact; others are interpolated between
// samples.
func (u Usage) Between(a, b time.Time) Usage {
	w := Usage{Start: a, roles: u.roles, samples: u.samples, interval: u.interval, missing: u.missing, broken: u.broken, Roles: make(map[string]Role)}
	if len(u.samples) == 0 {
		return w
	}
	first, last := u.samples[0].at, u.samples[len(u.samples)-1].at
	if a.Before(first) {
		a = first
	}
	if b.After(last) {
		b = last
	}
	if !b.After(a) {
		return w
	}
	w.Start, w.Seconds = a, b.Sub(a).Seconds()
	edges := u.edges(a, b)
	for _, e := range edges[1:] {
		w.T = append(w.T, e.at.Sub(a).Seconds())
	}
	inner := u.inner(a, b)
	for i, name := range u.roles {
		r, seen := roleOver(i, edges, inner)
		end, broken := u.broken[name]
		if i == none || !seen && !broken {
			continue
		}
		r.Missing = u.missing[name]
		if broken && end.at.Before(b) {
			r.cut(w, end)
		}
		w.Roles[name] = r
	}
	w.Host, w.Cost = hostOver(edges), inner[len(inner)-1].cost-inner[0].cost
	return w
}

// cut ends a role's series where its figures end.
func (r *Role) cut(w Usage, end broken) {
	n := 0
	for n < len(w.T) && !w.Start.Add(time.Duration(w.T[n]*float64(time.Second))).After(end.at) {
		n++
	}
	r.CPU, r.RAM, r.Broken, r.Restarted = r.CPU[:n], r.RAM[:n], end.why, end.restarted
}

// RAMAt returns the resident memory in bytes of each role at a time: of the sample nearest to it. A role that had no process
// then is not in it.
func (u Usage) RAMAt(at time.Time) map[string]float64 {
	ram := make(map[string]float64)
	if len(u.samples) == 0 {
		return ram
	}
	nearest := slices.MinFunc(u.samples, func(x, y sample) int {
		return cmp.Compare(x.at.Sub(at).Abs(), y.at.Sub(at).Abs())
	})
	for i, name := range u.roles {
		if i != none && nearest.alive[i] {
			ram[name] = nearest.ram[i]
		}
	}
	return ram
}

// inner returns the samples from a to b, with one made at each end where there is none.
func (u Usage) inner(a, b time.Time) []sample {
	found := []sample{u.at(a)}
	for _, s := range u.samples {
		if s.at.After(a) && s.at.Before(b) {
			found = append(found, s)
		}
	}
	return append(found, u.at(b))
}

// edges returns the ends of the series' intervals: the samples from a to b, but those that stand too near to another one to
// make a rate of, because CPU time may come in ticks.
func (u Usage) edges(a, b time.Time) []sample {
	all := u.inner(a, b)
	last := len(all) - 1
	edges := all[:1:1]
	for _, s := range all[1:last] {
		if s.at.Sub(edges[len(edges)-1].at) >= u.interval/2 && b.Sub(s.at) >= u.interval/2 {
			edges = append(edges, s)
		}
	}
	return append(edges, all[last])
}

// at returns the sample at a time within the metered, interpolated if there is none.
func (u Usage) at(t time.Time) sample {
	i, exact := slices.BinarySearchFunc(u.samples, t, func(s sample, t time.Time) int { return s.at.Compare(t) })
	if exact || i == 0 {
		return u.samples[i]
	}
	before, after := u.samples[i-1], u.samples[i]
	part := t.Sub(before.at).Seconds() / after.at.Sub(before.at).Seconds()
	s := sample{at: t, reading: reading{
		used: make([]float64, len(u.roles)), ram: make([]float64, len(u.roles)), alive: make([]bool, len(u.roles)),
		host: between(before.host, after.host, part), cost: before.cost + part*(after.cost-before.cost),
	}}
	for r := range u.roles {
		s.used[r] = before.used[r] + part*(after.used[r]-before.used[r])
		near := before
		if !before.alive[r] || after.alive[r] && part >= 0.5 {
			near = after
		}
		s.ram[r], s.alive[r] = near.ram[r], near.alive[r]
		if before.alive[r] && after.alive[r] {
			s.ram[r] = before.ram[r] + part*(after.ram[r]-before.ram[r])
		}
	}
	return s
}

// between returns what lies between two readings of the machine.
func between(before, after map[string]float64, part float64) map[string]float64 {
	found := make(map[string]float64)
	for name, b := range before {
		if a, also := after[name]; also {
			found[name] = b + part*(a-b)
		}
	}
	return found
}

// roleOver returns what one role used from the first of the samples to the last, with series by the edges.
func roleOver(i int, edges, samples []sample) (role Role, seen bool) {
	last := samples[len(samples)-1]
	role.CPUSeconds = last.used[i] - samples[0].used[i]
	var area, held, sum, n float64
	for k, s := range samples {
		if !s.alive[i] {
			continue
		}
		sum, n = sum+s.ram[i], n+1
		role.RAMPeak = max(role.RAMPeak, s.ram[i])
		if k > 0 && samples[k-1].alive[i] {
			dt := s.at.Sub(samples[k-1].at).Seconds()
			area, held = area+dt*(s.ram[i]+samples[k-1].ram[i])/2, held+dt
		}
	}
	seen = n > 0
	role.Ended = seen && !last.alive[i]
	switch {
	case held > 0:
		role.RAMMean = area / held
	case seen:
		role.RAMMean = sum / n
	}
	for k, e := range edges[1:] {
		dt := e.at.Sub(edges[k].at).Seconds()
		role.CPU = append(role.CPU, (e.used[i]-edges[k].used[i])/dt)
		role.RAM = append(role.RAM, e.ram[i])
	}
	role.More = moreOver(i, samples)
	return role, seen || role.CPUSeconds > 0
}
