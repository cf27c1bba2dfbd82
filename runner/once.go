package runner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/internal/affinity"
	"github.com/ddpgate/ddpgate/meter"
	"github.com/ddpgate/ddpgate/record"
)

// settleTime is how long after the last disconnect the settled memory is read: long enough for sockets to close and for what a
// collector does when it is idle, and the same for every run.
const settleTime = time.Second

// outputLines is how many of the app's last lines a failed run keeps.
const outputLines = 40

// errDied is the cause that ends a load whose app is gone.
var errDied = errors.New("the app died")

// seen is all that was observed of one run.
type seen struct {
	part         *drive.Part       // nil where there was no load
	usage        meter.Usage       // while the app ran
	unmetered    error             // why there is no usage, or less of it
	begun, ended time.Time         // of the load
	settled      time.Time         // when the settled memory was read; zero if it was not
	cpus         affinity.CPUs     // that this process was kept on, empty for any
	startup      float64           // s
	started      bool              // by us: startup is known
	exit         *app.Exit         // of an app that ended unasked
	metered      map[string]string // by role, how
	refused      error             // why nothing was driven: what is to be metered is not there
	server       int               // the process that is the app proper
	nodeDir      string            // where Node tells of itself, empty where it was not asked to
	nodeSeries   map[string][]float64
	anew         func(context.Context) string // says how the container is another one than before; nil where there is none
	restarted    string                       // how the app was started anew by somebody else
	loop         float64                      // share of the load in which Node's event loop was busy, 0 if that is not known
	stopped      error                        // why the run was cut short
}

// once makes one run: it starts the app, drives the load, waits for the app to settle and stops it. It always comes back with
// a run that has an outcome, and never leaves a process behind.
func (w *work) once(ctx context.Context, j job, tell teller) (m measured, err error) {
	begun := time.Now()
	tell(Starting, drive.Progress{})
	c, dir, err := instrumented(j.arm)
	if dir != "" {
		defer os.RemoveAll(dir)
	}
	if err != nil {
		return measured{}, err
	}
	a, err := app.Start(ctx, c, j.arm.Options)
	if err != nil {
		return unstarted(ctx, begun, err), nil
	}
	s, err := w.observe(ctx, j, a, tell)
	s.nodeDir, s.cpus = dir, w.plan.Runs.CPUs.Driver
	output := a.Output(outputLines)
	// The app is stopped even when the run was cut short, and then as patiently as ever.
	err = errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
	if err != nil {
		return measured{}, err
	}
	if s.refused != nil {
		return measured{run: refused(begun, s.refused), broken: true}, nil
	}
	run, err := s.fold(j.scenario)
	if err != nil {
		return measured{}, err
	}
	run.Started = begun.UTC()
	if run.Outcome == record.Failed || run.Outcome == record.Invalid && run.Sessions.Failed > 0 {
		run.Output = lastLines(s.exit, output)
	}
	return measured{run: run}, nil
}

// unstarted is the run of an app that did not get ready. That it died at start or never answered is a finding about this build;
// that it could not even be tried, because there is no such command, its port is taken or a service failed, is none.
func unstarted(ctx context.Context, begun time.Time, err error) measured {
	run := record.Run{Started: begun.UTC(), Outcome: record.Invalid, LimitedBy: limitedByNone}
	if ctx.Err() != nil {
		run.Outcome, run.Reasons = record.Interrupted, []string{cut(context.Cause(ctx))}
		return measured{run: run}
	}
	first, _, _ := strings.Cut(err.Error(), "\n") // the output has a place of its own
	run.Reasons = []string{first}
	start := new(app.StartError)
	if !errors.As(err, &start) {
		return measured{run: run, broken: true}
	}
	run.Output = tail(start.Output)
	tried := errors.Is(err, app.ErrDied) || errors.Is(err, app.ErrNeverReady) && !errors.Is(err, app.ErrUnreachable)
	if start.What == roleApp && tried {
		run.Outcome, run.Died, run.LimitedBy = record.Failed, true, limitedByApp
	}
	return measured{run: run, broken: true}
}

