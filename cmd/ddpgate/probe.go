package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"text/tabwriter"

	"github.com/ddpgate/ddpgate/probe"
	"github.com/ddpgate/ddpgate/report"
)

// probeCmd says what machine this is and how quiet.
type probeCmd struct {
	JSON bool `name:"json" help:"Print it as JSON."`
}

// A probed machine is what probe prints with --json.
type probed struct {
	Machine probe.Machine   `json:"machine"`
	Tools   probe.Toolchain `json:"tools"`
	// Timers are how late timers fired, of ddpgate itself and of a child Node where there is one.
	Timers struct {
		Go   []probe.Noise `json:"go"`
		Node []probe.Noise `json:"node,omitempty"`
		// Missing is why there are none of Node.
		Missing string `json:"missing,omitempty"`
	} `json:"timers"`
	References []probe.Reference `json:"references"`
	Grade      probe.Grade       `json:"grade"`
	Means      string            `json:"means"`
}

func (p *probeCmd) run(ctx context.Context, c *command) (int, error) {
	t := c.ticker()
	t.say("%s", "looking at this machine, which takes up to 15 s")
	found, err := look(ctx, c.Env)
	t.clear()
	if err != nil {
		return 0, err
	}
	if p.JSON {
		return exitPass, printJSON(c.Stdout, found)
	}
	return exitPass, found.print(c.Stdout)
}

// look tries Node's timers and our own at one time: waiting timers are no load on each other.
func look(ctx context.Context, env func(string) string) (*probed, error) {
	found := &probed{Machine: probe.Fingerprint("/", env), Tools: probe.Tools(ctx), References: probe.References()}
	of := &found.Timers
	tried := make(chan error, 1)
	go func() {
		var err error
		of.Node, err = probe.NodeTimers(ctx)
		tried <- err
	}()
	of.Go = probe.Timers(ctx)
	switch err := <-tried; {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		of.Missing = "there is no node in PATH"
	case err != nil:
		of.Missing = err.Error()
	}
	found.Grade = probe.GradeOf(append(of.Go[:len(of.Go):len(of.Go)], of.Node...))
	found.Means = found.Grade.Means()
	return found, nil
}

// print lays it out for people.
func (p *probed) print(w io.Writer) error {
	m := p.Machine
	lines := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	cores := fmt.Sprint(m.Cores)
	if m.Quota > 0 {
		cores += fmt.Sprintf(", limited to the time of %.2g", m.Quota)
	}
	memory := ""
	if m.Memory > 0 {
		memory = report.Figure("ram", float64(m.Memory))
	}
	for _, f := range []struct{ name, text string }{
		{"machine", m.ID}, {"processor", m.CPU}, {"cores", cores}, {"memory", memory},
		{"system", strings.Join(strings.Fields(m.OS+" "+m.Arch+" "+m.Kernel), " ")}, {"platform", m.Platform}, {"image", m.Image},
		{"container", m.Container}, {"clock", m.Clock}, {"governor", m.Governor}, {"node", p.Tools.Node}, {"mongodb", p.Tools.MongoDB},
	} {
		fmt.Fprintf(lines, "%s\t%s\n", f.name, cmp.Or(f.text, "-"))
	}
	fmt.Fprintf(lines, "\ntimers, ms\tcalls\tasked for\tp50\tp90\tp99\tmax\n")
	p.timers(lines, "Go", p.Timers.Go)
	p.timers(lines, "Node", p.Timers.Node)
	for _, r := range p.References {
		fmt.Fprintf(lines, "%s\t\t1\t\t%.0f\n\t\t50\t\t%.0f\n", r.Name, r.Short*1000, r.Long*1000)
	}
	if why := p.Timers.Missing; why != "" {
		fmt.Fprintf(lines, "\nno timers of Node: %s\n", why)
	}
	fmt.Fprintf(lines, "\n%s: %s.\n", cmp.Or(string(p.Grade), "no grade"), p.Means)
	return lines.Flush()
}

// timers are a line each, in ms, the delay included, as the references are.
func (p *probed) timers(w io.Writer, name string, all []probe.Noise) {
	for _, n := range all {
		ms := func(late float64) float64 { return (n.Delay + late) * 1000 }
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%.2f\t%.2f\t%.2f\t%.2f\n", name, n.Calls, n.Delay*1000, ms(n.P50), ms(n.P90), ms(n.P99), ms(n.Max))
		name = ""
	}
}
