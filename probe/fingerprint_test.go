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

// nothing is an empty environment.
func nothing(string) string { return "" }

const id = "7f1ad6b0c1de4a5a9e64c2a0a4e1f2b3"

func TestFingerprint(t *testing.T) {
	root := tree(t, map[string]string{
		"etc/machine-id":            id + "\n",
		"proc/sys/kernel/osrelease": "6.1.0-13-amd64\n",
		"proc/meminfo":              "MemTotal:       16309104 kB\nMemFree:         1 kB\n",
		"proc/cpuinfo":              "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R)  Xeon(R) CPU @ 2.20GHz\ncpu MHz\t\t: 2200.0\n\n",
		"proc/stat":                 "cpu  1 2 3 4\n",
	})
	m := Fingerprint(root, nothing)
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
	if again := Fingerprint(root, nothing); again != m {
		t.Errorf("a second look differs: %+v, then %+v", m, again)
	}
	other := tree(t, map[string]string{"etc/machine-id": strings.Repeat("0", 32)})
	if Fingerprint(other, nothing).ID == m.ID {
		t.Error("two machines have one id")
	}
}

func TestFingerprintOfNothing(t *testing.T) {
	m := Fingerprint(t.TempDir(), nothing)
	if want := (Machine{Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH}); m != want {
		t.Errorf("got %+v, want %+v: what cannot be read is empty", m, want)
	}
	fresh := tree(t, map[string]string{"etc/machine-id": "uninitialized\n"})
	if m := Fingerprint(fresh, nothing); m.ID != "" {
		t.Errorf("an image's placeholder became machine id %q", m.ID)
	}
}

func TestPlatform(t *testing.T) {
	ec2 := map[string]string{
		"run/cloud-init/cloud-id": "aws\n", "sys/class/dmi/id/sys_vendor": "Amazon EC2\n", "sys/class/dmi/id/product_name": "m5.large\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "kvm-clock\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":            "performance\n",
		"proc/1/stat": "",
	}
	m := Fingerprint(tree(t, ec2), nothing)
	if m.Platform != "aws Amazon EC2 m5.large" || m.Clock != "kvm-clock" || m.Governor != "performance" || m.Container != "" {
		t.Errorf("got %+v", m)
	}
	if runtime.GOARCH == "amd64" {
		plain := map[string]string{"proc/cpuinfo": "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: X\nflags\t\t: fpu hypervisor lahf_lm\n\n"}
		if got := Fingerprint(tree(t, plain), nothing).Platform; got != "virtual machine" {
			t.Errorf("got platform %q", got)
		}
	}
	runner := map[string]string{"ImageOS": "ubuntu24", "ImageVersion": "20261101.1"}
	if got := Fingerprint(tree(t, nil), func(name string) string { return runner[name] }).Image; got != "ubuntu24 20261101.1" {
		t.Errorf("got image %q", got)
	}
}

func TestContainer(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"docker":   {".dockerenv": ""},
		"podman":   {"run/.containerenv": ""},
		"kubepods": {"proc/self/cgroup": "0::/kubepods.slice/kubepods-pod1.slice/x\n"},
		"":         {"proc/self/cgroup": "0::/user.slice/user-0.slice\n"},
	} {
		if got := Fingerprint(tree(t, files), nothing).Container; got != want {
			t.Errorf("%v: got %q, want %q", files, got, want)
		}
	}
}

func TestMeteor(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"3.0.4": {".meteor/release": "METEOR@3.0.4\n"},
		"2.16":  {"star.json": `{"format":"site-archive-pre1","meteorRelease":"METEOR@2.16"}`, ".meteor/release": "METEOR@1.0\n"},
		"3.1":   {"bundle/star.json": `{"meteorRelease":"METEOR@3.1"}`},
		"":      {"star.json": `{`},
	} {
		if got := Meteor(tree(t, files)); got != want {
			t.Errorf("%v: got %q, want %q", files, got, want)
		}
	}
}

// On this machine all that is read is one line of text.
func TestFingerprintOfThisMachine(t *testing.T) {
	m := Fingerprint("/", os.Getenv)
	for _, text := range []string{m.ID, m.CPU, m.Kernel, m.Clock, m.Governor, m.Platform, m.Image, m.Container} {
		if strings.ContainsAny(text, "\n\x00") || len(text) > 200 {
			t.Errorf("got %q", text)
		}
	}
	if runtime.GOOS == "linux" && (m.Kernel == "" || m.Memory == 0) {
		t.Errorf("got %+v", m)
	}
}
