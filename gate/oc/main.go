// Command oc simulates the gate's operating characteristics: how often it fails a build that did not change, and how often it
// misses one that did, beside the rules that other tools use. It writes the tables of docs/gate.md.
//
//	go run ./gate/oc -trials 4000 -into docs/gate.md
//
// With DDPGATE_DATA set, it judges random halves of real repeated measurements too.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	begin = "<!-- tables: go run ./gate/oc -->\n"
	end   = "<!-- end of tables -->\n"
)

func main() {
	if err := command(os.Args[1:], os.Stdout, os.Stderr, os.Getenv("DDPGATE_DATA")); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func command(args []string, out, progress io.Writer, data string) error {
	flags := flag.NewFlagSet("oc", flag.ContinueOnError)
	flags.SetOutput(progress)
	trials := flags.Int("trials", 1000, "of a cell; five times as many where nothing changed, or as much as the threshold")
	seed := flags.Uint64("seed", 1, "of all draws")
	into := flags.String("into", "", "the file whose tables are replaced; standard output without")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var tables bytes.Buffer
	w := writer{out: &tables, progress: progress, trials: *trials, seed: *seed}
	w.all(data)
	if w.err != nil {
		return w.err
	}
	if *into == "" {
		_, err := out.Write(tables.Bytes())
		return err
	}
	return replace(*into, tables.String())
}

// replace puts the tables between the marks of a file.
func replace(path, tables string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no place for the tables: no %q and %q", path, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return os.WriteFile(path, []byte(before+begin+"\n"+tables+"\n"+end+after), 0o644)
}
