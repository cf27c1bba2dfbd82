package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/ddpgate/ddpgate/record"
)

// tool says which ddpgate this is, from what the Go toolchain left in the binary: the tag or commit that it was built at.
func tool() record.Tool {
	built, ok := debug.ReadBuildInfo()
	if !ok {
		return record.Tool{Version: "unknown"}
	}
	t := record.Tool{Version: built.Main.Version}
	for _, s := range built.Settings {
		if s.Key == "vcs.revision" {
			t.Commit = s.Value
		}
	}
	return t
}

// versionCmd prints which ddpgate this is.
type versionCmd struct {
	JSON bool `name:"json" help:"As JSON."`
}

func (v *versionCmd) run(_ context.Context, c *command) (int, error) {
	t := tool()
	if v.JSON {
		return exitPass, json.NewEncoder(c.Stdout).Encode(t)
	}
	fmt.Fprintf(c.Stdout, "ddpgate %s", t.Version)
	if t.Commit != "" {
		fmt.Fprintf(c.Stdout, " (%.12s)", t.Commit)
	}
	fmt.Fprintln(c.Stdout)
	return exitPass, nil
}
