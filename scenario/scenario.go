// Package scenario is the language that loads are written in, and the built-in scenarios.
//
// A scenario says when sessions arrive and what each one does. It is data: package drive runs it.
package scenario

import (
	"math"
	"time"
)

// A Scenario is one load, resolved: every field has its value, defaults and overrides included.
type Scenario struct {
	Name        string         `json:"name"`
	Arrivals    Arrivals       `json:"arrivals"`
	Think       Range          `json:"think"`   // pause before each user action
	Timeout     time.Duration  `json:"timeout"` // of one session, from when it was due
	Transport   Transport      `json:"transport"`
	Compression Compression    `json:"compression"`
	Vars        map[string]any `json:"vars,omitempty"` // int64, float64, string or bool
	Session     []Step         `json:"session"`
}

// Arrivals is an open model: session i is due at i/Rate, whatever became of the others.
type Arrivals struct {
	Rate float64       `json:"rate"` // sessions a second, above 0
	For  time.Duration `json:"for"`
}

// Sessions returns how many sessions are planned: those due before For is over, the one due at once included.
func (a Arrivals) Sessions() int {
	n := a.Rate * a.For.Seconds()
	return int(math.Ceil(n - 1e-9)) // rounding must not make one more
}

// Due returns when session i is due, from the start of the load.
func (a Arrivals) Due(i int) time.Duration {
	return time.Duration(float64(i) / a.Rate * float64(time.Second))
}

// A Range is a duration drawn evenly between its ends; with equal ends it is fixed.
type Range struct {
	Min time.Duration `json:"min"`
	Max time.Duration `json:"max"`
}

// Mean returns the middle of the range.
func (r Range) Mean() time.Duration { return (r.Min + r.Max) / 2 }

// A Transport is how DDP messages travel.
type Transport string

// The transports. SockJS is what browsers use.
const (
	SockJS    Transport = "sockjs"
	WebSocket Transport = "websocket"
)

// A Compression is what is offered for permessage-deflate.
type Compression string

// The compressions.
const (
	Browser    Compression = "browser"     // context takeover, as browsers do
	NoTakeover Compression = "no-takeover" // each message compressed on its own
	Off        Compression = "off"
)

// A Step is one thing that a session does. Exactly one field is set.
type Step struct {
	Subscribe   *Subscribe   `json:"subscribe,omitempty"`
	Unsubscribe *Unsubscribe `json:"unsubscribe,omitempty"`
	Call        *Call        `json:"call,omitempty"`
	Await       *Await       `json:"await,omitempty"`
	Repeat      *Repeat      `json:"repeat,omitempty"`
	Each        *Each        `json:"each,omitempty"`
	Pause       *Pause       `json:"pause,omitempty"`
	Login       *Login       `json:"login,omitempty"`
	Only        *Only        `json:"only,omitempty"`
}

// Subscribe starts a subscription and waits until it is ready.
type Subscribe struct {
	Name   string `json:"name"`
	Params []any  `json:"params,omitempty"` // JSON values; strings are templates
}

// Unsubscribe ends the newest subscription of that name and waits for the server's nosub.
type Unsubscribe struct {
	Name string `json:"name"`
}

// Call calls a method, after the think time, and waits until both its result and its updated have come.
type Call struct {
	Method string `json:"method"`
	Params []any  `json:"params,omitempty"` // JSON values; strings are templates
	// Think replaces the scenario's think time, for calls that the page makes by itself.
	Think *Range `json:"think,omitempty"`
	// Find, where set, must hold for the result, a list of documents; else the session fails.
	Find *Doc `json:"find,omitempty"`
}

// Await waits until the session's own copy of a collection holds the document, or no longer holds it.
type Await struct {
	Collection string `json:"collection"`
	Doc
}

// A Doc says which document is meant: by its id or by the fields that it must have.
type Doc struct {
	Match map[string]any `json:"match,omitempty"` // field to JSON value; strings are templates
	ID    string         `json:"id,omitempty"`    // template
	Gone  bool           `json:"gone,omitempty"`  // the document must be absent
	// Append adds fields of the document found to lists of the session: list name to field name, _id included.
	Append map[string]string `json:"append,omitempty"`
}

// Repeat does its steps a number of times; in them ${i} counts from 1.
type Repeat struct {
	Times string `json:"times"` // template that must give a whole number
	Steps []Step `json:"steps"`
}

// Each does its steps once for each value of a list, in which ${Var} is the value.
type Each struct {
	Var   string `json:"var"`
	List  string `json:"list"`
	Steps []Step `json:"steps"`
}

// Pause waits.
type Pause struct {
	For   Range  `json:"for"`
	Until Moment `json:"until,omitempty"` // in place of For
}

// A Moment is a time of the load that a session can wait for.
type Moment string

// Arrived is when the last session is due.
const Arrived Moment = "arrived"

// Login signs the session in as a user of Meteor's accounts, by a resume token or by user and password, and waits as Call does.
type Login struct {
	Token    *Secret `json:"token,omitempty"`
	User     *Secret `json:"user,omitempty"` // a name, or an address with an @
	Password *Secret `json:"password,omitempty"`
}

// A Secret is the name of an environment variable. What that holds is not part of the scenario: the driver alone reads it.
type Secret struct {
	Env string `json:"env"`
}

// Only has its steps done by some of the sessions.
type Only struct {
	Sessions Sessions `json:"sessions"`
	Steps    []Step   `json:"steps"`
}

// Sessions are some sessions of a load.
type Sessions string

// First is the session that is due first, Others are all but that one.
const (
	First  Sessions = "first"
	Others Sessions = "others"
)

// Has reports whether session i of a load is one of them.
func (s Sessions) Has(i int) bool { return (s == First) == (i == 0) }
