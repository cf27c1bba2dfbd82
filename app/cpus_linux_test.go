package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ddpgate/ddpgate/internal/affinity"
)

// The app, its services and the reset are born on the CPUs that were chosen, and so is what they start: each has a child read what it may use.
func TestKeptOnCPUs(t *testing.T) {
	there, err := affinity.Available()
	if err != nil {
		t.Fatal(err)
	}
	last := there[len(there)-1:]
	log := filepath.Join(t.TempDir(), "log")
	tell := func(who string, then string) []string {
		return []string{"sh", "-c", `echo ` + who + ` $(grep Cpus_allowed_list /proc/self/status) >> "$0"; ` + then, log}
	}
	dbAddr := freeAddr(t)
	conf := serving(t, nil)
	conf.Env["EXE"] = exe(t)
	conf.Command = tell("app", `exec "$EXE"`)
	conf.Reset = tell("reset", "true")
	conf.Services = []Service{{
		Name: "db", Command: tell("db", `exec "$EXE"`), Ready: "tcp:" + dbAddr,
		Env: map[string]string{"PLAY": "serve", "ADDR": dbAddr, "EXE": exe(t)},
	}}
	started(t, conf, Options{CPUs: last})
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	on := " Cpus_allowed_list: " + last.String() + "\n"
	if want := "db" + on + "reset" + on + "app" + on; string(text) != want {
		t.Errorf("got\n%swant\n%s", text, want)
	}
	if now, err := affinity.Available(); err != nil || now.String() != there.String() {
		t.Errorf("this process may use %v now, %v, want %v", now, err, there)
	}
}

func TestNoSuchCPU(t *testing.T) {
	_, err := Start(t.Context(), serving(t, nil), Options{CPUs: []int{1023}})
	if err == nil || !strings.Contains(err.Error(), "keep on CPU 1023") {
		t.Errorf("got %v, want CPU 1023 refused", err)
	}
}
