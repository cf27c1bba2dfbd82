package baseline

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// inRepository runs git in a directory and returns what it prints.
func inRepository(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

// plainGit keeps the machine's own settings of git out of a test.
func plainGit(t *testing.T) {
	t.Helper()
	none := filepath.Join(t.TempDir(), "gitconfig")
	if err := os.WriteFile(none, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", none)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
}

// repository returns a repository with one commit on main and a file that is not committed.
func repository(t *testing.T) string {
	t.Helper()
	plainGit(t)
	dir := t.TempDir()
	inRepository(t, dir, "init", "--quiet", "--initial-branch=main")
	commit(t, dir, "one")
	if err := os.WriteFile(filepath.Join(dir, "untracked"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// commit adds a commit and returns its name.
func commit(t *testing.T, dir, message string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte(message), 0o644); err != nil {
		t.Fatal(err)
	}
	inRepository(t, dir, "add", "file")
	inRepository(t, dir, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "-m", message)
	return head(t, dir, "HEAD")
}

func head(t *testing.T, dir, revision string) string {
	t.Helper()
	return inRepository(t, dir, "rev-parse", revision)[:40]
}

// cloned returns a clone of a bare repository.
func cloned(t *testing.T) string {
	t.Helper()
	origin := repository(t)
	bare := filepath.Join(t.TempDir(), "bare.git")
	inRepository(t, origin, "clone", "--quiet", "--bare", ".", bare)
	dir := t.TempDir()
	inRepository(t, dir, "clone", "--quiet", "file://"+bare, ".")
	return dir
}

// serveS3 starts an S3 with the bucket baselines, where AWS_ENDPOINT_URL says.
func serveS3(t *testing.T) *httptest.Server {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("baselines"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server())
	t.Cleanup(server.Close)
	useS3(t, server.URL)
	return server
}

// useS3 points the SDK to an address, with credentials, and away from the machine's own settings.
func useS3(t *testing.T, address string) {
	t.Helper()
	none := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "eu-west-1",
		"AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
}
