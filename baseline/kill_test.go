package baseline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"net/http/httputil"
)

// checkCut checks that a save which was cut short left the key as it was before or as it should be after, that every record reads, and that the next save is the newest.
// It returns how many entries there are.
func checkCut(t *testing.T, spec string, before int) int {
	t.Helper()
	s, err := Open(spec, nil) // a line that was cut short is warned of
	if err != nil {
		t.Fatal(err)
	}
	entries, err := s.Load(t.Context(), "main")
	if err != nil || len(entries) < before || len(entries) > before+1 {
		t.Fatalf("got %d entries, %v, want %d or one more", len(entries), err, before)
	}
	for _, e := range entries {
		if _, err := s.Record(t.Context(), e.ID); err != nil {
			t.Fatalf("a record does not read: %v", err)
		}
	}
	next, err := s.Save(t.Context(), "main", numbered(1000+len(entries)), at(1))
	if err != nil {
		t.Fatalf("the next save: %v", err)
	}
	again, err := s.Load(t.Context(), "main")
	if err != nil || len(again) != len(entries)+1 || again[len(again)-1] != next {
		t.Fatalf("the next save is not the newest: %d entries, %v", len(again), err)
	}
	return len(again)
}

// writer returns a process that saves one record.
func writer(spec string, number int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asWriter+"="+spec, fmt.Sprintf("%s=%d", byWriter, number), justOne+"=1")
	return cmd
}

// gitThatKills is a git that kills who called it instead of running its command of a number. It counts in a file.
const gitThatKills = `#!/bin/sh
n=$(($(cat "$KILL_COUNT") + 1))
echo $n > "$KILL_COUNT"
if [ $n = "$KILL_AT" ]; then kill -9 $PPID; exit 1; fi
exec "$REAL_GIT" "$@"
`

// TestKilledGit kills a save between any two of its git commands.
func TestKilledGit(t *testing.T) {
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"branch", "remote"} {
		t.Run(kind, func(t *testing.T) {
			spec := stores[kind](t)
			save(t, open(t, spec), "main", 1)
			dir := t.TempDir()
			count := filepath.Join(dir, "count")
			if err := os.WriteFile(filepath.Join(dir, "git"), []byte(gitThatKills), 0o755); err != nil {
				t.Fatal(err)
			}
			entries, kept := 1, 0
			for n, ended := 1, false; !ended; n++ {
				writeFile(t, count, []byte("0\n"))
				cmd := writer(spec, 10*n)
				cmd.Env = append(cmd.Env, "PATH="+dir+":"+os.Getenv("PATH"), "REAL_GIT="+real, "KILL_COUNT="+count, fmt.Sprintf("KILL_AT=%d", n))
				ended = cmd.Run() == nil
				was := entries
				entries = checkCut(t, spec, entries)
				kept += entries - was - 1
			}
			if kept == 0 {
				t.Error("no save was ever whole: the test stops too early")
			}
		})
	}
}

// TestKilledS3 ends a save before and after each request.
func TestKilledS3(t *testing.T) {
	server := serveS3(t)
	behind, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	const spec = "s3://baselines/x"
	save(t, open(t, spec), "main", 1)
	entries := 1
	for n, ended := 1, false; !ended; n++ {
		for _, before := range []bool{true, false} {
			ctx, cancel := context.WithCancel(t.Context())
			var seen atomic.Int64
			through := proxy(behind)
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if seen.Add(1) != int64(n) {
					through.ServeHTTP(w, r)
					return
				}
				if !before {
					through.ServeHTTP(httptest.NewRecorder(), r)
				}
				cancel()
				panic(http.ErrAbortHandler)
			}))
			useS3(t, front.URL)
			s, err := Open(spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Save(ctx, "main", numbered(10*n), at(n))
			if ended = err == nil; !ended && !errors.Is(err, context.Canceled) {
				t.Fatalf("request %d: %v", n, err)
			}
			cancel()
			front.Close()
			useS3(t, server.URL)
			entries = checkCut(t, spec, entries)
		}
	}
	if entries < 8 {
		t.Errorf("got %d entries: the test ended too early", entries)
	}
}

// TestLostAnswerS3 writes a log and loses the answer, so that the client tries again: the entry is there once.
func TestLostAnswerS3(t *testing.T) {
	server := serveS3(t)
	behind, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	save(t, open(t, "s3://baselines"), "main", 1)
	lost := false
	through := proxy(behind)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "keys/") && !lost {
			lost = true
			through.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler) // the connection breaks
		}
		through.ServeHTTP(w, r)
	}))
	defer front.Close()
	useS3(t, front.URL)
	s := open(t, "s3://baselines")
	save(t, s, "main", 2)
	if got, err := s.Load(t.Context(), "main"); err != nil || len(got) != 2 || !lost {
		t.Errorf("got %d entries, %v, answer lost: %v", len(got), err, lost)
	}
}

func TestPatienceEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	err := patiently(ctx, func() error { return errMoved })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if err := patiently(t.Context(), func() error { return os.ErrExist }); !errors.Is(err, os.ErrExist) {
		t.Errorf("another error: got %v", err)
	}
}

// proxy hands requests on as they are, with the host that was signed.
func proxy(behind *url.URL) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = behind.Scheme, behind.Host, r.In.Host
	}}
}
