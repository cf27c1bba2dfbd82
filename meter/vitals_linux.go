package meter

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// A vitals reads what a machine tells of itself.
type vitals struct {
	fs          procfs.FS
	frequencies []string // files in kHz
	heats       []string // files that count throttling
}

func newVitals(o Options) *vitals {
	proc, sys := o.Proc, o.Sys
	if proc == "" {
		proc = procfs.DefaultMountPoint
	}
	if sys == "" {
		sys = "/sys"
	}
	fs, err := procfs.NewFS(proc)
	if err != nil {
		return nil
	}
	v := &vitals{fs: fs}
	cpus := filepath.Join(sys, "devices/system/cpu/cpu[0-9]*")
	v.frequencies, _ = filepath.Glob(filepath.Join(cpus, "cpufreq/scaling_cur_freq"))
	v.heats, _ = filepath.Glob(filepath.Join(cpus, "thermal_throttle/core_throttle_count"))
	return v
}

// read returns what there is.
func (v *vitals) read() map[string]float64 {
	now := make(map[string]float64)
	if v == nil {
		return now
	}
	if s, err := v.fs.Stat(); err == nil {
		t := s.CPUTotal
		now[stolen] = t.Steal
		// Guests' time is in user and nice already.
		now[capacity] = t.User + t.Nice + t.System + t.Idle + t.Iowait + t.IRQ + t.SoftIRQ + t.Steal
		now[busy] = t.User + t.Nice + t.System + t.IRQ + t.SoftIRQ
		now[runQueue] = float64(s.ProcessesRunning)
	}
	for resource, name := range map[string]string{"cpu": cpuPressure, "memory": memoryPressure, "io": ioPressure} {
		if p, err := v.fs.PSIStatsForResource(resource); err == nil && p.Some != nil {
			now[name] = float64(p.Some.Total) / 1e6
		}
	}
	if sum, n := total(v.frequencies); n > 0 {
		now[frequency] = sum / float64(n) * 1000
	}
	if sum, n := total(v.heats); n > 0 {
		now[throttles] = sum
	}
	return now
}

// total adds up the numbers in files, of which n could be read.
func total(files []string) (sum float64, n int) {
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if v, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64); err == nil {
			sum, n = sum+v, n+1
		}
	}
	return sum, n
}
