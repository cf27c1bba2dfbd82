// Command steps measures how well change points are found: on series with known answers, by our rule and by those that it is made of or held against. It writes the tables of
// docs/history.md.
//
//	go run ./gate/steps -into docs/history.md
//
// With DDPGATE_DATA set, it makes series of real repeated measurements too.
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
	begin = "<!-- tables: go run ./gate/steps -->\n"
	end   = "<!-- end of tables -->\n"
)

func main() {
	if err := command(os.Args[1:], os.Stdout, os.Stderr, os.Getenv("DDPGATE_DATA")); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func command(args []string, out, progress io.Writer, data string) error {
	flags := flag.NewFlagSet("steps", flag.ContinueOnError)
	flags.SetOutput(progress)
	trials := flags.Int("trials", 2000, "series of a cell")
	seed := flags.Uint64("seed", 1, "of all draws")
	into := flags.String("into", "", "the file whose tables are replaced; standard output without")
	if err := flags.Parse(args); err != nil {
		return err
	}
	models := simulated()
	if data != "" {
		real, err := measured(data)
		if err != nil {
			return err
		}
		models = append(models, real)
	}
	var tables bytes.Buffer
	writeRules(&tables, models, *trials, *seed)
	if err := writeLabelled(&tables); err != nil {
		return err
	}
	if err := writeHistories(&tables, models, *trials/10, *seed); err != nil {
		return err
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
		return fmt.Errorf("%s has no place for the tables, which is between %q and %q", path, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return os.WriteFile(path, []byte(before+begin+tables+end+after), 0o644)
}
