package runner

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/internal/affinity"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/scenario"
)

// allowed reads which CPUs a process may use; 0 is this one.
func allowed(pid int) (string, error) {
	who := "self"
	if pid > 0 {
		who = fmt.Sprint(pid)
	}
	text, err := os.ReadFile("/proc/" + who + "/status")
	if err != nil {
		return "", err
	}
	return string(regexp.MustCompile(`(?m)^Cpus_allowed_list:\s*(\S+)$`).FindSubmatch(text)[1]), nil
}

// While a run is driven the app has its CPU and the driver the other one; the record says so, and afterwards this process has all again.
func TestApart(t *testing.T) {
	there, err := affinity.Available()
	if err != nil {
		t.Fatal(err)
	}
	if len(there) < 2 {
		t.Skip("this process has one CPU, which cannot be divided between app and driver; .ci/run says so before the tests")
	}
	before, err := allowed(0)
	if err != nil {
		t.Fatal(err)
	}
	split := affinity.Split{App: there[1:2], Driver: there[:1]}
	head := tasksApp(t, 0)
	head.Command = append([]string{"sh", "-c", `grep Cpus_allowed_list /proc/self/status; exec "$0" "$@"`}, head.Command...)
	p := Plan{
		Arms:      []Arm{{Name: record.Head, App: head}},
		Scenarios: []scenario.Scenario{tasks(t, 10, 300*time.Millisecond)},
		Runs:      Runs{Min: 1, Max: 1, CPUs: split},
	}
	var driver string
	rec := new(record.Record)
	err = Run(t.Context(), rec, p, Hooks{Drive: func(ctx context.Context, s scenario.Scenario, o drive.Options) (*drive.Part, error) {
		part, err := drive.Run(ctx, s, o)
		driver, _ = allowed(0)
		part.Failed, part.OK = part.OK, part.Failed // so that the record keeps the app's output
		return part, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := split.Driver.String(); driver != want {
		t.Errorf("the driver may use %s, want %s", driver, want)
	}
	run := rec.Scenarios[0].Runs[0]
	if output := strings.Join(run.Output, "\n"); !strings.Contains(output, "Cpus_allowed_list:\t"+split.App.String()+"\n") {
		t.Errorf("%s run %q: the app wrote %q, want CPU %v", run.Outcome, run.Reasons, output, split.App)
	}
	if diff := cmp.Diff(record.CPUs{App: split.App, Driver: split.Driver}, rec.Environment.CPUs); diff != "" {
		t.Errorf("record: -want +got:\n%s", diff)
	}
	if now, err := allowed(0); err != nil || now != before {
		t.Errorf("afterwards this process may use %s, %v, want %s", now, err, before)
	}
}

// What cannot be done is told before anything starts.
func TestApartRefused(t *testing.T) {
	there, err := affinity.Available()
	if err != nil {
		t.Fatal(err)
	}
	sound := []scenario.Scenario{{Name: "a"}}
	for name, tt := range map[string]struct {
		app  app.Config
		cpus affinity.Split
		want string
	}{
		"not there":      {app.Config{Command: []string{"a"}}, affinity.Split{App: there[:1], Driver: []int{1023}}, fmt.Sprintf("CPU 1023; it may use %v", there)},
		"not apart":      {app.Config{Command: []string{"a"}}, affinity.Split{App: there[:1], Driver: there[:1]}, "nothing is separate"},
		"not all":        {app.Config{Command: []string{"a"}}, affinity.Split{App: there[:1]}, "driver: names no CPU"},
		"runs elsewhere": {app.Config{URL: "http://h"}, affinity.Split{App: there[:1], Driver: there[len(there)-1:]}, "the app of head is not started here"},
	} {
		p := Plan{Arms: []Arm{{Name: record.Head, App: tt.app}}, Scenarios: sound, Runs: Runs{Min: 1, Max: 1, CPUs: tt.cpus}}
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), "runs.cpus: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

// The driver's allowance is counted in the CPUs that it was kept on, and a busy app is no excuse where it cannot take them.
func TestApartCounts(t *testing.T) {
	if got := allowance(affinity.CPUs{0}); got != 1 {
		t.Errorf("on one CPU %d cores are allowed", got)
	}
	l := load{cores: 2, busy: 0.85, seconds: 10, arrival: 10, driver: 8.5, others: 11, planned: 100, dropped: 5}
	if driver, host, slow := l.faults(); len(driver) != 1 || !strings.Contains(driver[0], "85 %") || host != nil || len(slow) != 1 {
		t.Errorf("on any CPU: driver %q, host %q, slow %q", driver, host, slow)
	}
	l.apart = true
	if driver, host, slow := l.faults(); len(driver) != 1 || len(host) != 1 || slow != nil {
		t.Errorf("apart: driver %q, host %q, slow %q", driver, host, slow)
	}
}
