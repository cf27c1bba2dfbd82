package drive

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ddpgate/ddpgate/scenario"
)

// A program is a scenario's session, flattened for running: loops are jumps, variables are slots, templates are compiled.
// It is shared by all sessions and not changed by them.
type program struct {
	ops         []op
	slots       int      // variables of a session
	preset      []preset // slots that start with a value
	lists       int
	collections map[string]extent // those that steps look into
	methods     []string          // sorted
	logins      []scenario.Login
}

// An extent is how much of a collection a session keeps a copy of: no more than its steps ask for.
type extent int

const (
	ownDocs  extent = iota // that carry the session's name, or whose id it has learnt
	loadDocs               // that carry the load's name, as those of all its sessions do
	allDocs
)

type preset struct {
	slot  int
	value []byte // raw JSON
}

// The slots that every program has.
const (
	sessionSlot = iota
	loadSlot
	fixedSlots
)

type opKind int

const (
	opSubscribe opKind = iota
	opUnsubscribe
	opCall
	opAwait
	opPause
	opLogin
	opOnly // jumps behind its steps for all other sessions
	opLoop // enters or goes on with a loop; jumps behind it when it is over
	opNext // jumps back to its loop
)

type op struct {
	kind    opKind
	name    string // publication, method or collection
	what    string // for people: "step 4 (await taskCollection)"
	params  text
	pause   scenario.Range // of a pause, or before a call
	until   time.Duration  // of a pause, from the start of the load; 0 for none
	only    scenario.Sessions
	byUser  bool
	method  int  // index in program.methods
	secrets int  // of a login: index in program.logins
	doc     *doc // of an await, or to be found in a call's result

	times int // of a loop; -1: once for each value of list
	list  int
	slot  int // the loop's variable
	to    int // opLoop: behind the loop; opNext: the loop; opOnly: behind its steps
}

// doc is a compiled scenario.Doc.
type doc struct {
	fields  []field // sorted by name; with an id, the field _id
	byID    bool
	gone    bool
	foreign bool // is another session's, by its fields
	append  []appendTo
}

type field struct {
	name  string
	value text
}

type appendTo struct {
	field string
	list  int
}

type compiler struct {
	scenario.Scenario
	program
	scope     map[string]int // name to slot
	listNames map[string]int
	step      int
}

// An unsound says which step cannot be done.
type unsound struct {
	step int
	err  error
}

func (e *unsound) Error() string { return fmt.Sprintf("step %d: %v", e.step, e.err) }

func (e *unsound) Unwrap() error { return e.err }

// compile flattens a sound scenario. An error says what is unsound.
func compile(sc *scenario.Scenario) (*program, error) {
	scope := map[string]int{"session": sessionSlot, "load": loadSlot}
	c := compiler{Scenario: *sc, scope: scope, listNames: make(map[string]int)}
	c.slots = fixedSlots
	c.collections = make(map[string]extent)
	for _, name := range slices.Sorted(maps.Keys(sc.Vars)) {
		raw, err := json.Marshal(sc.Vars[name])
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", name, err)
		}
		c.preset = append(c.preset, preset{c.slot(name), raw})
	}
	c.methods = methodsOf(nil, sc.Session)
	slices.Sort(c.methods)
	c.methods = slices.Compact(c.methods)
	if err := c.steps(sc.Session); err != nil {
		return nil, err
	}
	c.program.lists = len(c.listNames)
	return &c.program, nil
}

func methodsOf(names []string, steps []scenario.Step) []string {
	for _, s := range steps {
		switch {
		case s.Call != nil:
			names = append(names, s.Call.Method)
		case s.Login != nil:
			names = append(names, loginMethod)
		case s.Only != nil:
			names = methodsOf(names, s.Only.Steps)
		case s.Repeat != nil:
			names = methodsOf(names, s.Repeat.Steps)
		case s.Each != nil:
			names = methodsOf(names, s.Each.Steps)
		}
	}
	return names
}

func (c *compiler) slot(name string) int {
	c.slots++
	c.scope[name] = c.slots - 1
	return c.slots - 1
}

func (c *compiler) list(name string) int {
	if i, known := c.listNames[name]; known {
		return i
	}
	c.listNames[name] = len(c.listNames)
	return len(c.listNames) - 1
}

func (c *compiler) steps(steps []scenario.Step) error {
	for i := range steps {
		c.step++
		at := c.step
		err := c.one(&steps[i])
		if known := new(unsound); err != nil && !errors.As(err, &known) {
			return &unsound{at, err}
		}
		if err != nil {
			return err // of a step within this one
		}
	}
	return nil
}

