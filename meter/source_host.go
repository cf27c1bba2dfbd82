package meter

import (
	"errors"
	"slices"
	"strings"

	gopsutil "github.com/shirou/gopsutil/v4/process"
)

// A host reads processes by what every system has. What ended children used is not known, save for what was seen of it.
type host struct{}

func (host) list() ([]int, error) {
	pids, err := gopsutil.Pids()
	if err != nil {
		return nil, err
	}
	all := make([]int, len(pids))
	for i, pid := range pids {
		all[i] = int(pid)
	}
	return all, nil
}

func (host) look(pid int) (process, error) {
	p, err := gopsutil.NewProcess(int32(pid))
	if errors.Is(err, gopsutil.ErrorProcessNotRunning) {
		return process{}, errGone
	}
	if err != nil {
		return process{}, err
	}
	created, err := p.CreateTime()
	parent, perr := p.Ppid()
	times, terr := p.Times()
	if err := errors.Join(err, perr, terr); err != nil {
		return process{}, orGone(pid, err)
	}
	found := process{id: identity{pid, uint64(created)}, parent: int(parent), cpu: times.User + times.System}
	if found.name, err = p.Name(); err != nil {
		return process{}, orGone(pid, err)
	}
	if states, err := p.Status(); err == nil {
		found.zombie = slices.Contains(states, gopsutil.Zombie)
	}
	if memory, err := p.MemoryInfo(); err == nil && memory != nil && !found.zombie {
		found.ram = float64(memory.RSS)
	}
	return found, nil
}

// orGone returns errGone if the process has ended meanwhile.
func orGone(pid int, err error) error {
	if there, terr := gopsutil.PidExists(int32(pid)); terr == nil && !there {
		return errGone
	}
	return err
}

func (host) fine(int) float64 { return 0 }

func (host) pss(int) (float64, error) { return 0, errNoPSS }

func (host) command(pid int) string {
	p, err := gopsutil.NewProcess(int32(pid))
	if err != nil {
		return ""
	}
	line, err := p.Cmdline()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(line)
}
