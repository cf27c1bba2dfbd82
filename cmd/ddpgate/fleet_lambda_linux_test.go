package main

import (
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/ddpgate/ddpgate/fleet"
	"github.com/ddpgate/ddpgate/internal/lambdatest"
	"github.com/ddpgate/ddpgate/record"
)

// A cloud is an AWS with a function in each region and a bucket, and an app that the function may drive.
type cloud struct {
	dir, url string
}

// bucketOfParts is where parts are kept in the cloud.
const bucketOfParts = "s3://parts/loads"

func newCloud(t *testing.T) cloud {
	t.Helper()
	c := cloud{dir: t.TempDir(), url: served(t)}
	backend := s3mem.New()
	if err := backend.CreateBucket("parts"); err != nil {
		t.Fatal(err)
	}
	s3 := httptest.NewServer(gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server())
	t.Cleanup(s3.Close)
	binary, err := lambdatest.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_ENDPOINT_URL_S3", s3.URL)
	lambdatest.Start(t, lambdatest.Options{Binary: binary, Env: map[string]string{"ALLOWED_TARGETS": c.url, "AWS_ENDPOINT_URL_S3": s3.URL}})
	config := "runs: {min: 1, max: 1, warmup: 0, cooldown: 0s}\n"
	if err := os.WriteFile(filepath.Join(c.dir, "ddpgate.yml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c cloud) command(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), "ddpgate", args...)
	cmd.Dir = c.dir
	return cmd
}

// do runs ddpgate to its end, and returns what it said.
func (c cloud) do(t *testing.T, args ...string) (said string, code int) {
	t.Helper()
	out, err := c.command(t, args...).CombinedOutput()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return string(out), exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return string(out), 0
}

// run returns the first run of a record with one scenario. On a busy machine there are more, in place of invalid ones.
func (c cloud) run(t *testing.T, file string) record.Run {
	t.Helper()
	rec, err := record.Read(filepath.Join(c.dir, file))
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Scenarios) != 1 || len(rec.Scenarios[0].Runs) == 0 {
		t.Fatalf("the record has %d scenarios, want one with a run", len(rec.Scenarios))
	}
	return rec.Scenarios[0].Runs[0]
}

func TestFromLambda(t *testing.T) {
	c := newCloud(t)
	t.Run("regions", c.regions)
	t.Run("resume", c.resumed)
}

// Functions in two regions drive one load; a target that the function's owner has not listed is refused before anything is driven.
func (c cloud) regions(t *testing.T) {
	load := []string{"run", "tasks-reactive", "--rate", "8/s", "--for", "1s", "--think", "1ms", "--tasks", "2",
		"--workers", "lambda:eu-central-1/" + lambdatest.Name + ",us-east-1/" + lambdatest.Name, "--count", "4"}
	said, code := c.do(t, append(load, "--url", c.url, "--out", "r.json")...)
	if code != exitPass && code != exitUnmeasured {
		t.Fatalf("exit %d: %s", code, said)
	}
	run := c.run(t, "r.json")
	if run.Sessions.OK != 8 || len(run.Shards) != 4 || len(run.Regions) != 2 || !(run.Regions["us-east-1"]["session.p50"] > 0) {
		t.Errorf("%s for %q: %+v, %+v, regions %v", run.Outcome, run.Reasons, run.Sessions, run.Shards, run.Regions)
	}
	if !strings.Contains(said, "driven by 4 workers in 2 regions (eu-central-1, us-east-1)") {
		t.Errorf("it said %s", said)
	}
	said, code = c.do(t, append(load, "--url", "http://192.0.2.7", "--out", "never.json")...)
	if code != exitUsage || !strings.Contains(said, "http://192.0.2.7 may not be driven") || strings.Count(said, "may not be driven") != 2 {
		t.Errorf("an app that is not listed: exit %d: %s", code, said)
	}
	said, code = c.do(t, "run", "connect", "--url", c.url, "--workers", "lambda:eu-central-1/"+lambdatest.Name+"-not", "--count", "2")
	if code != exitUsage || strings.Contains(said, "run 1 of") {
		t.Errorf("a function that is not there: exit %d: %s", code, said)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "never.json")); err == nil {
		t.Error("a load that was refused has a record")
	}
}

// A ddpgate that is killed in the middle of a load is replaced by another one, which finds in the bucket what the workers saw.
func (c cloud) resumed(t *testing.T) {
	cmd := c.command(t, "run", "tasks-reactive", "--rate", "8/s", "--for", "2s", "--think", "1ms", "--tasks", "2", "--timeout", "5s",
		"--url", c.url, "--out", "killed.json", "--workers", "lambda:eu-central-1/"+lambdatest.Name, "--count", "2", "--parts", bucketOfParts, "--async")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	var notes []string
	eventually(t, "a load that is noted", func() bool {
		notes, _ = filepath.Glob(filepath.Join(c.dir, ".ddpgate/fleet/*.json"))
		return len(notes) == 1
	})
	name := strings.TrimSuffix(filepath.Base(notes[0]), ".json")
	store, err := fleet.OpenStore(t.Context(), bucketOfParts)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "two workers that have taken their jobs", func() bool {
		objects, err := store.List(t.Context(), name+"/")
		return err == nil && len(objects) >= 2
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	said, code := c.do(t, "run", "--resume", name[:8])
	if code != exitPass && code != exitUnmeasured {
		t.Fatalf("exit %d: %s", code, said)
	}
	run := c.run(t, "killed.json")
	if run.Sessions.OK != 16 || len(run.Shards) != 2 || !(run.Metrics["session.p50"] > 0) {
		t.Errorf("%s for %q: %+v, %+v", run.Outcome, run.Reasons, run.Sessions, run.Shards)
	}
	if _, found := run.Metrics["cpu_seconds"]; found || run.Missing["cpu_seconds"] != unmetered {
		t.Errorf("cpu_seconds is %v; missing: %q", run.Metrics["cpu_seconds"], run.Missing["cpu_seconds"])
	}
	if left, _ := filepath.Glob(filepath.Join(c.dir, ".ddpgate/fleet/*.json")); len(left) > 0 {
		t.Errorf("loads are noted as under way: %q", left)
	}
}
