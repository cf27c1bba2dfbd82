package drive

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/ddp"
)

// Message implements ddp.Handler.
func (s *session) Message(m *ddp.Message) error {
	switch m.Kind {
	case ddp.Added, ddp.AddedBefore:
		s.data++
		return s.added(m)
	case ddp.Removed:
		s.data++
		return s.removed(m)
	case ddp.Changed:
		s.data++
		return s.changed(m)
	case ddp.Result:
		return s.gotResult(m)
	case ddp.Updated:
		return s.gotUpdated(m)
	case ddp.Ready:
		return s.gotReady(m)
	case ddp.NoSub:
		return s.gotNoSub(m)
	case ddp.Error:
		return &stepError{kind: fmt.Sprintf("the server found fault with a message: %s", m.Reason)}
	}
	return nil
}

// Wake implements ddp.Handler.
func (s *session) Wake(now time.Time) error {
	o := &s.program.ops[s.pc]
	switch {
	case !now.Before(s.deadline):
		return &stepError{"timed out in " + o.what, s.missing()}
	case s.waiting != forPause || now.Before(s.until):
		s.wakeUp()
		return nil
	}
	s.paused += now.Sub(s.since)
	if o.kind != opCall {
		return s.next(now)
	}
	err := s.call(o, s.params(o), now)
	s.wakeUp()
	return err
}

// missing says what has not come.
func (s *session) missing() error {
	switch {
	case s.waiting == forReady:
		return errors.New("the subscription is not ready")
	case s.waiting == forNoSub:
		return errors.New("the subscription has not ended")
	case s.waiting == forDoc && s.program.ops[s.pc].doc.gone:
		return fmt.Errorf("%s has not gone", asked(s.want))
	case s.waiting == forDoc:
		return fmt.Errorf("%s has not come", asked(s.want))
	case s.waiting == forAnswer && s.result:
		return errors.New("there is a result and no updated")
	case s.waiting == forAnswer && s.updated:
		return errors.New("there is an updated and no result")
	case s.waiting == forAnswer:
		return errors.New("there is no answer")
	}
	return errors.New("a pause is not over")
}

func (s *session) added(m *ddp.Message) error {
	c := s.mirror[string(m.Collection)]
	if c == nil {
		return nil
	}
	own := s.own(m.Fields)
	if !own {
		s.log.foreign(s.hash(m.ID), s.since0(m.At), false)
		if c.extent == ownDocs || c.extent == loadDocs && !s.ofLoad(m.Fields) {
			return nil
		}
	}
	e, again := c.added(m)
	if again {
		return &stepError{kind: "a document came twice", err: fmt.Errorf("%s of %s", m.ID, c.name)}
	}
	e.own, e.foreign = own, !own && s.ofLoad(m.Fields)
	e.made, e.asked = s.sent, s.sent
	return s.look(c, e)
}

func (s *session) changed(m *ddp.Message) error {
	c := s.mirror[string(m.Collection)]
	if c == nil {
		return nil
	}
	e := c.changed(m)
	if e != nil {
		e.asked = s.sent
	}
	return s.look(c, e)
}

func (s *session) removed(m *ddp.Message) error {
	c := s.mirror[string(m.Collection)]
	if c == nil {
		return nil
	}
	e := c.removed(m)
	if e == nil || !e.own {
		s.log.foreign(s.hash(m.ID), s.since0(m.At), true)
	}
	if e != nil {
		e.asked = s.sent
	}
	return s.look(c, e)
}

// look ends an await if the document that has just changed is what it waits for.
func (s *session) look(c *collection, e *entry) error {
	if s.waiting != forDoc || e == nil {
		return nil
	}
	o := &s.program.ops[s.pc]
	if o.name != c.name || e.gone != o.doc.gone || !e.holds(s.want) {
		return nil
	}
	if o.doc.gone && c.find(s.want) != nil {
		return nil
	}
	s.seen(o, c, e)
	return s.next(time.Now())
}

func (s *session) gotReady(m *ddp.Message) error {
	if s.waiting != forReady || !m.Lists(s.id) {
		return nil
	}
	s.shard.record(histReady, m.At.Sub(s.sent))
	s.log.subscribed(s.since0(m.At))
	return s.next(time.Now())
}

func (s *session) gotNoSub(m *ddp.Message) error {
	if string(m.ID) != s.id {
		return nil
	}
	switch s.waiting {
	case forNoSub:
		return s.next(time.Now())
	case forReady:
		return &stepError{"refused in " + s.program.ops[s.pc].what, serverError(m.Error)}
	}
	return nil
}

func (s *session) gotResult(m *ddp.Message) error {
	if s.waiting != forAnswer || s.result || string(m.ID) != s.id {
		return nil
	}
	o := &s.program.ops[s.pc]
	// A wrong answer is no answer, or a server that fails at once would be a fast one.
	if m.Error != nil {
		return s.methodFailed(o, m.Error)
	}
	if o.doc != nil {
		if err := s.findIn(m.Result, o); err != nil {
			return &stepError{"wrong result in " + o.what, err}
		}
	}
	s.result = true
	s.shard.answer(o.method, m.At.Sub(s.sent), len(m.Result))
	return s.answered(o)
}

func (s *session) methodFailed(o *op, answer []byte) error {
	if o.kind == opLogin {
		return &stepError{"refused in " + o.what, serverError(answer)}
	}
	return &stepError{"method failed in " + o.what, serverError(answer)}
}

func (s *session) gotUpdated(m *ddp.Message) error {
	if s.waiting != forAnswer || s.updated || !m.Lists(s.id) {
		return nil
	}
	o := &s.program.ops[s.pc]
	s.updated = true
	s.shard.record(histUpdated(o.method), m.At.Sub(s.sent))
	return s.answered(o)
}

func (s *session) answered(o *op) error {
	if !s.result || !s.updated {
		return nil
	}
	if o.byUser {
		s.actions++
	}
	return s.next(time.Now())
}

// findIn holds a method's result, a list of documents, against what the step wants of it.
func (s *session) findIn(result []byte, o *op) error {
	var document []byte
	n := 0
	err := ddp.Elements(result, func(v []byte) bool {
		n++
		if holdsAll(v, s.want) {
			document = v
		}
		return document == nil
	})
	switch {
	case err != nil:
		return errors.New("no list of documents")
	case o.doc.gone && document != nil:
		return fmt.Errorf("%s is there and should be gone", asked(s.want))
	case !o.doc.gone && document == nil:
		return fmt.Errorf("%s is not among %d documents", asked(s.want), n)
	}
	if document != nil {
		for _, a := range o.doc.append {
			s.lists[a.list] = append(s.lists[a.list], value(document, a.field))
		}
	}
	return nil
}

// asked writes what a document was to hold.
func asked(want []wanted) string {
	var parts []string
	for _, w := range want {
		parts = append(parts, fmt.Sprintf("%s: %s", w.name, w.value))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// serverError reads the error of a result or a nosub. Its code may be a number or a text.
func serverError(raw []byte) error {
	var e struct {
		Error   any
		Reason  string
		Message string
	}
	if len(raw) == 0 {
		return errors.New("no reason was given")
	}
	if err := json.Unmarshal(raw, &e); err != nil || e.Message == "" && e.Error == nil {
		return fmt.Errorf("%s", raw)
	}
	if e.Message != "" {
		return errors.New(e.Message)
	}
	return fmt.Errorf("%v %s", e.Error, e.Reason)
}
