package probe

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// tree writes files under a new directory and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const id = "7f1ad6b0c1de4a5a9e64c2a0a4e1f2b3"

func TestFingerprint(t *testing.T) {
	root := tree(t, map[string]string{
		"etc/machine-id":            id + "\n",
		"proc/sys/kernel/osrelease": "6.1.0-13-amd64\n",
		"proc/meminfo":              "MemTotal:       16309104 kB\nMemFree:         1 kB\n",
		"proc/cpuinfo":              "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R)  Xeon(R) CPU @ 2.20GHz\ncpu MHz\t\t: 2200.0\n\n",
		"proc/stat":                 "cpu  1 2 3 4\n",
	})
	m := Fingerprint(root)
	want := Machine{ID: m.ID, Cores: runtime.NumCPU(), Memory: 16309104 * 1024, OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: "6.1.0-13-amd64"}
	if runtime.GOARCH == "amd64" { // the layout of cpuinfo is the architecture's own
		want.CPU = "Intel(R) Xeon(R) CPU @ 2.20GHz"
	} else {
		want.CPU = m.CPU
	}
	if m != want {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
	if m.ID == "" || strings.Contains(m.ID, id) {
		t.Errorf("machine id %q: want a hash that does not give the id away", m.ID)
	}
	if again := Fingerprint(root); again != m {
		t.Errorf("a second look differs: %+v, then %+v", m, again)
	}
	other := tree(t, map[string]string{"etc/machine-id": strings.Repeat("0", 32)})
	if Fingerprint(other).ID == m.ID {
		t.Error("two machines have one id")
	}
}

func TestFingerprintOfNothing(t *testing.T) {
	m := Fingerprint(t.TempDir())
	if want := (Machine{Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH}); m != want {
		t.Errorf("got %+v, want %+v: what cannot be read is empty", m, want)
	}
	fresh := tree(t, map[string]string{"etc/machine-id": "uninitialized\n"})
	if m := Fingerprint(fresh); m.ID != "" {
		t.Errorf("an image's placeholder became machine id %q", m.ID)
	}
}
