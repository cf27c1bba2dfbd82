package main

import (
	"context"
	"maps"
	"slices"

	"github.com/ddpgate/ddpgate/config"
	"github.com/ddpgate/ddpgate/internal/nearest"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/report"
)

// schemaCmd prints a JSON Schema.
type schemaCmd struct {
	Of string `arg:"" help:"config, record or verdict."`
}

func (s *schemaCmd) run(_ context.Context, c *command) (int, error) {
	schemas := map[string]func() []byte{"config": config.Schema, "record": record.Schema, "verdict": report.VerdictSchema}
	schema, known := schemas[s.Of]
	if !known {
		return 0, usage(nearest.Unknown("schema", s.Of, slices.Collect(maps.Keys(schemas))))
	}
	_, err := c.Stdout.Write(schema())
	return exitPass, err
}
