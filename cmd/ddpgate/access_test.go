package main

import (
	"bytes"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ddpgate/ddpgate/internal/tasksapp"
)

// TestStagingSite drives an app that answers by TLS with a certificate of its own authority, and lets nobody in without a cookie.
func TestStagingSite(t *testing.T) {
	tasks := tasksapp.New(tasksapp.Options{})
	site := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") != "staging=s3cret" {
			http.Error(w, "who is there?", http.StatusServiceUnavailable)
			return
		}
		tasks.ServeHTTP(w, r)
	}))
	defer site.Close()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca := write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: site.Certificate().Raw})))
	known := "app: {url: \"" + site.URL + "\", ready: 3s, headers: {Cookie: STAGING}, ca: \"" + ca + "\"}\nruns: {min: 1, max: 1, warmup: 0, cooldown: 0s}\n"
	unknown := strings.Replace(known, ", ca: \""+ca+"\"", "", 1)
	for _, tt := range []struct {
		name, config, cookie string
		code                 int
		want                 string // on stdout or stderr
	}{
		{"let in", known, "staging=s3cret", exitPass, "2 sessions"},
		{"no value", known, "", exitUsage, "headers.Cookie: the environment has no STAGING"},
		{"the wrong value", known, "staging=guess", exitUnmeasured, "503"},
		{"an unknown authority", unknown, "staging=s3cret", exitUnmeasured, "certificate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			out.Reset()
			record := filepath.Join(dir, strings.ReplaceAll(tt.name, " ", "-")+".json")
			c := &command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Env: func(name string) string {
				return map[string]string{"STAGING": tt.cookie}[name]
			}}
			got := c.Main(t.Context(), []string{"-c", write("ddpgate.yml", tt.config), "run", "tasks-reactive", "--rate", "20/s", "--for", "100ms", "--think", "0s", "--tasks", "1", "--store", "dir:" + dir, "--out", record})
			if got != tt.code && !strings.Contains(out.String(), "started late") || !strings.Contains(out.String(), tt.want) {
				t.Errorf("exit %d, want %d and %q:\n%s", got, tt.code, tt.want, &out)
			}
			kept, _ := os.ReadFile(record) // there is none where nothing was run
			if tt.cookie != "" && (bytes.Contains(kept, []byte(tt.cookie)) || strings.Contains(out.String(), tt.cookie)) {
				t.Error("the cookie was written down")
			}
		})
	}
}
