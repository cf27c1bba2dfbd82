// Package probe tells on which machine a record was made, and how quiet it is.
package probe

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/ddpgate/ddpgate/internal/cgroup"
)

// A Machine is what can be known about the machine without asking anybody else. What could not be read is empty.
type Machine struct {
	ID        string  `json:"machine,omitempty"` // hash of the machine's id, which itself stays secret
	CPU       string  `json:"cpu,omitempty"`     // model name
	Cores     int     `json:"cores"`             // that this process may use
	Quota     float64 `json:"quota,omitempty"`   // cores' worth of time that its control group may use, 0 for no limit
	Memory    int64   `json:"memory,omitempty"`  // bytes
	OS        string  `json:"os"`
	Arch      string  `json:"arch"`
	Kernel    string  `json:"kernel,omitempty"`
	Clock     string  `json:"clock,omitempty"`     // the kernel's clock source
	Governor  string  `json:"governor,omitempty"`  // of the processors' frequency
	Platform  string  `json:"platform,omitempty"`  // hypervisor, or cloud and instance type
	Image     string  `json:"image,omitempty"`     // of the CI runner
	Container string  `json:"container,omitempty"` // which kind it runs in
}

// Fingerprint reads the machine whose file system is at root, "/" but in tests. env looks up the environment, for what a CI service
// says there.
func Fingerprint(root string, env func(string) string) Machine {
	at := func(path string) string { return filepath.Join(root, path) }
	m := Machine{
		ID:        machineID(at("etc/machine-id")),
		Cores:     runtime.NumCPU(),
		OS:        runtime.GOOS,
		Arch:      runtime.GOARCH,
		Kernel:    firstLine(at("proc/sys/kernel/osrelease")),
		Clock:     firstLine(at("sys/devices/system/clocksource/clocksource0/current_clocksource")),
		Governor:  firstLine(at("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
		Image:     strings.TrimSpace(env("ImageOS") + " " + env("ImageVersion")), // GitHub's runners
		Container: container(root, env),
	}
	proc, err := procfs.NewFS(at("proc"))
	if err != nil {
		return m // no Linux: the rest stays empty
	}
	var virtual bool
	m.CPU, virtual = processor(proc)
	if memory, err := proc.Meminfo(); err == nil && memory.MemTotalBytes != nil {
		m.Memory = int64(*memory.MemTotalBytes)
	}
	m.Platform = platform(root, virtual)
	if self, err := proc.Self(); err == nil {
		if groups, err := cgroup.Of(root, self.PID); err == nil {
			m.Quota, _ = cgroup.Quota(groups)
		}
	}
	return m
}

// machineID is keyed with our name, as machine-id(5) asks, so that the hash is of no use to anybody else.
func machineID(path string) string {
	id := firstLine(path)
	if id == "" || id == "uninitialized" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(id))
	mac.Write([]byte("ddpgate"))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// platform names what a machine runs on: cloud and instance type where the firmware has them, else the hypervisor.
func platform(root string, virtual bool) string {
	var parts []string
	for _, file := range []string{
		"run/cloud-init/cloud-id", "sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name", "sys/hypervisor/type",
	} {
		if text := firstLine(filepath.Join(root, file)); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 && virtual {
		return "virtual machine"
	}
	return strings.Join(parts, " ")
}

// kinds are words in the path of a container's control group.
var kinds = []string{"kubepods", "docker", "containerd", "libpod", "lxc"}

func container(root string, env func(string) string) string {
	for file, kind := range map[string]string{".dockerenv": "docker", "run/.containerenv": "podman"} {
		if _, err := os.Stat(filepath.Join(root, file)); err == nil {
			return kind
		}
	}
	if kind := env("container"); kind != "" {
		return kind // as systemd-nspawn and podman have it
	}
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return ""
	}
	for _, kind := range kinds {
		if strings.Contains(string(groups), "/"+kind) {
			return kind
		}
	}
	return ""
}

func firstLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}
