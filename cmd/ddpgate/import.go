package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/record"
)

// importCmd makes records of what other tools measured.
type importCmd struct {
	Format   string   `arg:"" help:"artillery-log, bench-platform, csv or k6."`
	Files    []string `arg:"" name:"file" help:"What the other tool wrote."`
	Scenario string   `placeholder:"NAME" help:"What was run, where the file does not say it."`
	Version  string   `placeholder:"V" help:"The app's version (what the file says)."`
	At       string   `placeholder:"TIME" help:"When it was measured, as 2026-11-30 or 2026-11-30T12:00:00Z (what the file says, else when it was written)."`
	Commit   string   `placeholder:"SHA" help:"The commit that was measured."`
	Out      string   `placeholder:"FILE" help:"One record of all files, as the runs of one version (without, a record a file in .ddpgate/records)."`
	JSON     bool     `name:"json" help:"Print the files that were written as JSON."`
}

func (i *importCmd) run(_ context.Context, c *command) (int, error) {
	at, err := i.at()
	if err != nil {
		return 0, usage(err)
	}
	var records []*record.Record
	var faults []error
	for _, path := range i.Files {
		rec, err := i.read(c, path, at)
		records, faults = append(records, rec), append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return 0, usage(err)
	}
	written, err := i.write(records)
	if err != nil {
		return 0, err
	}
	if i.JSON {
		return exitPass, printJSON(c.Stdout, written)
	}
	for _, path := range written {
		fmt.Fprintf(c.Stdout, "written   %s\n", path)
	}
	return exitPass, nil
}

func (i *importCmd) at() (time.Time, error) {
	if i.At == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(form, i.At); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("--at is %q, want a day such as 2026-11-30 or a time such as 2026-11-30T12:00:00Z", i.At)
}

func (i *importCmd) read(c *command, path string, at time.Time) (*record.Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	rec, err := record.Import(i.Format, path, f, record.Importing{Scenario: i.Scenario, Version: i.Version, Created: info.ModTime()})
	if err != nil {
		return nil, err
	}
	rec.Command, rec.Tool = c.line, tool()
	if !at.IsZero() {
		rec.Created = at
	}
	if i.Commit != "" {
		rec.Commit = i.Commit
	}
	return rec, nil
}

// write writes one record of all, or one of each, and returns the files.
func (i *importCmd) write(records []*record.Record) ([]string, error) {
	if i.Out != "" {
		joined, err := record.Join(records)
		if err != nil {
			return nil, usage(err)
		}
		return []string{i.Out}, record.Write(i.Out, joined)
	}
	var written []string
	taken := make(map[string]bool)
	for n, rec := range records {
		base := filepath.Base(i.Files[n])
		base = strings.TrimSuffix(base, filepath.Ext(base))
		name := base
		for k := 2; taken[name]; k++ {
			name = fmt.Sprintf("%s-%d", base, k)
		}
		taken[name] = true
		path := filepath.Join(".ddpgate", "records", name+".json")
		if err := record.Write(path, rec); err != nil {
			return written, err
		}
		written = append(written, path)
	}
	return written, nil
}