func (c *compiler) one(s *scenario.Step) error {
	switch {
	case s.Subscribe != nil:
		return c.emit(op{kind: opSubscribe, name: s.Subscribe.Name}, "subscribe to", s.Subscribe.Params, nil)
	case s.Unsubscribe != nil:
		return c.emit(op{kind: opUnsubscribe, name: s.Unsubscribe.Name}, "unsubscribe from", nil, nil)
	case s.Call != nil:
		o := op{kind: opCall, name: s.Call.Method, method: c.method(s.Call.Method), pause: s.Call.ThinkTime(c.Think), byUser: s.Call.ByUser()}
		return c.emit(o, "call", s.Call.Params, s.Call.Find)
	case s.Login != nil:
		return c.login(s.Login)
	case s.Only != nil:
		return c.only(s.Only)
	case s.Await != nil:
		return c.emit(op{kind: opAwait, name: s.Await.Collection}, "await", nil, &s.Await.Doc)
	case s.Pause != nil:
		o := op{kind: opPause, pause: s.Pause.For}
		if s.Pause.Until == scenario.Arrived {
			o.until = c.Arrivals.Due(c.Arrivals.Sessions() - 1)
		}
		return c.emit(o, "pause", nil, nil)
	case s.Repeat != nil:
		times, err := s.Repeat.Count(c.Vars)
		if err != nil {
			return err
		}
		return c.loop(op{kind: opLoop, times: times}, "i", s.Repeat.Steps)
	case s.Each != nil:
		return c.loop(op{kind: opLoop, times: -1, list: c.list(s.Each.List)}, s.Each.Var, s.Each.Steps)
	}
	return fmt.Errorf("does nothing")
}

func (c *compiler) method(name string) int {
	i, _ := slices.BinarySearch(c.methods, name)
	return i
}

func (c *compiler) only(o *scenario.Only) error {
	start := len(c.ops)
	c.ops = append(c.ops, op{kind: opOnly, only: o.Sessions})
	err := c.steps(o.Steps)
	c.ops[start].to = len(c.ops)
	return err
}

// loop emits a loop whose variable is seen within it only.
func (c *compiler) loop(o op, variable string, steps []scenario.Step) error {
	outer, shadows := c.scope[variable]
	o.slot = c.slot(variable)
	start := len(c.ops)
	c.ops = append(c.ops, o)
	if err := c.steps(steps); err != nil {
		return err
	}
	c.ops = append(c.ops, op{kind: opNext, to: start})
	c.ops[start].to = len(c.ops)
	delete(c.scope, variable)
	if shadows {
		c.scope[variable] = outer
	}
	return nil
}

func (c *compiler) emit(o op, verb string, params []any, d *scenario.Doc) (err error) {
	o.what = fmt.Sprintf("step %d (%s %s)", c.step, verb, o.name)
	if o.name == "" {
		o.what = fmt.Sprintf("step %d (%s)", c.step, verb)
	}
	if params != nil {
		if o.params, err = c.text(nil, params); err != nil {
			return err
		}
	}
	if d != nil {
		if o.doc, err = c.doc(d); err != nil {
			return err
		}
		if o.kind == opAwait {
			c.look(o.name, o.doc)
		}
	}
	c.ops = append(c.ops, o)
	return nil
}

// look notes that a step looks into a collection, and for what.
func (c *compiler) look(collection string, d *doc) {
	extent := allDocs
	switch {
	case d.byID || d.refersTo(sessionSlot):
		extent = ownDocs
	case d.refersTo(loadSlot):
		extent, d.foreign = loadDocs, true
	}
	c.collections[collection] = max(extent, c.collections[collection])
}

func (d *doc) refersTo(slot int) bool {
	return slices.ContainsFunc(d.fields, func(f field) bool { return f.value.refersTo(slot) })
}

func (c *compiler) doc(d *scenario.Doc) (*doc, error) {
	out := &doc{gone: d.Gone, byID: d.ID != ""}
	if out.byID {
		id, err := c.text(nil, d.ID)
		if err != nil {
			return nil, err
		}
		out.fields = append(out.fields, field{"_id", id})
	}
	for _, name := range slices.Sorted(maps.Keys(d.Match)) {
		value, err := c.text(nil, d.Match[name])
		if err != nil {
			return nil, err
		}
		out.fields = append(out.fields, field{name, value})
	}
	for _, list := range slices.Sorted(maps.Keys(d.Append)) {
		out.append = append(out.append, appendTo{d.Append[list], c.list(list)})
	}
	return out, nil
}
