package record

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/internal/nearest"
	"github.com/ddpgate/ddpgate/metric"
)

// importCSV reads one run a row under a header of metrics, and optionally arm. A cell that is empty was not measured.
func importCSV(name string, b []byte, o Importing) (*Record, error) {
	rows := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(b, []byte("\ufeff"))))
	rows.TrimLeadingSpace = true
	rows.Comment = '#'
	table, err := rows.ReadAll()
	switch {
	case err != nil:
		return nil, err
	case len(table) < 2:
		return nil, errors.New("there is no run: want a header such as time,cpu,ram and one row a run")
	case o.Scenario == "":
		return nil, errors.New("a table does not say what was run: give the scenario's name")
	}
	header, err := columns(table[0])
	if err != nil {
		return nil, err
	}
	rec := newImport("csv", o, Load{}, "")
	s := &rec.Scenarios[0]
	var faults []error
	for i, row := range table[1:] {
		run, err := csvRun(header, row)
		if err != nil {
			faults = append(faults, fmt.Errorf("row %d: %w", i+2, err))
			continue
		}
		run.Started, run.Index = rec.Created, len(s.Arm(run.Arm))
		run.Pair = run.Index
		s.Runs = append(s.Runs, run)
	}
	if len(s.Arm(Base)) > 0 {
		rec.Apps[Base] = App{}
	}
	return rec, errors.Join(faults...)
}

// A column is a metric, or the arm where it has no name.
type column struct {
	name string
	unit metric.Unit
}

func columns(names []string) ([]column, error) {
	var header []column
	var faults []error
	for _, name := range names {
		name = strings.TrimSpace(name)
		def, known := metric.Lookup(name)
		if slices.ContainsFunc(header, func(c column) bool { return c.name == name }) {
			faults = append(faults, fmt.Errorf("column %s is there twice", name))
		} else if !known && name != "arm" {
			faults = append(faults, nearest.Unknown("metric", name, append(metric.Names(), "arm")))
		}
		header = append(header, column{name, def.Unit})
	}
	return header, errors.Join(faults...)
}

func csvRun(header []column, row []string) (Run, error) {
	run := Run{Arm: Head, Outcome: OK, Metrics: make(map[string]float64)}
	var faults []error
	for i, c := range header {
		cell := strings.TrimSpace(row[i])
		switch {
		case c.name == "arm" && cell != "":
			run.Arm = cell
		case cell == "" || c.name == "arm":
		default:
			v, err := parseFigure(cell, c.unit)
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", c.name, err))
				continue
			}
			run.Metrics[c.name] = round(v)
		}
	}
	if len(run.Metrics) == 0 && len(faults) == 0 {
		faults = append(faults, errors.New("no value"))
	}
	derive(run.Metrics)
	return run, errors.Join(faults...)
}
