package workflows

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A place is a copy of action/binary.sh with checksums of its own, and releases to fetch.
type place struct {
	dir, releases string
	archive       string // the name of this machine's
}

// archiveName is the archive of version 1.2.0 for this machine.
var archiveName = fmt.Sprintf("ddpgate_1.2.0_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)

func newPlace(t *testing.T) place {
	t.Helper()
	p := place{dir: t.TempDir(), releases: t.TempDir(), archive: archiveName}
	for _, name := range []string{"binary.sh", "checksums.txt"} {
		b, err := os.ReadFile(filepath.Join(root, "action", name))
		if err != nil {
			t.Fatal(err)
		}
		p.write(t, filepath.Join(p.dir, "action", name), b)
	}
	return p
}

func (p place) write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o755); err != nil {
		t.Fatal(err)
	}
}

// release publishes an archive and returns its line of checksums.txt.
func (p place) release(t *testing.T, program string) string {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	archive := tar.NewWriter(zipped)
	if err := archive.WriteHeader(&tar.Header{Name: "ddpgate", Mode: 0o755, Size: int64(len(program))}); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write([]byte(program)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	p.write(t, filepath.Join(p.releases, "v1.2.0", p.archive), b.Bytes())
	return fmt.Sprintf("%x  %s\n", sha256.Sum256(b.Bytes()), p.archive)
}

// find runs the script and returns the path that it names, and what it said.
func (p place) find(t *testing.T, env ...string) (path, log string, err error) {
	t.Helper()
	output := filepath.Join(t.TempDir(), "output")
	cmd := exec.Command("bash", filepath.Join(p.dir, "action", "binary.sh"))
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "GITHUB_OUTPUT=" + output,
		"RUNNER_TEMP=" + t.TempDir(), "DDPGATE_RELEASES=file://" + p.releases}, env...)
	said, err := cmd.CombinedOutput()
	written, _ := os.ReadFile(output)
	path, _ = strings.CutPrefix(strings.TrimSpace(string(written)), "path=")
	return path, string(said), err
}

func TestTheBinary(t *testing.T) {
	const program = "#!/bin/sh\necho released\n"
	tests := map[string]struct {
		env       []string
		checksums func(line string) string
		want      string // in what is found, or in the complaint
		fails     bool
	}{
		"a release":                     {[]string{"DDPGATE_VERSION=v1.2.0"}, func(l string) string { return l }, "released", false},
		"the newest that is known":      {nil, func(l string) string { return "# newest first\n" + l }, "released", false},
		"the newest, behind a worker":   {nil, func(l string) string { return "0123  ddpgate-lambda_1.2.0_arm64.zip\n" + l + "4567  template.yaml\n" }, "released", false},
		"one without a checksum":        {[]string{"DDPGATE_VERSION=v1.3.0"}, func(l string) string { return l }, "the action has no checksum of ddpgate_1.3.0_", true},
		"none at all has one":           {[]string{"DDPGATE_VERSION=v1.2.0"}, func(string) string { return "" }, "the action has no checksum", true},
		"one that was changed":          {[]string{"DDPGATE_VERSION=v1.2.0"}, func(l string) string { return strings.Repeat("0", 64) + l[64:] }, "is not the one that was released", true},
		"one that is gone":              {[]string{"DDPGATE_VERSION=v1.4.0"}, func(l string) string { return strings.Replace(l, "1.2.0", "1.4.0", 1) }, "cannot be fetched", true},
		"latest":                        {[]string{"DDPGATE_VERSION=latest"}, func(l string) string { return l }, "neither source nor of the form", true},
		"a version with a path in it":   {[]string{"DDPGATE_VERSION=v1.2.0/../../x"}, func(l string) string { return l }, "neither source nor of the form", true},
		"a version with a command":      {[]string{"DDPGATE_VERSION=v1.2.0$(touch pwned)"}, func(l string) string { return l }, "neither source nor of the form", true},
		"a binary that is not there":    {[]string{"DDPGATE_BINARY=/nowhere/ddpgate"}, func(l string) string { return l }, "binary-path", true},
		"a binary of more than a line":  {[]string{"DDPGATE_BINARY=/bin/sh\npath=/bin/false"}, func(l string) string { return l }, "more than one line", true},
		"a source that does not build":  {[]string{"DDPGATE_VERSION=source"}, func(l string) string { return l }, "does not build", true},
		"no release, and so the source": {nil, func(string) string { return "# none yet\n" }, "does not build", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write(t, filepath.Join(p.dir, "action", "checksums.txt"), []byte(tc.checksums(p.release(t, program))))
			path, log, err := p.find(t, tc.env...)
			if tc.fails {
				if err == nil || path != "" || !strings.Contains(log, "::error::ddpgate: ") || !strings.Contains(log, tc.want) {
					t.Errorf("found %q, %v, want an error with %q:\n%s", path, err, tc.want, log)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v:\n%s", err, log)
			}
			out, err := exec.Command(path).Output()
			if err != nil || strings.TrimSpace(string(out)) != tc.want {
				t.Errorf("%s says %q, %v, want %q", path, out, err, tc.want)
			}
		})
	}
}

func TestABinaryThatIsThereIsTaken(t *testing.T) {
	p := newPlace(t)
	given := filepath.Join(t.TempDir(), "with blanks", "ddpgate")
	p.write(t, given, []byte("#!/bin/sh\n"))
	if path, log, err := p.find(t, "DDPGATE_BINARY="+given, "DDPGATE_VERSION=v9.9.9"); err != nil || path != given {
		t.Errorf("found %q, %v, want %q:\n%s", path, err, given, log)
	}
}

// TestTheSourceIsBuilt puts a program where the action's source is.
func TestTheSourceIsBuilt(t *testing.T) {
	p := newPlace(t)
	p.write(t, filepath.Join(p.dir, "go.mod"), []byte("module github.com/ddpgate/ddpgate\n"))
	p.write(t, filepath.Join(p.dir, "cmd/ddpgate/main.go"), []byte("package main\n\nfunc main() { println(\"built\") }\n"))
	path, log, err := p.find(t, "DDPGATE_VERSION=source")
	if err != nil {
		t.Fatalf("%v:\n%s", err, log)
	}
	if out, err := exec.Command(path).CombinedOutput(); err != nil || string(out) != "built\n" {
		t.Errorf("it says %q, %v", out, err)
	}
}
