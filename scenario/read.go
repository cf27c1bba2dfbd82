package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/internal/nearest"
	"github.com/ddpgate/ddpgate/internal/strictyaml"
)

// What a scenario does that says nothing of it.
const (
	DefaultTimeout     = 120 * time.Second
	DefaultTransport   = SockJS
	DefaultCompression = Browser
)

// Parse reads a scenario from YAML; file names it in errors. The error holds every fault, each with its file, line and
// column.
func Parse(file string, yaml []byte) (*Scenario, error) {
	doc, err := strictyaml.Parse(file, yaml)
	if err != nil {
		return nil, err
	}
	s := Read(doc.Root)
	if err := doc.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// Read reads a scenario from its place in a YAML file. What is wrong with it becomes faults of that file; the scenario is
// sound if there are none.
func Read(n strictyaml.Node) *Scenario {
	r := reader{places: make(map[string]strictyaml.Node)}
	s := r.scenario(n)
	if n.IsMapping() {
		r.blame(s.faults())
	}
	return s
}

// A reader turns YAML into a scenario and remembers where each part of it stands.
type reader struct {
	places map[string]strictyaml.Node // by path
}

// blame puts faults where their parts of the scenario stand. Where reading has found something wrong already, what follows
// from that is not worth saying.
func (r *reader) blame(faults []fault) {
	places := make([]strictyaml.Node, len(faults))
	for i, f := range faults {
		if n := r.place(f.path); !n.Faulty() {
			places[i] = n
		}
	}
	for i, n := range places {
		n.Fault("%s", faults[i].message)
	}
}

// place returns the smallest part at or around a path that stands in the file.
func (r *reader) place(path string) strictyaml.Node {
	for {
		if n := r.places[path]; n.Present() || path == "" {
			return n
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

func (r *reader) scenario(n strictyaml.Node) *Scenario {
	f := n.Fields("name", "arrivals", "think", "timeout", "transport", "compression", "vars", "session")
	r.places[""] = n
	for name, field := range f {
		r.places[name] = field
	}
	s := &Scenario{
		Name:        f["name"].Text(),
		Arrivals:    r.arrivals(f["arrivals"]),
		Think:       strictyaml.Scalar(f["think"], ParseRange),
		Timeout:     DefaultTimeout,
		Transport:   DefaultTransport,
		Compression: DefaultCompression,
		Vars:        r.vars(f["vars"]),
		Session:     r.steps(f["session"], "session", 0),
	}
	if t := f["timeout"]; t.Present() {
		s.Timeout = t.Duration()
	}
	if t := f["transport"]; t.Present() {
		s.Transport = Transport(t.Text())
	}
	if c := f["compression"]; c.Present() {
		s.Compression = Compression(c.Text())
	}
	return s
}

func (r *reader) arrivals(n strictyaml.Node) Arrivals {
	f := n.Fields("rate", "for")
	for name, field := range f {
		r.places["arrivals."+name] = field
	}
	return Arrivals{Rate: strictyaml.Scalar(f["rate"], ParseRate), For: f["for"].Duration()}
}

func (r *reader) vars(n strictyaml.Node) map[string]any {
	if !n.Present() {
		return nil
	}
	vars := make(map[string]any)
	for _, e := range n.Entries() {
		r.places["vars."+e.Name] = e.Key
		vars[e.Name] = e.Value.Value()
		if e.Value.Faulty() {
			vars[e.Name] = int64(1) // something sound, or all that refers to it is at fault too
		}
	}
	return vars
}

// kinds of steps, in the order in which messages name them.
var kinds = []string{"subscribe", "unsubscribe", "call", "await", "repeat", "each", "pause", "login", "only"}

// around are those that have steps beside them.
var around = []string{"repeat", "each", "only"}

func (r *reader) steps(n strictyaml.Node, path string, depth int) []Step {
	if n.Present() {
		r.places[path] = n
	}
	if depth > maxDepth {
		n.Fault("steps are nested more than %d deep", maxDepth)
		return nil
	}
	var steps []Step
	for i, item := range n.Items() {
		steps = append(steps, r.step(item, fmt.Sprintf("%s[%d]", path, i), depth))
	}
	return steps
}

func (r *reader) step(n strictyaml.Node, path string, depth int) Step {
	f := n.Fields(append(slices.Clone(kinds), "steps")...)
	r.places[path] = n
	var kind string
	for _, k := range kinds {
		switch {
		case !f[k].Present():
		case kind == "":
			kind = k
		default:
			f[k].Fault("a step does one thing, and this one has %s already", kind)
		}
	}
	if !slices.Contains(around, kind) {
		f["steps"].Fault("steps go beside repeat, each or only")
	}
	if kind == "" {
		return r.noStep(n, path)
	}
	body := f[kind]
	path += "." + kind
	r.places[path] = body
	switch kind {
	case "subscribe":
		b := body.Fields("name", "params")
		return Step{Subscribe: &Subscribe{Name: b["name"].Text(), Params: r.params(b["params"], path)}}
	case "unsubscribe":
		return Step{Unsubscribe: &Unsubscribe{Name: body.Fields("name")["name"].Text()}}
	case "call":
		return Step{Call: r.call(body, path)}
	case "await":
		b := body.Fields("collection", "match", "id", "gone", "append")
		return Step{Await: &Await{Collection: b["collection"].Text(), Doc: r.doc(b, path)}}
	case "repeat":
		return Step{Repeat: &Repeat{Times: body.Text(), Steps: r.steps(f["steps"], path+".steps", depth+1)}}
	case "each":
		return Step{Each: r.each(body, r.steps(f["steps"], path+".steps", depth+1))}
	case "pause":
		return Step{Pause: r.pause(body, path)}
	case "login":
		return Step{Login: r.login(body, path)}
	case "only":
		return Step{Only: &Only{Sessions: Sessions(body.Text()), Steps: r.steps(f["steps"], path+".steps", depth+1)}}
	}
	return Step{}
}

// pause reads a duration or a range, or {until: moment}.
func (r *reader) pause(n strictyaml.Node, path string) *Pause {
	if !n.IsMapping() {
		return &Pause{For: strictyaml.Scalar(n, ParseRange)}
	}
	until := n.Fields("until")["until"]
	if !until.Present() {
		n.Fault("needs a duration, such as 5s, or {until: %s}", Arrived)
	}
	r.places[path+".until"] = until
	return &Pause{Until: Moment(until.Text())}
}

func (r *reader) login(n strictyaml.Node, path string) *Login {
	f := n.Fields("token", "user", "password")
	return &Login{
		Token:    r.secret(f["token"], path+".token"),
		User:     r.secret(f["user"], path+".user"),
		Password: r.secret(f["password"], path+".password"),
	}
}

// secret reads {env: NAME}. What stands there in plain is told to nobody.
func (r *reader) secret(n strictyaml.Node, path string) *Secret {
	if !n.Present() {
		return nil
	}
	r.places[path] = n
	if n.IsScalar() {
		n.Fault("may not stand here itself: name the environment variable that holds it, such as {env: LOAD_USER}")
		return &Secret{Env: "LOAD_USER"} // something sound
	}
	return &Secret{Env: n.Fields("env")["env"].Text()}
}

// noStep is a step of no known kind. Where that is an unknown key's fault, that is enough said.
func (r *reader) noStep(n strictyaml.Node, path string) Step {
	if n.IsMapping() {
		for _, e := range n.Entries() {
			r.places[path] = e.Key
		}
	}
	return Step{}
}

func (r *reader) params(n strictyaml.Node, path string) []any {
	if !n.Present() {
		return nil
	}
	path += ".params"
	r.places[path] = n
	var params []any
	for i, item := range n.Items() {
		params = append(params, r.value(item, fmt.Sprintf("%s[%d]", path, i)))
	}
	return params
}

// value reads a JSON value and remembers where its parts stand.
func (r *reader) value(n strictyaml.Node, path string) any {
	r.places[path] = n
	switch {
	case n.IsList():
		for i, item := range n.Items() {
			r.value(item, fmt.Sprintf("%s[%d]", path, i))
		}
	case n.IsMapping():
		for _, e := range n.Entries() {
			r.value(e.Value, path+"."+e.Name)
		}
	}
	return n.Value()
}

func (r *reader) call(n strictyaml.Node, path string) *Call {
	f := n.Fields("method", "params", "think", "find")
	c := &Call{Method: f["method"].Text(), Params: r.params(f["params"], path)}
	if think := f["think"]; think.Present() {
		r.places[path+".think"] = think
		d := strictyaml.Scalar(think, ParseRange)
		c.Think = &d
	}
	if find := f["find"]; find.Present() {
		r.places[path+".find"] = find
		d := r.doc(find.Fields("match", "id", "gone", "append"), path+".find")
		c.Find = &d
	}
	return c
}

// doc reads the fields of a mapping that say which document is meant.
func (r *reader) doc(f map[string]strictyaml.Node, path string) Doc {
	var d Doc
	for _, name := range []string{"match", "id", "gone", "append"} {
		if f[name].Present() {
			r.places[path+"."+name] = f[name]
		}
	}
	if match := f["match"]; match.Present() {
		d.Match = make(map[string]any)
		for _, e := range match.Entries() {
			d.Match[e.Name] = r.value(e.Value, path+".match."+e.Name)
		}
	}
	if add := f["append"]; add.Present() {
		d.Append = make(map[string]string)
		for _, e := range add.Entries() {
			d.Append[e.Name] = e.Value.Text()
		}
	}
	d.ID, d.Gone = f["id"].Text(), f["gone"].Bool()
	return d
}

// each reads {variable: list}.
func (r *reader) each(n strictyaml.Node, steps []Step) *Each {
	e := &Each{Steps: steps}
	entries := n.Entries()
	if n.IsMapping() && len(entries) != 1 {
		n.Fault("must be one variable with its list, such as {id: ids}")
	}
	for _, entry := range entries {
		e.Var, e.List = entry.Name, entry.Value.Text()
	}
	return e
}

func oneOf[T ~string](what string, got T, known ...T) error {
	if slices.Contains(known, got) {
		return nil
	}
	words := make([]string, len(known))
	for i, k := range known {
		words[i] = string(k)
	}
	return nearest.Unknown(what, string(got), words)
}
