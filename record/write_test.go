//go:build unix

package record

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asWriter is the variable that makes the test binary write records to the file it names, over and over, each time larger, until
// it may not.
const asWriter = "RECORD_TEST_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(asWriter); path != "" {
		if err := writeUntilFull(path); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// writeUntilFull writes until no file may be larger: as on a full disk, a part of the last one comes through.
func writeUntilFull(path string) error {
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100 << 10, Max: 100 << 10}); err != nil {
		return err
	}
	for r := sample(); ; r.Command = append(r.Command, string(bytes.Repeat([]byte("x"), 4<<10))) {
		if err := Write(path, r); err != nil {
			return err
		}
	}
}

func TestWrite(t *testing.T) {
	for _, name := range []string{"a.json", "a.json.gz"} {
		path := filepath.Join(t.TempDir(), "new", "dirs", name)
		want := sample()
		if err := Write(path, want); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || got.ID == "" {
			t.Errorf("%s: id %q, changed on the way:\n%s", name, got.ID, diff)
		}
		want.Commit = "later"
		if err := Write(path, want); err != nil {
			t.Fatal(err)
		}
		if later, err := Read(path); err != nil || later.Commit != "later" || later.ID == got.ID {
			t.Errorf("%s: written again: %v", name, err)
		}
		alone(t, path)
	}
}

// alone fails the test if anything but the file is in its directory.
func alone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(path) {
			t.Errorf("%s is left beside %s", e.Name(), path)
		}
	}
}

func TestWriteRefusesWhatReadRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	if err := Write(path, sample()); err != nil {
		t.Fatal(err)
	}
	bad := sample()
	bad.Scenarios[0].Runs[0].Outcome = ""
	if err := Write(path, bad); err == nil {
		t.Error("a run without outcome was written")
	}
	if _, err := Read(path); err != nil {
		t.Errorf("the earlier record: %v", err)
	}
	alone(t, path)
}

// TestFullDisk fills what a process may write, while others read.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	if err := Write(path, sample()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asWriter+"="+path)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	full := make(chan []byte, 1)
	t.Cleanup(func() { cmd.Process.Kill() })
	go func() {
		said, _ := io.ReadAll(stderr)
		full <- said
	}()
	for reads := 0; ; reads++ {
		select {
		case said := <-full:
			if err := cmd.Wait(); err == nil || !bytes.Contains(said, []byte(syscall.EFBIG.Error())) {
				t.Errorf("the writer ended with %v: %s", err, said)
			}
			r, err := Read(path)
			if err != nil || len(r.Command) < 10 {
				t.Errorf("after the disk was full: %v, %v", r, err)
			}
			alone(t, path)
			return
		default:
			if _, err := Read(path); err != nil {
				t.Fatalf("read %d, while another writes: %v", reads, err)
			}
		}
	}
}

func TestWriteNowhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(file, "a.json"), sample()); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("got %v, want %v", err, syscall.ENOTDIR)
	}
}

func TestWriteFileStaysInside(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside.json")
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := WriteFile(dir, "../a.json", []byte("{}")); err == nil {
		t.Error("a name that leaves the directory was taken")
	}
	if err := os.Symlink(outside, filepath.Join(dir.Name(), "link.json")); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(dir, "link.json", []byte("{}")); err != nil {
		t.Errorf("a link in the way: %v", err)
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("a link in the directory was followed out of it")
	}
}
