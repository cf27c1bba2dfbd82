package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ddpgate/ddpgate/internal/build"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestHost(t *testing.T) {
	h, err := newHost(env(map[string]string{
		"ALLOWED_TARGETS": "https://a.example", "AWS_REGION": "eu-west-1", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "3538",
	}), t.TempDir(), 6)
	if err != nil {
		t.Fatal(err)
	}
	if h.Cores != 2 || h.Region != "eu-west-1" || h.Version != build.Version() || len(h.ID) != 16 || !strings.HasSuffix(h.Machine, ", 3538 MB") {
		t.Errorf("got %+v", h.Worker)
	}
	one, err := newHost(env(map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "10240"}), t.TempDir(), 2)
	if err != nil || one.Cores != 2 || one.Allowed == nil || len(one.Allowed) != 0 || one.ID == h.ID {
		t.Errorf("%v: got %+v, allowed %q", err, one, one.Allowed)
	}
	for name, vars := range map[string]map[string]string{
		"ALLOWED_TARGETS":                 {"ALLOWED_TARGETS": "staging"},
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "much"},
	} {
		if _, err := newHost(env(vars), t.TempDir(), 1); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The lines of a job come by the reader that the handler returns, which ends.
func TestHandler(t *testing.T) {
	h, err := newHost(env(nil), t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := handler(h)(t.Context(), json.RawMessage(`{"format":"ddpgate/job/9"}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil || !strings.Contains(string(text), "understands ddpgate/job/1: deploy it again") {
		t.Errorf("%v: %s", err, text)
	}
}

// A worker that is set up wrongly says so to whoever invokes it.
func TestRefuse(t *testing.T) {
	var said, path string
	runtime := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		said, path = string(text), r.Method+" "+r.URL.Path
		w.WriteHeader(http.StatusAccepted)
	}))
	defer runtime.Close()
	_, wrong := newHost(env(map[string]string{"ALLOWED_TARGETS": "staging"}), t.TempDir(), 1)
	if err := refuse(strings.TrimPrefix(runtime.URL, "http://"), wrong); err != nil {
		t.Fatal(err)
	}
	if path != "POST /2018-06-01/runtime/init/error" || !strings.Contains(said, `ALLOWED_TARGETS: \"staging\" is no origin`) {
		t.Errorf("%s: got %s", path, said)
	}
	if err := refuse("", wrong); err != nil {
		t.Errorf("without a runtime: %v", err)
	}
}
