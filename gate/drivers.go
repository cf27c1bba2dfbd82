package gate

import (
	"fmt"
	"slices"

	"github.com/ddpgate/ddpgate/record"
)

// drivenBy notes who drove each arm, where that was not one process.
func (e *Environment) drivenBy(arm string, d record.Drivers) {
	if d.Workers == 0 {
		return
	}
	if e.Drivers == nil {
		e.Drivers = make(map[string]record.Drivers)
	}
	e.Drivers[arm] = d
}

// matchDrivers holds who drove base against who drove head. Another number of them is another driver of the same kind; from another place the network
// is part of every latency, and what the driver takes of the app's machine of every other figure.
func (e *Environment) matchDrivers(base, head record.Drivers) {
	e.drivenBy(record.Base, base)
	e.drivenBy(record.Head, head)
	elsewhere := !slices.Equal(base.Regions, head.Regions)
	if !elsewhere && base.Workers == head.Workers {
		return
	}
	e.Differs = append(e.Differs, fmt.Sprintf("drivers: %v in base, %v in head", base, head))
	switch {
	case elsewhere && e.Match != Unknown:
		e.Match = Mismatched
	case e.Match == Identical:
		e.Match = Compatible
	}
}

// drivenAlike says whether two records were driven from the same places.
func drivenAlike(a, b *record.Record) bool {
	return slices.Equal(a.Drivers(record.Head).Regions, b.Drivers(record.Head).Regions)
}
