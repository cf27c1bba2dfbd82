package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/fleet"
	"github.com/ddpgate/ddpgate/internal/build"
	"github.com/ddpgate/ddpgate/runner"
)

// workerFlags say who drives the load, where it is not this process.
type workerFlags struct {
	Workers filled         `placeholder:"WHERE" help:"Drive from workers: local:N processes on this machine, or lambda:[REGION/]FUNCTION, further ones behind commas." group:"workers"`
	Count   *int           `placeholder:"N" help:"How many workers there are in AWS Lambda." group:"workers"`
	Lead    *time.Duration `placeholder:"TIME" help:"How long before each load its workers are called (2s on this machine, 5s in AWS Lambda)." group:"workers"`
	Parts   filled         `placeholder:"s3://BUCKET/PREFIX" help:"Where workers keep what they saw: for answers of over 6 MB, --async and --resume." group:"workers"`
	Async   bool           `help:"Do not hold a connection to each worker: look for what they saw in --parts." group:"workers"`
}

// filled is a text that is not empty where it is given: --resume "$RUN" without a RUN must not be taken for no --resume.
type filled string

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *filled) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("it is empty: give a value, or leave the flag out")
	}
	*f = filled(text)
	return nil
}

// check returns every flag that makes no sense beside the others, before anything of them is tried.
func (f *workerFlags) check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if f.Workers == "" {
		for _, flag := range []struct {
			name string
			set  bool
		}{{"--count", f.Count != nil}, {"--lead", f.Lead != nil}, {"--parts", f.Parts != ""}, {"--async", f.Async}} {
			if flag.set {
				fault("%s has no use without --workers local:N or --workers lambda:FUNCTION", flag.name)
			}
		}
		return errors.Join(faults...)
	}
	places, count, err := fleet.ParseWorkers(string(f.Workers), nil)
	if err != nil {
		faults = append(faults, fmt.Errorf("--workers: %w", err))
	}
	local := strings.HasPrefix(string(f.Workers), "local")
	switch {
	case count > 0 && f.Count != nil && *f.Count != count:
		fault("--count %d and --workers %s contradict each other: --workers says how many", *f.Count, f.Workers)
	case len(places) > 0 && count == 0 && f.Count == nil:
		fault("--workers %s needs --count N: how many there are", f.Workers)
	}
	if f.Lead != nil && *f.Lead <= 0 {
		fault("--lead is %v, must be more than 0", *f.Lead)
	}
	if f.Async && local {
		fault("--async has no use with local workers: they answer the one who starts them")
	}
	if f.Async && f.Parts == "" {
		fault("--async needs --parts s3://BUCKET/PREFIX: workers that nobody listens to have to keep what they saw")
	}
	return errors.Join(faults...)
}

// fleet returns the workers that the flags ask for, nil for none. It calls none of them.
func (f *workerFlags) fleet(ctx context.Context, arms []runner.Arm, runs runner.Runs) (*fleet.Fleet, error) {
	if f.Workers == "" {
		return nil, nil
	}
	places, count, err := fleet.ParseWorkers(string(f.Workers), nil)
	if err != nil {
		return nil, err
	}
	w := &fleet.Fleet{Places: places, Count: count, Version: build.Version(), Parts: string(f.Parts), Async: f.Async}
	if count > 0 {
		worker, err := workerCommand(processors(runs), count)
		if err != nil {
			return nil, err
		}
		w.Places = []fleet.Place{fleet.Local{Command: worker}}
	} else {
		w.Count = *f.Count
	}
	if f.Lead != nil {
		w.Lead = *f.Lead
	}
	if f.Parts != "" {
		if w.Store, err = fleet.OpenStore(ctx, string(f.Parts)); err != nil {
			return nil, fmt.Errorf("--parts: %w", err)
		}
	}
	w.Apps, err = driven(arms)
	return w, err
}

// processors is how many processors drivers on this machine may use in all.
func processors(runs runner.Runs) float64 {
	all := min(runtime.GOMAXPROCS(0), runtime.NumCPU())
	if n := len(runs.CPUs.Driver); n > 0 {
		all = min(all, n)
	}
	return float64(all)
}

