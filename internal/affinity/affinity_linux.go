package affinity

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// Available returns the CPUs that this process may use now.
func Available() (CPUs, error) {
	set, err := own()
	if err != nil {
		return nil, err
	}
	return list(set), nil
}

// Thread keeps the calling thread on some CPUs, and whatever it forks from then on. The goroutine must be locked to the thread. None is
// no change.
func Thread(c CPUs) error {
	if len(c) == 0 {
		return nil
	}
	if err := keep(0, set(c)); err != nil {
		return fmt.Errorf("keep on CPU %v: %w", c, err)
	}
	return nil
}

// Process keeps all threads of this process on some CPUs, those too that begin later, until restore is called, which gives them back what
// the process had. None is no change. Calls must not overlap.
func Process(c CPUs) (restore func() error, err error) {
	if len(c) == 0 {
		return func() error { return nil }, nil
	}
	before, err := own()
	if err != nil {
		return nil, err
	}
	if err := everyThread(set(c)); err != nil {
		return nil, errors.Join(fmt.Errorf("keep this process on CPU %v: %w", c, err), everyThread(before))
	}
	suit()
	return func() error {
		defer suit()
		if err := everyThread(before); err != nil {
			return fmt.Errorf("give this process its CPUs back: %w", err)
		}
		return nil
	}, nil
}

// suit makes the runtime take notice now of how many CPUs there are, which it does within a second otherwise. What the environment says
// stands.
func suit() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.SetDefaultGOMAXPROCS()
	}
}

// everyThread sets the CPUs of each thread of this process. A thread begins with the CPUs of the one that made it, so that it is enough to
// look again until there is none that was not seen.
func everyThread(cpus *unix.CPUSet) error {
	seen := make(map[int]bool)
	for fresh := true; fresh; {
		fresh = false
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, task := range tasks {
			id, err := strconv.Atoi(task.Name())
			if err != nil || seen[id] {
				continue
			}
			seen[id], fresh = true, true
			if err := keep(id, cpus); err != nil && !errors.Is(err, unix.ESRCH) { // it may have ended
				return err
			}
		}
	}
	return nil
}

func own() (*unix.CPUSet, error) {
	cpus := new(unix.CPUSet)
	if err := unix.SchedGetaffinity(0, cpus); err != nil {
		return nil, fmt.Errorf("read which CPUs this process may use: %w", err)
	}
	return cpus, nil
}

func keep(thread int, cpus *unix.CPUSet) error { return unix.SchedSetaffinity(thread, cpus) }

func set(c CPUs) *unix.CPUSet {
	cpus := new(unix.CPUSet)
	for _, cpu := range c {
		cpus.Set(cpu)
	}
	return cpus
}

func list(cpus *unix.CPUSet) CPUs {
	var c CPUs
	for cpu := range most {
		if cpus.IsSet(cpu) {
			c = append(c, cpu)
		}
	}
	return c
}
