package runner

import (
	"errors"
	"time"

	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/scenario"
)

// Collected returns the run of a load of which only its part is known, because who began it is gone. Nobody metered it: what processes
// used is missing, for that reason. Arm, pair and index are left to the caller.
func Collected(sc scenario.Scenario, part *drive.Part, why string) (record.Run, error) {
	s := seen{part: part, unmetered: errors.New(why), begun: part.Start, ended: part.Start.Add(time.Duration(part.Time * float64(time.Second)))}
	run, err := s.fold(sc)
	run.Started = part.Start.UTC()
	return run, err
}

// Lost returns the run of a load of which nothing can be known any more, and which may not be judged.
func Lost(start time.Time, why error) record.Run { return refused(start, why) }
