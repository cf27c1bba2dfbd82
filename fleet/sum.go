package fleet

import (
	"context"
	"fmt"

	"github.com/ddpgate/ddpgate/drive"
)

// open reads a share's parts, or says why they cannot be merged.
func (v *voyage) open(i int, sealed []Sealed) (parts []*drive.Part, fault string) {
	if len(sealed) != len(v.merged) {
		return nil, fmt.Sprintf("it answered with %d parts, want %d", len(sealed), len(v.merged))
	}
	for t := range sealed {
		part, err := sealed[t].open()
		if err != nil {
			return nil, err.Error()
		}
		if want := v.shares[i].source.Sessions; part.Planned != want {
			return nil, fmt.Sprintf("it planned %d sessions, want %d", part.Planned, want)
		}
		parts = append(parts, part)
	}
	return parts, ""
}

// merge adds a share's parts, one a target, to the sums.
func (v *voyage) merge(i int, parts []*drive.Part) {
	s := &v.shares[i].source
	for t, part := range parts {
		if lag := part.Histograms["lag"]; lag != nil {
			if p99, ok := lag.Quantile(0.99); ok {
				s.Lag = max(s.Lag, p99)
			}
		}
		s.Self.Busy = max(s.Self.Busy, part.Self.Busy)
		s.Self.CPU += part.Self.CPU
		if v.region != nil {
			region := v.region[t][s.Region]
			if region == nil {
				region = drive.NewPart(v.ticket.Scenario)
				v.region[t][s.Region] = region
			}
			region.Merge(part.Clone())
		}
		v.merged[t].Merge(part)
	}
	v.shares[i].merged = true
}

// lateness returns why a share's sessions were not those that were asked for: more than one, and more than one in a hundred, started
// late. Among those of many workers they would not be seen.
func lateness(parts []*drive.Part) string {
	for _, p := range parts {
		if p.Late > max(1, p.Planned/100) {
			return fmt.Sprintf("it started %d of its %d sessions late", p.Late, p.Planned)
		}
	}
	return ""
}

// parts closes the sums: shares that are missing are sessions that were dropped, and make the load one that may not be judged.
func (v *voyage) parts(ctx context.Context) []*drive.Part {
	doubled := make(map[int]int)
	if v.fleet.Store != nil {
		fresh, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		if found, err := duplicates(fresh, v.fleet.Store, v.ticket.Run); err == nil {
			doubled = found
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range v.shares {
		s := &v.shares[i]
		s.source.Duplicates = max(s.source.Duplicates, doubled[i])
		switch {
		case s.answered || s.fault != "":
		case v.unread != nil:
			s.fault = fmt.Sprintf("its parts could not be looked for: %v", v.unread)
		default:
			s.fault = "it gave no answer in time"
		}
		s.source.Fault = s.fault
		for _, p := range v.merged {
			if !s.merged {
				p.Planned, p.Dropped = p.Planned+s.source.Sessions, p.Dropped+s.source.Sessions
			}
		}
	}
	for t, p := range v.merged {
		v.finish(t, p)
	}
	return v.merged
}

func (v *voyage) finish(target int, p *drive.Part) {
	p.Start = v.ticket.Start
	for i := range v.shares {
		s := v.shares[i].source
		p.Sources = append(p.Sources, s)
		if s.Fault != "" {
			where := ""
			if s.Region != "" {
				where = " in " + s.Region
			}
			p.Faults = append(p.Faults, fmt.Sprintf("worker %d of %d%s: %s", i+1, len(v.shares), where, s.Fault))
		}
	}
	if v.region == nil {
		return
	}
	p.Regions = make(map[string]map[string]float64)
	for name, part := range v.region[target] {
		p.Regions[name], _ = part.Metrics()
	}
}
