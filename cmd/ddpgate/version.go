package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ddpgate/ddpgate/internal/build"
	"github.com/ddpgate/ddpgate/record"
)

// tool says which ddpgate this is.
func tool() record.Tool { return record.Tool{Version: build.Version(), Commit: build.Commit()} }

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
