//go:build !race

package ddp

const spare = 0
