package cgroup

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Quota returns how many processors a process of the groups may use at a time, by the narrowest limit on the way up to where
// the hierarchy is mounted; ok is false where there is no limit.
func Quota(groups []Group) (cores float64, ok bool) {
	for _, g := range groups {
		for dir := g.Path; ; dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err != nil {
				break // above the mount
			}
			if limit, limited := quotaOf(dir); limited && (!ok || limit < cores) {
				cores, ok = limit, true
			}
		}
	}
	return cores, ok
}

func quotaOf(dir string) (cores float64, ok bool) {
	fields := strings.Fields(read(dir, "cpu.max"))
	if len(fields) != 2 {
		fields = []string{strings.TrimSpace(read(dir, "cpu.cfs_quota_us")), strings.TrimSpace(read(dir, "cpu.cfs_period_us"))}
	}
	quota, err := strconv.ParseFloat(fields[0], 64)
	if err != nil || quota <= 0 {
		return 0, false // "max", -1, or no such file
	}
	period, err := strconv.ParseFloat(fields[1], 64)
	if err != nil || period <= 0 {
		return 0, false
	}
	return quota / period, true
}

func read(dir, file string) string {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return ""
	}
	return string(text)
}
