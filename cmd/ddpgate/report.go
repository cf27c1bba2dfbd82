package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/internal/nearest"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/report"
)

// reportCmd renders a record, or the comparison of two.
type reportCmd struct {
	Records []string `arg:"" name:"record" help:"A record, or base and head: files, or keys of the store."`
	Format  string   `default:"text" placeholder:"FORMAT" help:"text, markdown, html, svg, junit, json, benchfmt or gha-benchmark."`
	Out     string   `placeholder:"DIR" help:"Write files there instead of to stdout; svg: one a chart."`
	storeFlag
}

// A format is one way to render.
type format[T any] struct {
	file  string // its name under --out
	write func(io.Writer, T) error
	files func(T) ([]report.File, error) // what --out writes, where it is not what write does
}

func (c *command) formats() map[string]format[report.Comparison] {
	text := func(w io.Writer, shown report.Comparison) error { return report.Text(w, shown, c.layout()) }
	return map[string]format[report.Comparison]{
		"text":          {file: "report.txt", write: text},
		"markdown":      {file: "report.md", write: report.Markdown},
		"html":          {file: "report.html", write: report.HTML},
		"svg":           {write: report.SVG, files: report.SVGFiles},
		"junit":         {file: "junit.xml", write: report.JUnit},
		"json":          {file: "verdict.json", write: report.JSON},
		"benchfmt":      {write: report.Benchfmt, files: report.BenchfmtFiles},
		"gha-benchmark": {write: report.GHABenchmark, files: report.GHABenchmarkFiles},
	}
}

func (r *reportCmd) run(ctx context.Context, c *command) (int, error) {
	chosen, err := formatOf(c.formats(), r.Format)
	if err != nil {
		return 0, err
	}
	shown, err := r.comparison(ctx, c)
	if err != nil {
		return 0, usage(err)
	}
	if r.Format == "gha-benchmark" && r.Out == "" {
		fmt.Fprintln(c.Stderr, "hint: what is better the higher it is (throughput, ok) is not in it; --out DIR writes that to a file of its own")
	}
	return exitPass, put(c, chosen, shown, r.Out)
}

// put writes what is shown to stdout, or to files in a directory where one is named.
func put[T any](c *command, f format[T], shown T, dir string) error {
	if dir == "" {
		return f.write(c.Stdout, shown)
	}
	files, err := f.render(shown)
	if err != nil {
		return err
	}
	return c.writeFiles(dir, files)
}

// formatOf returns the format of a name; another name is the user's to mend.
func formatOf[T any](formats map[string]format[T], name string) (format[T], error) {
	chosen, known := formats[name]
	if !known {
		return chosen, usage(nearest.Unknown("format", name, slices.Collect(maps.Keys(formats))))
	}
	return chosen, nil
}

// writeFiles writes a report to a directory and says what it wrote.
func (c *command) writeFiles(dir string, files []report.File) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		path := filepath.Join(dir, file.Name)
		if err := os.WriteFile(path, file.Content, 0o644); err != nil {
			return err
		}
		fmt.Fprintln(c.Stdout, path)
	}
	return nil
}

func (f format[T]) render(shown T) ([]report.File, error) {
	if f.files != nil {
		return f.files(shown)
	}
	var out bytes.Buffer
	err := f.write(&out, shown)
	return []report.File{{Name: f.file, Content: out.Bytes()}}, err
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
		if shown.Head, _, err = find(ctx, c, store, r.Records[0]); err != nil {
			return shown, err
		}
		if _, both := shown.Head.Apps[record.Base]; both {
			shown.Verdict, err = gate.JudgePairs(shown.Head, cfg.Gate)
		} else if r.Format == "json" { // which is a verdict and nothing else
			shown.Verdict, err = gate.JudgeAlone(shown.Head, cfg.Gate, "")
		}
		return shown, err
	case 2:
		shown, _, err = c.held(ctx, r.Records[0], r.Records[1], r.storeFlag, "")
		return shown, err
	}
	return shown, fmt.Errorf("%d records: give one, or base and head", len(r.Records))
}
