//go:build !race

package runner

// calibrations is how often the load is run before the first run, and after the last: about a second of CPU time in all, in parts, whose
// spread tells how much one of them says.
const calibrations = 2
