//go:build !linux

package app

// noGroups is why a process has no control groups.
const noGroups = "control groups are Linux's"
