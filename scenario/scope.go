package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ddpgate/ddpgate/internal/nearest"
)

// A scope knows which names a step may refer to, in the order of the session.
type scope struct {
	*checker
	vars  map[string]any
	names map[string]string // what may stand in ${}, and what it is
	lists map[string]bool   // appended to by an earlier step
	loops []string          // lists that the loops around loop over
	who   Sessions          // that do the steps, by an only around; "" for all
}

func (sc *scope) steps(path string, steps []Step, depth int) {
	for i, step := range steps {
		sc.step(fmt.Sprintf("%s[%d]", path, i), step, depth)
	}
}

func (sc *scope) step(path string, step Step, depth int) {
	var set int
	if s := step.Subscribe; s != nil {
		set++
		sc.plain(path+".subscribe.name", s.Name, "subscribe needs the name of a publication")
		sc.values(path+".subscribe.params", s.Params)
	}
	if s := step.Unsubscribe; s != nil {
		set++
		sc.plain(path+".unsubscribe.name", s.Name, "unsubscribe needs the name of a subscription")
	}
	if s := step.Call; s != nil {
		set++
		sc.call(path+".call", s)
	}
	if s := step.Await; s != nil {
		set++
		sc.plain(path+".await.collection", s.Collection, "await needs a collection")
		sc.doc(path+".await", s.Doc)
	}
	if s := step.Repeat; s != nil {
		set++
		sc.repeat(path+".repeat", s, depth+1)
	}
	if s := step.Each; s != nil {
		set++
		sc.each(path+".each", s, depth+1)
	}
	if s := step.Pause; s != nil {
		set++
		sc.pause(path+".pause", s.For)
		if s.Until != "" {
			sc.err(path+".pause.until", oneOf("moment", s.Until, Arrived))
		}
	}
	if s := step.Login; s != nil {
		set++
		sc.login(path+".login", s)
	}
	if s := step.Only; s != nil {
		set++
		sc.only(path+".only", s, depth+1)
	}
	if set != 1 {
		sc.fault(path, "a step does one of %s", strings.Join(kinds, ", "))
	}
}

// plain checks a name that may hold no variables.
func (sc *scope) plain(path, name, missing string) {
	switch {
	case name == "":
		sc.fault(path, "%s", missing)
	case strings.Contains(name, "${"):
		sc.fault(path, "%q may hold no variables", name)
	}
}

func (sc *scope) call(path string, call *Call) {
	sc.plain(path+".method", call.Method, "call needs a method")
	sc.values(path+".params", call.Params)
	if call.Think != nil {
		sc.pause(path+".think", *call.Think)
	}
	if call.Find != nil {
		sc.doc(path+".find", *call.Find)
	}
}

func (sc *scope) doc(path string, d Doc) {
	switch {
	case d.ID == "" && len(d.Match) == 0:
		sc.fault(path, "which document? give its id, or the fields that it must match")
	case d.ID != "" && len(d.Match) > 0:
		sc.fault(path, "a document is known by its id or by match, not both")
	}
	sc.template(path+".id", d.ID)
	for _, field := range slices.Sorted(maps.Keys(d.Match)) {
		sc.value(path+".match."+field, d.Match[field], 0)
	}
	if d.Gone && len(d.Append) > 0 {
		sc.fault(path+".append", "a document that is gone has nothing to append")
	}
	for _, list := range slices.Sorted(maps.Keys(d.Append)) {
		sc.list(path+".append", list, d.Append[list])
	}
}

// list checks that a field may be appended to a list, and remembers the list.
func (sc *scope) list(path, list, field string) {
	what, taken := sc.names[list]
	switch {
	case !isName(list):
		sc.fault(path, "%q is not a list's name", list)
	case taken:
		sc.fault(path, "%s is %s already", list, what)
	case field == "":
		sc.fault(path, "list %s needs the name of a field, such as _id", list)
	case slices.Contains(sc.loops, list):
		sc.fault(path, "list %s cannot grow while each loops over it", list)
	}
	sc.lists[list] = true
}

func (sc *scope) repeat(path string, r *Repeat, depth int) {
	if _, err := r.Count(sc.vars); err != nil {
		sc.fault(path, "%v", err)
	}
	sc.body(path, r.Steps, "i", "the count of a repeat", depth)
}

