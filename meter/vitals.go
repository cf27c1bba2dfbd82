package meter

// What the machine tells of itself. Counters grow from its start on.
const (
	stolen         = "stolen"          // CPU seconds that the hypervisor gave to others, counter
	capacity       = "capacity"        // CPU seconds that there were, whatever they were used for, counter
	busy           = "busy"            // CPU seconds that were used, counter
	cpuPressure    = "pressure"        // s in which some task waited for a processor, counter
	memoryPressure = "pressure.memory" // s in which some task waited for memory, counter
	ioPressure     = "pressure.io"     // s in which some task waited for a disk, counter
	throttles      = "throttles"       // times that a core was slowed down for its heat, counter
	runQueue       = "run_queue"       // tasks that run or want to
	frequency      = "frequency"       // Hz, mean over the cores
)

// pressures are the counters that become a share of the time.
var pressures = []string{cpuPressure, memoryPressure, ioPressure}

// A Host is what the machine as a whole did over a time.
type Host struct {
	// Shares are ratios over the time: "steal" and "busy" of what CPU time there was, "pressure", "pressure.memory" and "pressure.io" of
	// the time in which some task waited, each only where the system tells; "throttles" is a count.
	Shares map[string]float64
	// Series are the same over each interval that ends at T, with "run_queue" (tasks) and "frequency" (Hz).
	Series map[string][]float64
}

// hostOver returns what the machine did between the first and the last edge.
func hostOver(edges []sample) Host {
	h := Host{Shares: make(map[string]float64), Series: make(map[string][]float64)}
	first, last := edges[0], edges[len(edges)-1]
	for name, value := range spent(first, last) {
		h.Shares[name] = value
		for i := range edges[1:] {
			// A reading that failed in between leaves what was before.
			h.Series[name] = append(h.Series[name], spent(edges[i], edges[i+1])[name])
		}
	}
	for _, name := range []string{runQueue, frequency} {
		var points []float64
		for _, e := range edges[1:] {
			if v, found := e.host[name]; found {
				points = append(points, v)
			}
		}
		if len(points) == len(edges)-1 && len(points) > 0 {
			h.Series[name] = points
		}
	}
	return h
}

// spent makes shares of the counters of two samples.
func spent(a, b sample) map[string]float64 {
	shares := make(map[string]float64)
	grown := func(name string) (float64, bool) {
		before, found := a.host[name]
		after, also := b.host[name]
		return max(0, after-before), found && also
	}
	seconds := b.at.Sub(a.at).Seconds()
	for _, name := range pressures {
		if waited, known := grown(name); known && seconds > 0 {
			shares[name] = min(1, waited/seconds)
		}
	}
	if all, known := grown(capacity); known && all > 0 {
		gone, _ := grown(stolen)
		shares["steal"] = min(1, gone/all)
		if used, known := grown(busy); known {
			shares[busy] = min(1, used/all)
		}
	}
	if n, known := grown(throttles); known {
		shares[throttles] = n
	}
	return shares
}
