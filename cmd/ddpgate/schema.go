package main

import (
	"context"

	"github.com/ddpgate/ddpgate/config"
	"github.com/ddpgate/ddpgate/internal/nearest"
	"github.com/ddpgate/ddpgate/record"
)

// schemaCmd prints a JSON Schema.
type schemaCmd struct {
	Of string `arg:"" help:"config or record."`
}

func (s *schemaCmd) run(_ context.Context, c *command) (int, error) {
	schemas := map[string]func() []byte{"config": config.Schema, "record": record.Schema}
	schema, known := schemas[s.Of]
	if !known {
		return 0, usage(nearest.Unknown("schema", s.Of, []string{"config", "record"}))
	}
	_, err := c.Stdout.Write(schema())
	return exitPass, err
}
