//go:build race

package runner

// calibrations is none under the race detector: what the load takes then says nothing of the machine.
const calibrations = 0