func (sc *scope) each(path string, e *Each, depth int) {
	what, taken := sc.names[e.Var]
	switch {
	case !isName(e.Var) || e.Var == "i":
		sc.fault(path, "%q cannot be the name of each's variable", e.Var)
	case taken || sc.lists[e.Var]:
		if what == "" {
			what = "a list"
		}
		sc.fault(path, "%s is %s already", e.Var, what)
	}
	if !sc.lists[e.List] {
		err := nearest.Unknown("list", e.List, slices.Collect(maps.Keys(sc.lists)))
		sc.fault(path, "%v (an earlier step must append to it)", err)
	}
	sc.loops = append(sc.loops, e.List)
	sc.body(path, e.Steps, e.Var, "the variable of an each", depth)
	sc.loops = sc.loops[:len(sc.loops)-1]
}

func (sc *scope) login(path string, l *Login) {
	switch {
	case l.Token != nil && (l.User != nil || l.Password != nil):
		sc.fault(path, "a login is by token, or by user and password, not both")
	case l.Token == nil && (l.User == nil || l.Password == nil):
		sc.fault(path, "a login needs a token, or a user and a password")
	}
	sc.secret(path+".token", l.Token)
	sc.secret(path+".user", l.User)
	sc.secret(path+".password", l.Password)
}

// secret checks a variable's name, and does not repeat it: it may be the secret by mistake.
func (sc *scope) secret(path string, s *Secret) {
	if s != nil && !isName(s.Env) {
		sc.fault(path, "env needs the name of an environment variable: letters, digits and _")
	}
}

func (sc *scope) only(path string, o *Only, depth int) {
	sc.err(path, oneOf("sessions", o.Sessions, First, Others))
	if sc.who != "" && sc.who != o.Sessions {
		sc.fault(path, "no session does these steps: those around them are for %s only", sc.who)
	}
	outer := sc.who
	sc.who = o.Sessions
	sc.inner(path, o.Steps, depth)
	sc.who = outer
}

// inner checks the steps beside a step.
func (sc *scope) inner(path string, steps []Step, depth int) {
	if depth > maxDepth {
		sc.fault(path, "steps are nested more than %d deep", maxDepth)
		return
	}
	if len(steps) == 0 {
		sc.fault(path, "needs steps")
	}
	sc.steps(path+".steps", steps, depth)
}

// body checks the steps of a loop, in which one more name is known.
func (sc *scope) body(path string, steps []Step, name, what string, depth int) {
	outer, known := sc.names[name]
	sc.names[name] = what
	sc.inner(path, steps, depth)
	delete(sc.names, name)
	if known {
		sc.names[name] = outer
	}
}

func (sc *scope) values(path string, values []any) {
	for i, v := range values {
		sc.value(fmt.Sprintf("%s[%d]", path, i), v, 0)
	}
}

// value checks the templates in a JSON value.
func (sc *scope) value(path string, v any, depth int) {
	if depth > 100 {
		sc.fault(path, "is nested more than 100 deep")
		return
	}
	switch v := v.(type) {
	case string:
		sc.template(path, v)
	case []any:
		for i, item := range v {
			sc.value(fmt.Sprintf("%s[%d]", path, i), item, depth+1)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			sc.value(path+"."+key, v[key], depth+1)
		}
	case nil, bool:
	case int64, float64:
		sc.err(path, finite(v))
	default:
		sc.fault(path, "a %T is no JSON value", v)
	}
}

func (sc *scope) template(path, text string) {
	t, err := ParseTemplate(text)
	if err != nil {
		sc.fault(path, "%v", err)
		return
	}
	for _, name := range t.Refs() {
		switch _, known := sc.names[name]; {
		case known:
		case sc.lists[name]:
			sc.fault(path, "%s is a list: loop over it with each", name)
		case name == "i":
			sc.fault(path, "${i} counts the rounds of a repeat, and no repeat is around this step")
		default:
			sc.err(path, nearest.Unknown("variable", name, slices.Collect(maps.Keys(sc.names))))
		}
	}
}
