package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/fleet"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/runner"
)

// loadsDir is where loads that are under way are noted.
var loadsDir = filepath.Join(".ddpgate", "fleet")

const loadFormat = "ddpgate/load/1"

// A loadNote is what it takes to take over a load from a ddpgate that is gone: whose parts to collect, and what they are for.
type loadNote struct {
	Format string       `json:"format"`
	Record string       `json:"record"` // file
	Runs   []runner.Due `json:"runs"`   // one a target
	Ticket fleet.Ticket `json:"ticket"`

	Scenarios []string `json:"scenarios"` // that were to be measured

	held *os.File // which says to others that this process is at it
}

// in says whether all runs of the load are in the record.
func (n *loadNote) in(rec *record.Record) bool {
	return !slices.ContainsFunc(n.Runs, func(due runner.Due) bool { return !made(rec, due) })
}

// made says whether a run is in the record.
func made(rec *record.Record, due runner.Due) bool {
	sc := rec.Scenario(due.Scenario)
	return sc != nil && slices.ContainsFunc(sc.Arm(due.Arm), func(r record.Run) bool { return r.Index == due.Index })
}

func loadFile(run string) string { return run + ".json" }

// A logbook notes on disk each load that is begun, until its runs are in the record. It is used by one goroutine at a time.
type logbook struct {
	out  string // the record's file
	rec  *record.Record
	plan []string // the scenarios
	due  []runner.Due
	open []loadNote
}

// began notes a load, with the record as it is so far. A load of the warm-up is thrown away in any case.
func (b *logbook) began(t fleet.Ticket) error {
	if len(b.due) == 0 || b.due[0].Warmup {
		return nil
	}
	out, err := filepath.Abs(b.out)
	if err != nil {
		return err
	}
	if err := record.Write(b.out, b.rec); err != nil {
		return err
	}
	note := loadNote{Format: loadFormat, Record: out, Runs: b.due, Ticket: t, Scenarios: b.plan}
	text, err := json.MarshalIndent(note, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(loadsDir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(loadsDir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := record.WriteFile(root, loadFile(t.Run), text); err != nil {
		return err
	}
	note.held, err = hold(filepath.Join(loadsDir, loadFile(t.Run)))
	b.open = append(b.open, note)
	return err
}

// errHeld says that a load is not to be taken over.
var errHeld = errors.New("the ddpgate that began it is still at work")

// hold opens a load's note for as long as this process is at it. Where another is, the error is errHeld.
func hold(file string) (*os.File, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// saved removes the notes of loads whose runs are in the record that was saved.
func (b *logbook) saved() error {
	var errs []error
	b.open = slices.DeleteFunc(b.open, func(n loadNote) bool {
		if !n.in(b.rec) {
			return false
		}
		errs = append(errs, forget(n.Ticket.Run), n.held.Close())
		return true
	})
	return errors.Join(errs...)
}

func forget(run string) error {
	err := os.Remove(filepath.Join(loadsDir, loadFile(run)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// findLoad returns the load that the beginning of its run's name means.
func findLoad(start string) (loadNote, error) {
	files, err := filepath.Glob(filepath.Join(loadsDir, loadFile("*")))
	if err != nil {
		return loadNote{}, err
	}
	var known, meant []string
	for _, file := range files {
		run := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		known = append(known, run)
		if strings.HasPrefix(run, start) {
			meant = append(meant, run)
		}
	}
	switch {
	case len(known) == 0:
		return loadNote{}, fmt.Errorf("there is no load under way in %s", loadsDir)
	case len(meant) == 0:
		return loadNote{}, fmt.Errorf("no load %q is under way in %s, only %s", start, loadsDir, strings.Join(known, ", "))
	case len(meant) > 1:
		return loadNote{}, fmt.Errorf("%q may be any of the loads %s", start, strings.Join(meant, ", "))
	}
	return readLoad(meant[0])
}

func readLoad(run string) (loadNote, error) {
	file := filepath.Join(loadsDir, loadFile(run))
	text, err := os.ReadFile(file)
	if err != nil {
		return loadNote{}, err
	}
	var n loadNote
	if err := json.Unmarshal(text, &n); err != nil {
		return n, fmt.Errorf("%s: %w", file, err)
	}
	if n.Format != loadFormat {
		return n, fmt.Errorf("%s has format %q, not %q", file, n.Format, loadFormat)
	}
	if len(n.Runs) == 0 || len(n.Runs) != len(n.Ticket.Targets) {
		return n, fmt.Errorf("%s is damaged: it has %d runs for %d targets", file, len(n.Runs), len(n.Ticket.Targets))
	}
	return n, nil
}
