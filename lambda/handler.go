package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/fleet"
	"github.com/ddpgate/ddpgate/internal/build"
	"github.com/ddpgate/ddpgate/probe"
)

// perCore is how many MB of memory a function has for each processor's worth of time that it may use.
const perCore = 1769

// newHost makes the worker from the environment of its function, on the machine whose file system is at root.
func newHost(env func(string) string, root string, procs int) (*fleet.Host, error) {
	allowed, err := fleet.ParseAllowed(env("ALLOWED_TARGETS"))
	if err != nil {
		return nil, fmt.Errorf("ALLOWED_TARGETS: %w", err)
	}
	h := &fleet.Host{Allowed: allowed, Open: fleet.OpenStore}
	h.ID, h.Version, h.Region = id(), build.Version(), env("AWS_REGION")
	h.Cores = float64(procs)
	m := probe.Fingerprint(root, env)
	h.Machine = strings.TrimSpace(m.CPU + " " + m.Arch)
	if text := env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"); text != "" {
		memory, err := strconv.Atoi(text)
		if err != nil || memory < 1 {
			return nil, fmt.Errorf("AWS_LAMBDA_FUNCTION_MEMORY_SIZE is %q, want a number of MB", text)
		}
		h.Cores = min(h.Cores, float64(memory)/perCore)
		h.Machine += fmt.Sprintf(", %d MB", memory)
	}
	return h, nil
}

func id() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// handler does a job while its lines are read. Whoever reads them reads to the end, or closes, which ends the job too.
func handler(h *fleet.Host) func(context.Context, json.RawMessage) (io.Reader, error) {
	return func(ctx context.Context, event json.RawMessage) (io.Reader, error) {
		lines, out := io.Pipe()
		go func() { out.CloseWithError(h.Work(ctx, event, out)) }()
		return lines, nil
	}
}

// refuse tells the runtime that there is no worker, and why: whoever invokes the function is told too.
func refuse(api string, why error) error {
	if api == "" {
		return nil
	}
	const kind = "Worker.Configuration"
	text, err := json.Marshal(map[string]any{"errorType": kind, "errorMessage": why.Error(), "stackTrace": []string{}})
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+api+"/2018-06-01/runtime/init/error", bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Lambda-Runtime-Function-Error-Type", kind)
	client := &http.Client{Timeout: 5 * time.Second}
	answer, err := client.Do(req)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
