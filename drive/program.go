package drive

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ddpgate/ddpgate/ddp"
	"github.com/ddpgate/ddpgate/scenario"
)

// A program is a scenario's session, flattened for running: loops are jumps, variables are slots, templates are compiled.
// It is shared by all sessions and not changed by them.
type program struct {
	ops         []op
	slots       int      // variables of a session
	preset      []preset // slots that start with a value
	lists       int
	collections map[string]bool // those that steps look into; true: every step asks for the session's own documents
	methods     []string        // sorted
}

type preset struct {
	slot  int
	value []byte // raw JSON
}

const sessionSlot = 0

type opKind int

const (
	opSubscribe opKind = iota
	opUnsubscribe
	opCall
	opAwait
	opPause
	opLoop // enters or goes on with a loop; jumps behind it when it is over
	opNext // jumps back to its loop
)

type op struct {
	kind   opKind
	name   string // publication, method or collection
	what   string // for people: "step 4 (await taskCollection)"
	params text
	pause  scenario.Range // of a pause, or before a call
	byUser bool
	method int  // index in program.methods
	doc    *doc // of an await, or to be found in a call's result

	times int // of a loop; -1: once for each value of list
	list  int
	slot  int // the loop's variable
	to    int // opLoop: behind the loop; opNext: the loop
}

// doc is a compiled scenario.Doc.
type doc struct {
	fields []field // sorted by name; with an id, the field _id
	id     text
	byID   bool
	gone   bool
	append []appendTo
}

type field struct {
	name  string
	value text
}

type appendTo struct {
	field string
	list  int
}

// A text is JSON with references to slots in it.
type text []piece

type piece struct {
	raw  []byte
	slot int  // -1: raw as it is
	bare bool // of a slot: without the quotes, inside of a string
}

// expand appends the text with the slots' values.
func (t text) expand(dst []byte, slots [][]byte) []byte {
	for _, p := range t {
		switch {
		case p.slot < 0:
			dst = append(dst, p.raw...)
		case p.bare:
			dst = append(dst, unquoted(slots[p.slot])...)
		default:
			dst = append(dst, slots[p.slot]...)
		}
	}
	return dst
}

// unquoted returns what stands within a raw JSON string's quotes; any other value as it is.
func unquoted(raw []byte) []byte {
	if len(raw) >= 2 && raw[0] == '"' {
		return raw[1 : len(raw)-1]
	}
	return raw
}

func (t text) refersTo(slot int) bool {
	return slices.ContainsFunc(t, func(p piece) bool { return p.slot == slot })
}

type compiler struct {
	scenario.Scenario
	program
	scope     map[string]int // name to slot
	listNames map[string]int
	step      int
}

// compile flattens a sound scenario. An error says what is unsound.
func compile(sc *scenario.Scenario) (*program, error) {
	c := compiler{Scenario: *sc, scope: map[string]int{"session": sessionSlot}, listNames: make(map[string]int)}
	c.slots = 1
	c.collections = make(map[string]bool)
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
		if err := c.one(&steps[i]); err != nil {
			return fmt.Errorf("step %d: %w", at, err)
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
		method, _ := slices.BinarySearch(c.methods, s.Call.Method)
		o := op{kind: opCall, name: s.Call.Method, method: method, pause: s.Call.ThinkTime(c.Think), byUser: s.Call.ByUser()}
		return c.emit(o, "call", s.Call.Params, s.Call.Find)
	case s.Await != nil:
		return c.emit(op{kind: opAwait, name: s.Await.Collection}, "await", nil, &s.Await.Doc)
	case s.Pause != nil:
		return c.emit(op{kind: opPause, pause: s.Pause.For}, "pause", nil, nil)
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

// look notes that a step looks into a collection, and whether all that do ask for the session's own documents: those
// that carry its name, or whose id it has learnt.
func (c *compiler) look(collection string, d *doc) {
	own := d.byID || slices.ContainsFunc(d.fields, func(f field) bool { return f.value.refersTo(sessionSlot) })
	before, seen := c.collections[collection]
	c.collections[collection] = own && (before || !seen)
}

func (c *compiler) doc(d *scenario.Doc) (*doc, error) {
	out := &doc{gone: d.Gone, byID: d.ID != ""}
	var err error
	if out.byID {
		if out.id, err = c.text(nil, d.ID); err != nil {
			return nil, err
		}
		out.fields = append(out.fields, field{"_id", out.id})
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

// text compiles a JSON value whose strings are templates.
func (c *compiler) text(t text, v any) (text, error) {
	var err error
	switch v := v.(type) {
	case string:
		return c.template(t, v)
	case []any:
		t = t.plain("[")
		for i, e := range v {
			if i > 0 {
				t = t.plain(",")
			}
			if t, err = c.text(t, e); err != nil {
				return nil, err
			}
		}
		return t.plain("]"), nil
	case map[string]any:
		return c.object(t, v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return t.plain(string(raw)), nil
}

func (c *compiler) object(t text, v map[string]any) (text, error) {
	t = t.plain("{")
	for i, name := range slices.Sorted(maps.Keys(v)) {
		if i > 0 {
			t = t.plain(",")
		}
		t = t.plain(string(ddp.AppendString(nil, []byte(name))) + ":")
		var err error
		if t, err = c.text(t, v[name]); err != nil {
			return nil, err
		}
	}
	return t.plain("}"), nil
}

// plain appends raw JSON, joined to what stands before it.
func (t text) plain(raw string) text {
	if n := len(t); n > 0 && t[n-1].slot < 0 {
		t[n-1].raw = append(t[n-1].raw, raw...)
		return t
	}
	return append(t, piece{raw: []byte(raw), slot: -1})
}

// template compiles a text with references. One that is a single reference takes the variable's value as it is.
func (c *compiler) template(t text, s string) (text, error) {
	parsed, err := scenario.ParseTemplate(s)
	if err != nil {
		return nil, err
	}
	for _, name := range parsed.Refs() {
		if _, known := c.scope[name]; !known {
			return nil, fmt.Errorf("variable %s is not known", name)
		}
	}
	if name, sole := parsed.Sole(); sole {
		return append(t, piece{slot: c.scope[name]}), nil
	}
	t = t.plain(`"`)
	parsed.Each(func(part string, ref bool) {
		if ref {
			t = append(t, piece{slot: c.scope[part], bare: true})
			return
		}
		t = t.plain(string(unquoted(ddp.AppendString(nil, []byte(part)))))
	})
	return t.plain(`"`), nil
}
