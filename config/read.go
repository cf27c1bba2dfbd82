package config

import (
	"errors"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/internal/strictyaml"
	"github.com/ddpgate/ddpgate/scenario"
)

// keys of the file, in the order of the documentation.
var keys = []string{"app", "base", "scenarios", "runs", "gate", "baseline"}

type reader struct {
	readFile  func(string) ([]byte, error)
	elsewhere []error // faults of other files
}

func (r *reader) config(n strictyaml.Node) *Config {
	f := n.Fields(keys...)
	c := Default()
	if block := f["app"]; block.Present() {
		c.App = new(app.Config)
		block.Decode(c.App)
		blame(block, validate(*c.App))
	}
	if block := f["base"]; block.Present() {
		c.Base = base(block, c.App)
	}
	r.scenarios(f["scenarios"], c)
	runs(f["runs"], &c.Runs)
	f["gate"].Decode(&c.Gate)
	blame(f["gate"], c.Gate.Validate())
	f["baseline"].Decode(&c.Baseline)
	blame(f["baseline"], c.Baseline.Validate())
	return c
}

// validate leaves it open where an app that is started here answers: whoever starts it has a usual address.
func validate(c app.Config) error {
	if c.URL == "" && len(c.Command) > 0 {
		c.URL = "http://localhost"
	}
	return c.Validate()
}

// base returns the app of the second arm: the first, with what the block changes.
func base(n strictyaml.Node, head *app.Config) *app.Config {
	if head == nil {
		n.Fault("base is what differs from app, and there is no app")
		return nil
	}
	b := *head
	b.Env, b.Roles = maps.Clone(b.Env), maps.Clone(b.Roles)
	n.Decode(&b)
	if b.Node != head.Node {
		n.Field("node").Fault("Node's own figures are taken in both arms or in none: taking them costs time")
	}
	if reflect.DeepEqual(&b, head) {
		n.Fault("base is the same as app; to test one build against itself, run with --aa")
	}
	known := strictyaml.Each(validate(*head))
	for _, err := range strictyaml.Each(validate(b)) {
		inherited := func(other error) bool { return other.Error() == err.Error() }
		if !slices.ContainsFunc(known, inherited) {
			blame(n, err)
		}
	}
	return &b
}

// scenarios reads a list of built-in names, files and scenarios written out.
func (r *reader) scenarios(n strictyaml.Node, c *Config) {
	names := make(map[string]bool)
	for _, item := range n.Items() {
		var s *scenario.Scenario
		if item.IsMapping() {
			s = scenario.Read(item)
		} else {
			s = strictyaml.Scalar(item, r.scenario)
		}
		if s == nil {
			continue
		}
		if s.Name != "" && names[s.Name] {
			item.Fault("there is a scenario %s already", s.Name)
		}
		names[s.Name] = true
		c.Scenarios = append(c.Scenarios, s)
	}
	if n.Present() && len(n.Items()) == 0 && !n.Faulty() {
		n.Fault("name at least one scenario, or leave the key away")
	}
}

// scenario loads a built-in scenario or one in a file. The faults of that file are kept for themselves.
func (r *reader) scenario(name string) (*scenario.Scenario, error) {
	s, err := scenario.Load(name, r.readFile)
	if fault := (*strictyaml.Fault)(nil); errors.As(err, &fault) {
		r.elsewhere = append(r.elsewhere, err)
		return nil, nil
	}
	return s, err
}

func runs(n strictyaml.Node, r *Runs) {
	n.Decode(r)
	least, most := n.Field("min"), n.Field("max")
	switch {
	case most.Present() && !least.Present():
		r.Min = min(r.Min, r.Max)
	case least.Present() && !most.Present():
		r.Max = max(r.Min, r.Max)
	}
	if cpus := n.Field("cpus"); cpus.Present() && r.CPUs.IsZero() && !cpus.Faulty() {
		cpus.Fault("name the CPUs of the app and of the driver, such as {app: 0, driver: 1}")
	}
	blame(n, r.Validate())
}

// path is how the message of a block's fault begins: with the place in the block.
var path = regexp.MustCompile(`^[a-z_]+(\[[0-9]+\]|\.[A-Za-z0-9_-]+)*`)

// blame puts what is wrong with a block where it stands in the file. Where reading has found something wrong there
// already, what follows from that is not worth saying.
func blame(block strictyaml.Node, err error) {
	type fault struct {
		strictyaml.Node
		message string
	}
	var faults []fault
	for _, e := range strictyaml.Each(err) {
		message := strings.ReplaceAll(e.Error(), "\n", "; ")
		if n := block.At(path.FindString(message)); !n.Faulty() {
			faults = append(faults, fault{n, message})
		}
	}
	for _, f := range faults {
		f.Fault("%s", f.message)
	}
}
