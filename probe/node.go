package probe

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

//go:embed timers.js
var timersJS string

// NodeTimers tries the timers of a child Node as Timers does this process's own; setTimeout(0) waits 1 ms. The error wraps
// exec.ErrNotFound where there is no Node.
func NodeTimers(ctx context.Context) ([]Noise, error) { return nodeTimers(ctx, full) }

func nodeTimers(ctx context.Context, courses []course) ([]Noise, error) {
	args := []string{"-e", timersJS, "--"}
	for _, c := range courses {
		delay := c.delay.Milliseconds()
		if delay == 1 {
			delay = 0 // as it was published; Node makes 1 of it
		}
		args = append(args, strconv.FormatInt(delay, 10), strconv.Itoa(c.calls), strconv.FormatInt(c.limit.Milliseconds(), 10))
	}
	out, err := nodeOutput(ctx, args...)
	if err != nil {
		return nil, err
	}
	in := json.NewDecoder(bytes.NewReader(out))
	var all []Noise
	for _, c := range courses {
		var took []float64
		if err := in.Decode(&took); err != nil {
			return nil, fmt.Errorf("node's timers: %w", err)
		}
		for i := range took {
			took[i] /= 1000
		}
		all = append(all, newNoise(c.delay.Seconds(), took))
	}
	return all, nil
}

func nodeOutput(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	return out, nil
}

// A Toolchain is the versions of what an app runs on, each empty where it is not there.
type Toolchain struct {
	Node    string `json:"node,omitempty"`
	MongoDB string `json:"mongodb,omitempty"`
}

// versionLimit is how long a program may take to say its version.
const versionLimit = 10 * time.Second

// Tools asks the programs in PATH for their versions.
func Tools(ctx context.Context) Toolchain {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	var t Toolchain
	if out, err := nodeOutput(ctx, "--version"); err == nil {
		t.Node = strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
	}
	cmd := exec.CommandContext(ctx, "mongod", "--version")
	cmd.WaitDelay = time.Second
	if out, err := cmd.Output(); err == nil {
		line, _, _ := strings.Cut(string(out), "\n")
		t.MongoDB = strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(line, "db version")), "v")
	}
	return t
}
