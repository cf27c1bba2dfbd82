package meter

// What a role has beside its CPU time and resident memory, where the system tells, by the names of the metrics.
const (
	ramPSS     = "ram_pss"     // bytes, pages divided by how many processes share them; of roles with several processes
	ramAnon    = "ram_anon"    // bytes that belong to no file
	ramFile    = "ram_file"    // bytes of file cache
	ramShared  = "ram_shared"  // bytes of shared memory
	ramCharged = "ram_charged" // bytes, the most that was ever charged, file cache included
	throttled  = "throttled"   // s of waiting for a quota
	oomKills   = "oom_kills"   // processes killed for want of memory
)

// extra is how one of them is made of samples.
type extra int

const (
	mean extra = iota
	growth
	latest
)

var extras = map[string]extra{
	ramPSS: mean, ramAnon: mean, ramFile: mean, ramShared: mean,
	ramCharged: latest, throttled: growth, oomKills: growth,
}

// moreOver returns what a role had of the extras over samples.
func moreOver(role int, samples []sample) map[string]float64 {
	var all map[string]float64
	for name, how := range extras {
		var values []float64
		for _, s := range samples {
			if role < len(s.more) {
				if v, found := s.more[role][name]; found {
					values = append(values, v)
				}
			}
		}
		if len(values) == 0 {
			continue
		}
		if all == nil {
			all = make(map[string]float64)
		}
		last := values[len(values)-1]
		switch how {
		case mean:
			var sum float64
			for _, v := range values {
				sum += v
			}
			all[name] = sum / float64(len(values))
		case growth:
			all[name] = last - values[0]
		case latest:
			all[name] = last
		}
	}
	return all
}
