// Package usage tells what this process itself has used.
package usage
