package meter

import "errors"

// A source is an operating system's view of its processes.
type source interface {
	// list returns the ids of all processes.
	list() ([]int, error)
	// look reads one process. The error is errGone when there is none.
	look(pid int) (process, error)
	// fine returns a closer reading of the CPU seconds of a process than look has, 0 where there is none.
	fine(pid int) float64
	// pss returns the bytes that a process holds, each page divided by how many processes share it.
	pss(pid int) (float64, error)
	// command returns the command line, arguments apart by blanks, empty where it cannot be read.
	command(pid int) string
}

// A process is one reading of one process. All counters are cumulative over its life.
type process struct {
	id     identity
	parent int
	name   string
	cpu    float64 // s, user and system, all threads, ended ones included
	reaped float64 // s, of the children that it has waited for, and of theirs
	ram    float64 // bytes, resident
	zombie bool    // it has ended and was not waited for yet: its counters are final, and it has no memory
}

// tick is the unit of the CPU times in Linux's /proc/PID/stat, the same on every machine that Go runs on, and coarse enough for
// other systems'.
const tick = 0.01 // s

// An identity tells a process from a later one with the same number.
type identity struct {
	pid   int
	start uint64 // in the system's own unit
}

// errNoPSS is why there is no proportional memory where no system has it.
var errNoPSS = errors.New("this system does not say how processes share memory")

var errGone = errors.New("no such process")
