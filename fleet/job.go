// Package fleet puts one load on an app from many workers, which are functions of AWS Lambda or processes on this machine, and
// makes one part of what they saw.
//
// The coordinator hands each worker a job: one share of the sessions, with the hour at which session 0 is due. A worker answers with
// lines of JSON, its progress and at last its parts. A load that any worker was missing from, or late for, is not the
// load that was asked for, and says so.
package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/ddpgate/ddpgate/ddp"
	"github.com/ddpgate/ddpgate/drive"
	"github.com/ddpgate/ddpgate/scenario"
)

// Format names the kind and version of the jobs that this package hands out and understands.
const Format = "ddpgate/job/1"

// A Job is one share of a load, for one worker. It holds secrets, and is written nowhere.
type Job struct {
	Format   string             `json:"format"`
	Version  string             `json:"version,omitempty"` // of the coordinator
	Run      string             `json:"run"`               // unlike any other load's; with the share it is the key of the parts
	Hello    bool               `json:"hello,omitempty"`   // only asks whether the worker would take such a job
	Share    drive.Share        `json:"share"`
	Scenario *scenario.Scenario `json:"scenario,omitempty"`
	Name     string             `json:"name,omitempty"` // of the load, see drive.Options
	Seed     uint64             `json:"seed"`
	Targets  []Target           `json:"targets"`         // one; or two, which are driven at once with arrivals in turns
	Env      map[string]string  `json:"env,omitempty"`   // what the scenario's logins ask the environment for
	Sent     time.Time          `json:"sent"`            // by the coordinator's clock, as are Start and Deadline
	Start    time.Time          `json:"start"`           // when session 0 is due
	Deadline time.Time          `json:"deadline"`        // when the worker gives up
	Parts    string             `json:"parts,omitempty"` // where the parts are to be kept, see Store; empty for in the answer
}

// A Target is an app to drive.
type Target struct {
	URL    string      `json:"url"`
	Header http.Header `json:"header,omitempty"`
	CA     []byte      `json:"ca,omitempty"` // PEM of certificates to trust beside the system's
}

// A line is one of those that a worker answers with.
type line struct {
	At       time.Time       `json:"at"` // by the worker's clock, when the line was written
	Progress *drive.Progress `json:"progress,omitempty"`
	Answer   *Answer         `json:"answer,omitempty"`
}

// An Answer is a worker's last line.
type Answer struct {
	Run       string      `json:"run"`
	Share     drive.Share `json:"share"`
	Worker    Worker      `json:"worker"`
	Received  time.Time   `json:"received"` // the job, by the worker's clock
	Parts     []Sealed    `json:"parts,omitempty"`
	Stored    bool        `json:"stored,omitempty"`    // the parts are in the store
	Duplicate bool        `json:"duplicate,omitempty"` // another worker had taken the same job, and nothing was driven
	Fault     string      `json:"fault,omitempty"`     // why there are no parts
}

// A Worker is who answered.
type Worker struct {
	ID      string  `json:"id"` // unlike any other process's
	Version string  `json:"version,omitempty"`
	Region  string  `json:"region,omitempty"`
	Machine string  `json:"machine,omitempty"` // processor, memory, system
	Cores   float64 `json:"cores"`             // that it may use
	Cold    bool    `json:"cold,omitempty"`    // this was its first job
}

// Sealed is a part with the hash of its text.
type Sealed struct {
	SHA256 string          `json:"sha256"`
	Part   json.RawMessage `json:"part"`
}

func seal(p *drive.Part) (Sealed, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return Sealed{}, err
	}
	sum := sha256.Sum256(text)
	return Sealed{hex.EncodeToString(sum[:]), text}, nil
}

// open returns the part, or why it is not what the worker sealed.
func (s Sealed) open() (*drive.Part, error) {
	sum := sha256.Sum256(s.Part)
	if hex.EncodeToString(sum[:]) != s.SHA256 {
		return nil, errors.New("the part is damaged: it does not have the hash that came with it")
	}
	p := new(drive.Part)
	if err := json.Unmarshal(s.Part, p); err != nil {
		return nil, fmt.Errorf("the part cannot be read: %w", err)
	}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("the part cannot be right: %w", err)
	}
	return p, nil
}

// check returns why a worker cannot do the job.
func (j *Job) check() error {
	var faults []error
	if j.Run == "" {
		faults = append(faults, errors.New("the job names no run"))
	}
	if n := len(j.Targets); n != 1 && n != 2 {
		faults = append(faults, fmt.Errorf("the job has %d targets, want 1 or 2", n))
	}
	if err := j.Share.Check(); err != nil {
		faults = append(faults, err)
	}
	if j.Hello {
		return errors.Join(faults...)
	}
	switch {
	case j.Scenario == nil:
		faults = append(faults, errors.New("the job has no scenario"))
	default:
		if err := j.Scenario.Validate(); err != nil {
			faults = append(faults, err)
		}
	}
	if j.Start.IsZero() || !j.Deadline.After(j.Start) {
		faults = append(faults, fmt.Errorf("the job starts at %v and ends at %v", j.Start, j.Deadline))
	}
	return errors.Join(faults...)
}

// options are what a target is driven with.
func (j *Job) options(i int) (drive.Options, error) {
	t := j.Targets[i]
	o := drive.Options{
		URL: t.URL, Header: t.Header, Seed: j.Seed, Share: j.Share, Name: fmt.Sprintf("%s-%d", j.Name, i), Start: j.Start,
		Env: func(name string) string { return j.Env[name] },
	}
	if len(t.CA) > 0 {
		trust, err := ddp.Trust(t.CA)
		if err != nil {
			return o, fmt.Errorf("ca: %w", err)
		}
		o.TLS = trust
	}
	return o, nil
}