// driven returns what workers must know of each arm's app.
func driven(arms []runner.Arm) ([]fleet.Target, error) {
	var apps []fleet.Target
	for _, arm := range arms {
		t := fleet.Target{URL: arm.App.URL, Header: arm.Options.Header}
		if arm.App.CA != "" {
			var err error
			if t.CA, err = os.ReadFile(arm.App.CA); err != nil {
				return nil, fmt.Errorf("ca: %w", err)
			}
		}
		apps = append(apps, t)
	}
	return apps, nil
}

// crew makes the measurement one that a fleet drives, if the flags ask for one. Two apps that run elsewhere are driven at once.
func (m *measurement) crew(ctx context.Context, f *workerFlags, c *command) error {
	var err error
	if m.fleet, err = f.fleet(ctx, m.plan.Arms, m.plan.Runs); err != nil || m.fleet == nil {
		return err
	}
	m.plan.Together = len(m.plan.Arms) == 2 && !slices.ContainsFunc(m.plan.Arms, func(a runner.Arm) bool { return !a.Elsewhere() })
	var faults []error
	for _, sc := range m.plan.Scenarios {
		p, err := m.fleet.Plan(sc, m.targets())
		if err == nil {
			err = m.fleet.Check(sc, m.targets())
		}
		m.plan.Lead = p.Lead
		faults = append(faults, err)
	}
	if m.away() && c.Env("AWS_ENDPOINT_URL") == "" && c.Env("AWS_ENDPOINT_URL_LAMBDA") == "" {
		for _, arm := range m.plan.Arms {
			switch near := nearby(arm.App.URL); {
			case near.unreachable:
				faults = append(faults, fmt.Errorf("%s is %s: workers in AWS Lambda cannot reach it; name an app that they can with --url, or take --workers local:N", arm.App.URL, near.why))
			case near.why != "":
				c.warn("%s is %s: only functions in its network reach it", arm.App.URL, near.why)
			}
		}
	}
	return errors.Join(faults...)
}

// targets is how many apps one load is on.
func (m *measurement) targets() int {
	if m.plan.Together {
		return 2
	}
	return 1
}

// away says whether workers are on other machines than this one.
func (m *measurement) away() bool {
	return slices.ContainsFunc(m.fleet.Places, func(p fleet.Place) bool { return p.Region() != "" })
}

// A nearness is why an address means something only near where it is said.
type nearness struct {
	why         string // empty for one that means the same everywhere
	unreachable bool   // from any other machine
}

func nearby(address string) nearness {
	u, err := url.Parse(address)
	if err != nil {
		return nearness{}
	}
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return nearness{"this machine's own address", true}
	}
	switch ip := net.ParseIP(host); {
	case ip == nil:
		return nearness{}
	case ip.IsLoopback(), ip.IsUnspecified():
		return nearness{"this machine's own address", true}
	case ip.IsLinkLocalUnicast():
		return nearness{"an address of this machine's own network", true}
	case ip.IsPrivate():
		return nearness{"a private address", false}
	}
	return nearness{}
}

// hello asks the workers whether they would drive the apps, before any app is started.
func (m *measurement) hello(ctx context.Context) error {
	var urls []string
	for _, arm := range m.plan.Arms {
		urls = append(urls, arm.App.URL)
	}
	slices.Sort(urls)
	var err error
	for pair := range slices.Chunk(slices.Compact(urls), m.targets()) {
		err = errors.Join(err, m.fleet.Hello(ctx, pair...))
	}
	if unfit := new(fleet.UnfitError); errors.As(err, &unfit) {
		return usage(err)
	}
	return err
}

// drivers says who drives each scenario, a line each.
func (m *measurement) drivers() ([]string, error) {
	var lines []string
	for _, sc := range m.plan.Scenarios {
		p, err := m.fleet.Plan(sc, m.targets())
		if err != nil {
			return nil, err
		}
		at := ""
		if m.plan.Together {
			at = " on base and head at once"
		}
		lines = append(lines, fmt.Sprintf("%s%s: %v, called %v before", sc.Name, at, p, p.Lead))
	}
	return lines, nil
}

// where names the places of the workers.
func (m *measurement) where() string {
	var names []string
	for _, p := range m.fleet.Places {
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}
