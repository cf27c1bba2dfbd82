//go:build race

package ddp

// spare are allocations a message that the race detector adds: it makes pools forget.
const spare = 10
