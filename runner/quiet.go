package runner

import (
	"context"
	"fmt"
	"slices"
)

// calibrate runs the calibration load and adds what it took to the record.
func (w *work) calibrate(ctx context.Context) error {
	e := &w.rec.Environment
	for range calibrations {
		seconds, err := calibrate(ctx)
		if ctx.Err() != nil {
			return nil // cut short
		}
		if err != nil {
			return err
		}
		e.CalibrationLoad, e.Calibration = calibrationLoad, append(e.Calibration, seconds)
	}
	return nil
}

// look tries a few timers while nothing else is at work, and adds how late they were to the record.
func (w *work) look(ctx context.Context) {
	if w.glance == nil {
		return
	}
	late, ok := w.glance(ctx)
	if !ok {
		return
	}
	e := &w.rec.Environment
	e.Timers = append(e.Timers, late)
	sorted := slices.Sorted(slices.Values(e.Timers))
	e.Timer = sorted[(len(sorted)-1)/2]
	e.Shift = shift(e.Timers)
}

// A shift is a lateness of timers that the others do not explain: so many times their median, and so much more, in s.
const (
	shiftRatio = 4
	shiftLeast = 0.003
)

// shift says how the timers' lateness changed from look to look, empty where it did not.
func shift(timers []float64) string {
	if len(timers) < 2 {
		return ""
	}
	sorted := slices.Sorted(slices.Values(timers))
	usual, worst := sorted[(len(sorted)-1)/2], sorted[len(sorted)-1]
	if worst-usual < shiftLeast || worst < shiftRatio*usual {
		return ""
	}
	when := slices.Index(timers, worst)
	return fmt.Sprintf("the machine was not equally quiet throughout: timers were %.1f ms late at look %d of %d, and %.1f ms as a rule",
		worst*1000, when+1, len(timers), usual*1000)
}
