package record

import (
	"fmt"
	"slices"
	"strings"
)

// Drivers is who put the load on an arm's app. The zero value is the ddpgate that wrote the record.
type Drivers struct {
	Workers    int      `json:"workers"`              // that shared each load
	Regions    []string `json:"regions,omitempty"`    // where they were, in order; empty for the machine of the record
	Duplicates int      `json:"duplicates,omitempty"` // shares of a load that were handed out twice, in all runs: they count once
}

// Drivers returns who drove an arm's runs.
func (r *Record) Drivers(arm string) Drivers {
	var d Drivers
	for i := range r.Scenarios {
		for _, run := range r.Scenarios[i].Arm(arm) {
			d.Workers = max(d.Workers, len(run.Shards))
			for _, s := range run.Shards {
				d.Duplicates += s.Duplicates
				if s.Region != "" && !slices.Contains(d.Regions, s.Region) {
					d.Regions = append(d.Regions, s.Region)
				}
			}
		}
	}
	slices.Sort(d.Regions)
	return d
}

// Where says where the drivers were.
func (d Drivers) Where() string {
	switch len(d.Regions) {
	case 0:
		return "on this machine"
	case 1:
		return "in " + d.Regions[0]
	}
	return fmt.Sprintf("in %d regions (%s)", len(d.Regions), strings.Join(d.Regions, ", "))
}

// String says who they are, such as "50 workers in eu-central-1".
func (d Drivers) String() string {
	switch d.Workers {
	case 0:
		return "one process on this machine"
	case 1:
		return "1 worker " + d.Where()
	}
	return fmt.Sprintf("%d workers %s", d.Workers, d.Where())
}
