package scenario

import (
	"fmt"
	"time"
)

// A plan is what one session comes to if the app answers at once.
type plan struct {
	actions     int           // calls by the user
	least, mean time.Duration // of think time and pauses together, from when it is due
}

// ByUser reports whether a call is an action of the user, who thinks before it, and not one that the page makes by itself.
func (c *Call) ByUser() bool { return c.Think == nil || c.Think.Max > 0 }

// ThinkTime returns the pause before a call in a scenario whose think time is usual.
func (c *Call) ThinkTime(usual Range) Range {
	if c.Think != nil {
		return *c.Think
	}
	return usual
}

// Actions returns how many actions all sessions of a sound scenario have together: calls that users make.
func (s *Scenario) Actions() int {
	first, _ := s.plan(0)
	other, _ := s.plan(1)
	return first.actions + (s.Arrivals.Sessions()-1)*other.actions
}

// Floor returns how long the whole load of a sound scenario takes if the app answers at once: until the last session, or the
// first where that has more to do, has arrived and spent its think time and pauses, at their means.
func (s *Scenario) Floor() time.Duration {
	n := s.Arrivals.Sessions()
	first, _ := s.plan(0)
	last, _ := s.plan(n - 1)
	return max(first.mean, s.Arrivals.Due(n-1)+last.mean)
}

// plan does the steps of session i in thought.
func (s *Scenario) plan(i int) (plan, *fault) {
	c := course{Scenario: s, session: i, lists: make(map[string]int), open: make(map[string]int)}
	c.walk("session", s.Session)
	return c.plan, c.stopped
}

// A course is a session that is thought through.
type course struct {
	*Scenario
	plan
	session int
	steps   int
	lists   map[string]int // length by name
	open    map[string]int // subscriptions by name
	stopped *fault         // what no session can do
}

func (c *course) walk(path string, steps []Step) {
	for i, step := range steps {
		at := fmt.Sprintf("%s[%d]", path, i)
		if c.steps++; c.steps > maxSteps && c.stopped == nil {
			c.stopped = &fault{at, fmt.Sprintf("a session does more than %d steps here", maxSteps)}
		}
		if c.stopped != nil {
			return
		}
		c.step(at, step)
	}
}

func (c *course) step(path string, step Step) {
	switch {
	case step.Subscribe != nil:
		c.open[step.Subscribe.Name]++
	case step.Unsubscribe != nil:
		name := step.Unsubscribe.Name
		if c.open[name]--; c.open[name] < 0 {
			c.stopped = &fault{path, fmt.Sprintf("no subscription to %s is open here", name)}
		}
	case step.Call != nil:
		c.call(step.Call)
	case step.Await != nil:
		c.found(step.Await.Doc)
	case step.Pause != nil && step.Pause.Until == Arrived:
		c.until(c.Arrivals.Due(c.Arrivals.Sessions()-1) - c.Arrivals.Due(c.session))
	case step.Pause != nil:
		c.wait(step.Pause.For)
	case step.Only != nil:
		if step.Only.Sessions.Has(c.session) {
			c.walk(path+".only.steps", step.Only.Steps)
		}
	case step.Repeat != nil:
		n, err := step.Repeat.Count(c.Vars)
		if err != nil {
			c.stopped = &fault{path, err.Error()}
		}
		c.loop(n, path+".repeat.steps", step.Repeat.Steps)
	case step.Each != nil:
		c.loop(c.lists[step.Each.List], path+".each.steps", step.Each.Steps)
	}
}

func (c *course) loop(times int, path string, steps []Step) {
	for range times {
		if c.stopped != nil {
			return
		}
		c.walk(path, steps)
	}
}

func (c *course) call(call *Call) {
	if call.ByUser() {
		c.actions++
	}
	c.wait(call.ThinkTime(c.Think))
	if call.Find != nil {
		c.found(*call.Find)
	}
}

func (c *course) found(d Doc) {
	for list := range d.Append {
		c.lists[list]++
	}
}

// until waits for a time from when the session is due.
func (c *course) until(t time.Duration) {
	c.least = max(c.least, t)
	c.mean = max(c.mean, t)
}

func (c *course) wait(r Range) {
	c.least += r.Min
	c.mean += r.Mean()
}
