// Package build tells which ddpgate this is, from what the Go toolchain left in the binary.
package build

import "runtime/debug"

// Version returns the tag or pseudo-version that the binary was built at; "unknown" where the toolchain left none.
func Version() string {
	built, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return built.Main.Version
}

// Commit returns the commit that the binary was built at, empty where it is not known.
func Commit() string {
	built, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range built.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
