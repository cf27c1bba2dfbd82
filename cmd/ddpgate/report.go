package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/internal/nearest"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/report"
)

// reportCmd renders a record, or the comparison of two.
type reportCmd struct {
	Records []string `arg:"" name:"record" help:"A record, or base and head: files, or keys of the store."`
	Format  string   `default:"text" placeholder:"FORMAT" help:"text or markdown."`
	storeFlag
}

func (r *reportCmd) run(ctx context.Context, c *command) (int, error) {
	formats := map[string]func(io.Writer, report.Comparison) error{
		"text":     func(w io.Writer, shown report.Comparison) error { return report.Text(w, shown, c.layout()) },
		"markdown": report.Markdown,
	}
	render, known := formats[r.Format]
	if !known {
		return 0, usage(nearest.Unknown("format", r.Format, slices.Collect(maps.Keys(formats))))
	}
	shown, err := r.comparison(ctx, c)
	if err != nil {
		return 0, usage(err)
	}
	return exitPass, render(c.Stdout, shown)
}

// comparison is what is rendered: a verdict where there are two records or two arms, a summary otherwise.
func (r *reportCmd) comparison(ctx context.Context, c *command) (shown report.Comparison, err error) {
	switch len(r.Records) {
	case 1:
		cfg, err := c.load()
		if err != nil {
			return shown, err
		}
		store, err := r.open(c, cfg.Baseline)
		if err != nil {
			return shown, err
		}
		if shown.Head, _, err = find(ctx, store, r.Records[0]); err != nil {
			return shown, err
		}
		if _, both := shown.Head.Apps[record.Base]; both {
			shown.Verdict, err = gate.JudgePairs(shown.Head, cfg.Gate)
		}
		return shown, err
	case 2:
		shown, _, err = c.held(ctx, r.Records[0], r.Records[1], r.storeFlag, "")
		return shown, err
	}
	return shown, fmt.Errorf("%d records: give one, or base and head", len(r.Records))
}
