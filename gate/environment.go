package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	gonum "gonum.org/v1/gonum/stat"

	"github.com/ddpgate/ddpgate/record"
)

// match compares the machines of two records.
func match(base, head record.Environment) Environment {
	e := Environment{Match: Identical, Differs: []string{}}
	differ := func(m Match, what string, b, h any) {
		if b != h {
			e.Differs = append(e.Differs, fmt.Sprintf("%s: %v in base, %v in head", what, b, h))
			if e.Match != Mismatched {
				e.Match = m
			}
		}
	}
	differ(Mismatched, "cpu", base.CPU, head.CPU)
	differ(Mismatched, "cores", base.Cores, head.Cores)
	differ(Mismatched, "arch", base.Arch, head.Arch)
	differ(Mismatched, "os", base.OS, head.OS)
	differ(Mismatched, "quota", base.Quota, head.Quota)
	differ(Mismatched, "cpus", placed(base), placed(head))
	differ(Compatible, "container", base.Container, head.Container)
	// What one record does not say is no difference.
	told := func(m Match, what, b, h string) {
		if b != "" && h != "" {
			differ(m, what, b, h)
		}
	}
	told(Mismatched, "governor", base.Governor, head.Governor)
	told(Compatible, "platform", base.Platform, head.Platform)
	told(Compatible, "image", base.Image, head.Image)
	told(Compatible, "clock", base.Clock, head.Clock)
	told(Compatible, "node", base.Node, head.Node)
	told(Compatible, "mongodb", base.MongoDB, head.MongoDB)
	differ(Compatible, "machine", base.Machine, head.Machine)
	differ(Compatible, "memory", base.Memory, head.Memory)
	differ(Compatible, "kernel", base.Kernel, head.Kernel)
	if nameless(base) || nameless(head) {
		e.Match = Unknown
	}
	return e
}

// nameless says whether nothing is known of the machine, as of imported figures.
func nameless(e record.Environment) bool { return e.Machine == "" && e.CPU == "" }

// sameKind says whether two machines are of one kind, and were used in one way.
func sameKind(a, b record.Environment) bool {
	return a.CPU == b.CPU && a.Cores == b.Cores && a.Arch == b.Arch && a.OS == b.OS && placed(a) == placed(b)
}

// placed says which CPUs the app and the driver were kept on.
func placed(e record.Environment) string { return cmp.Or(e.CPUs.String(), "app and driver on any") }

const (
	// agreement is how far the calibration loads of two records may be apart where no A/A records say better.
	agreement = 0.10
	// timerFloor is a difference in timer noise, in s, that is none, and timerRatio one that a few timers show by chance: their tails
	// are known badly.
	timerFloor, timerRatio = 0.001, 2
)

// A doubt is why one machine was not the same for both records, and how large a change that may explain, as the logarithm of a
// ratio. The zero value is no doubt.
type doubt struct {
	why      string
	explains float64
}

const (
	// margin is how many times as far as the calibration load an app may be thrown off by the same cause.
	margin = 2
	// timersExplain is the largest change that timer noise is taken to explain.
	timersExplain = 0.25
)

// unsteady returns what is to be doubted about two records of one machine.
func unsteady(base, head record.Environment, tolerance float64) doubt {
	if len(base.Calibration) > 0 && len(head.Calibration) > 0 && base.CalibrationLoad == head.CalibrationLoad {
		b, h := gonum.Mean(base.Calibration, nil), gonum.Mean(head.Calibration, nil)
		// A machine that was not the same for one record's own loads says little by two records'.
		tolerance = max(tolerance, spread(base.Calibration), spread(head.Calibration))
		if away := math.Abs(math.Log(h / b)); !(away <= math.Log1p(tolerance)) {
			why := fmt.Sprintf("the machine ran the calibration load in %.3g s beside base and %.3g s beside head, more than %.0f %% apart", b, h, tolerance*100)
			return doubt{why, margin * away}
		}
	}
	if b, h := base.Timer, head.Timer; b > 0 && h > 0 && math.Abs(h-b) > timerFloor && max(b, h) > timerRatio*min(b, h) {
		return doubt{fmt.Sprintf("timers fired %.2g ms late beside base and %.2g ms beside head", b*1e3, h*1e3), math.Log1p(timersExplain)}
	}
	return doubt{}
}

// spread returns how much longer the longest took than the shortest, as a ratio.
func spread(loads []float64) float64 { return slices.Max(loads)/slices.Min(loads) - 1 }
