package runner

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/meter"
	"github.com/ddpgate/ddpgate/record"
)

// instrumented returns the app's configuration with what makes Node tell of itself, and the directory in which it does, which is the
// caller's to remove. Both are as they were where that is not wanted.
func instrumented(arm Arm) (c app.Config, dir string, err error) {
	c = arm.App
	if !c.Node {
		return c, "", nil
	}
	if dir, err = os.MkdirTemp("", "ddpgate-node-"); err != nil {
		return c, "", err
	}
	env, err := meter.Instrument(dir, cmp.Or(c.Env["NODE_OPTIONS"], inherited(arm.Options, "NODE_OPTIONS")))
	if err != nil {
		return c, dir, err
	}
	for name, value := range c.Env {
		if _, ours := env[name]; !ours {
			env[name] = value
		}
	}
	c.Env = env
	return c, dir, nil
}

// inherited is a variable of the environment that the app inherits.
func inherited(o app.Options, name string) string {
	if o.Environ == nil {
		return os.Getenv(name)
	}
	for _, kv := range slices.Backward(o.Environ) {
		if value, found := strings.CutPrefix(kv, name+"="); found {
			return value
		}
	}
	return ""
}

// nodeFigures are those that say why they are missing.
var nodeFigures = []string{"gc", "loop.p50", "loop.p99", "heap"}

// foldNode adds what Node told of itself.
func (s *seen) foldNode(run *record.Run, load meter.Usage) {
	if s.nodeDir == "" {
		return
	}
	why := "the load was not carried out whole"
	if _, whole := run.Metrics["time"]; whole {
		n, err := meter.ReadNode(s.nodeDir, s.server, s.begun, s.ended, load.T)
		if err == nil {
			for name, value := range n.Figures {
				run.Metrics["node."+name] = value
			}
			s.loop, s.nodeSeries = n.Figures["loop.used"], n.Series
			return
		}
		why = err.Error()
	}
	for _, name := range nodeFigures {
		run.Missing["node."+name] = why
	}
}