// refused is the run of an app that is ready, but of which something that is to be metered is not there.
func refused(begun time.Time, why error) record.Run {
	return record.Run{
		Started: begun.UTC(), Outcome: record.Invalid, LimitedBy: limitedByNone,
		Reasons: strings.Split(why.Error(), "\n"),
	}
}

// observe drives and meters an app that is ready. An error is one of this program, not of the app.
func (w *work) observe(ctx context.Context, j job, a *app.App, tell teller) (s seen, err error) {
	s.startup, s.started = a.Startup()
	s.server = server(a)
	wanted, err := s.targets(ctx, j.arm, a)
	var m *meter.Meter
	if err == nil {
		m, err = meter.Start(context.WithoutCancel(ctx), meter.Options{}, wanted...)
	}
	if err == nil {
		err = m.Absent()
	}
	// What a system does not let us read is missing. An app that is not there is not the app that was meant, unless it has just died.
	if _, died := a.Exit(); err != nil && !died && !errors.Is(err, fs.ErrPermission) {
		s.refused = err
		halt(m)
		return s, nil
	}
	s.unmetered, s.metered = err, metered(wanted, a)
	err = w.load(ctx, j, a, m, &s, func(p drive.Progress) { tell(Driving, p) })
	if err == nil && s.stopped == nil {
		tell(Settling, drive.Progress{})
		s.stopped = settle(ctx, a.Done())
		s.settled = mark(m)
	}
	if s.anew != nil && s.stopped == nil {
		s.restarted = s.anew(ctx)
	}
	if m != nil {
		var missed error
		s.usage, missed = m.Stop()
		s.unmetered = errors.Join(s.unmetered, missed)
	}
	if exit, gone := a.Exit(); gone {
		s.exit = &exit
	}
	return s, err
}

// load drives the scenario until it is over, the context ends or the app dies.
func (w *work) load(ctx context.Context, j job, a *app.App, m *meter.Meter, s *seen, progress func(drive.Progress)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := make(chan struct{})
	go func() {
		defer close(watch)
		select {
		case <-a.Done():
			cancel(errDied)
		case <-ctx.Done():
		}
	}()
	driven := j.drive
	if driven == nil {
		driven = w.hooks.Drive
	}
	s.begun = mark(m)
	part, err := driven(ctx, j.scenario, drive.Options{
		URL: a.URL(), Seed: w.plan.seed(j), Progress: progress, Header: j.arm.Options.Header, TLS: j.arm.Options.TLS,
		Cores: float64(allowance(w.plan.Runs.CPUs.Driver)),
	})
	s.ended, s.part = mark(m), part
	s.narrow()
	if ctx.Err() != nil {
		s.stopped, err = context.Cause(ctx), nil
	}
	cancel(nil)
	<-watch
	return err
}

// narrow leaves out of the load what was before its start and after its end, where it was driven from several places: they are told of
// it beforehand, and what they saw is collected afterwards.
func (s *seen) narrow() {
	if s.part == nil || len(s.part.Sources) == 0 || !s.part.Start.Before(s.ended) {
		return
	}
	if s.part.Start.After(s.begun) {
		s.begun = s.part.Start
	}
	if end := s.begun.Add(time.Duration(s.part.Time * float64(time.Second))); s.part.Time > 0 && end.Before(s.ended) {
		s.ended = end
	}
}

// halt ends a meter that is of no use.
func halt(m *meter.Meter) {
	if m != nil {
		_, _ = m.Stop()
	}
}

// mark samples where there is a meter, and returns the time.
func mark(m *meter.Meter) time.Time {
	if m == nil {
		return time.Now()
	}
	return m.Mark()
}

// settle waits for the app to come to rest, unless it ends.
func settle(ctx context.Context, done <-chan struct{}) error {
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-done:
		return errDied
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pause waits, unless the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// lastLines returns the last output of the process that ended, of the app if none did.
func lastLines(exit *app.Exit, output []string) []string {
	if exit != nil && exit.Role != roleApp {
		return tail(exit.Output)
	}
	return tail(output)
}

func tail(lines []string) []string { return lines[max(0, len(lines)-outputLines):] }

// seed is what a run's driver draws from. Both arms of a pair draw the same.
func (p Plan) seed(j job) uint64 {
	return p.Seed + uint64(j.place)<<32 + uint64(j.pair)
}
