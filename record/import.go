package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ddpgate/ddpgate/internal/nearest"
)

// Importing says what a file of another tool does not say itself. The zero value leaves it to the file.
type Importing struct {
	Scenario string    // the scenario's name
	Version  string    // the app's
	Created  time.Time // when it was measured, where the file has no time
}

// Formats returns what Import reads, sorted.
func Formats() []string { return []string{"artillery-log", "bench-platform", "csv", "k6"} }

// Import reads figures that another tool measured; name is the file's name, for errors and where the file does not say what was run. The
// record has no environment, and its scenarios have identities of their own: they compare with what was imported the same way,
// and with nothing else. Its ID is set when it is written.
func Import(format, name string, r io.Reader, o Importing) (*Record, error) {
	importers := map[string]func(string, []byte, Importing) (*Record, error){
		"artillery-log": importArtillery, "bench-platform": importBenchPlatform, "csv": importCSV, "k6": importK6,
	}
	read, known := importers[format]
	if !known {
		return nil, nearest.Unknown("format", format, Formats())
	}
	b, err := readAll(r, MaxSize)
	if err != nil {
		return nil, &FileError{name, err}
	}
	rec, err := read(name, b, o)
	if err == nil {
		rec.Format = Format
		err = Check(rec)
	}
	if err != nil {
		return nil, &FileError{name, fmt.Errorf("import as %s: %w", format, err)}
	}
	return rec, nil
}

// newImport returns a record of one scenario.
func newImport(format string, o Importing, load Load, detail string) *Record {
	version := o.Version
	return &Record{
		Created: o.Created.UTC(), Command: []string{"import", format}, Apps: map[string]App{Head: {Version: version}},
		Scenarios: []Scenario{{Name: o.Scenario, Identity: importedIdentity(format, o.Scenario, load, detail), Load: load}},
	}
}

// importedIdentity tells what was imported from what was driven, and from other loads.
func importedIdentity(format, scenario string, load Load, detail string) string {
	text, err := json.Marshal([]any{"imported", format, scenario, load.Rate, load.For, detail})
	if err != nil {
		panic(fmt.Sprintf("identity of an import: %v", err)) // loads are checked to be finite
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Join makes one record of several that measured one version of an app: the runs of a scenario follow each other in the order given.
// The arguments stay as they are.
func Join(records []*Record) (*Record, error) {
	if len(records) == 0 {
		return nil, errors.New("no records to join")
	}
	joined := *records[0]
	joined.ID, joined.Scenarios = "", nil
	for _, r := range records {
		if a, b := joined.Apps[Head].Version, r.Apps[Head].Version; a != b {
			return nil, fmt.Errorf("runs of %q and of %q do not go into one record", a, b)
		}
		if r.Created.Before(joined.Created) {
			joined.Created = r.Created
		}
		for i := range r.Scenarios {
			if err := joined.take(&r.Scenarios[i]); err != nil {
				return nil, err
			}
		}
	}
	return &joined, nil
}

// take adds a scenario's runs.
func (r *Record) take(s *Scenario) error {
	into := r.Scenario(s.Name)
	if into == nil {
		r.Scenarios = append(r.Scenarios, Scenario{Name: s.Name, Identity: s.Identity, Load: s.Load, Resolved: s.Resolved})
		into = &r.Scenarios[len(r.Scenarios)-1]
	}
	if into.Identity != s.Identity {
		return fmt.Errorf("scenario %s was run with two loads, %g/s for %g s and %g/s for %g s: give each its own record",
			s.Name, into.Load.Rate, into.Load.For, s.Load.Rate, s.Load.For)
	}
	for _, run := range s.Runs {
		run.Index = len(into.Arm(run.Arm))
		run.Pair = run.Index
		into.Runs = append(into.Runs, run)
	}
	return nil
}
