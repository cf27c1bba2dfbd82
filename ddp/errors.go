package ddp

import (
	"errors"
	"fmt"
)

// A Cause names why a connection could not be made or ended.
type Cause string

// The causes.
const (
	Refused          Cause = "refused"                     // nothing listens, or the name is not known
	Exhausted        Cause = "out of descriptors or ports" // on this machine
	HandshakeStalled Cause = "handshake stalled"           // connected, and no answer within the time limit
	UpgradeRefused   Cause = "upgrade refused"             // answered by HTTP, with a status
	NotTrusted       Cause = "certificate"                 // TLS could not be agreed upon
	VersionRefused   Cause = "version refused"             // no DDP version in common
	Closed           Cause = "closed"                      // by the server, with code and reason
	Lost             Cause = "connection lost"             // without a close
	HeartbeatLost    Cause = "heartbeat lost"              // no answer to a ping
	TooLarge         Cause = "message too large"           // over the read limit
	BrokenFraming    Cause = "broken framing"              // not WebSocket, not SockJS, or not deflate
	SendStalled      Cause = "sending stalled"             // the server does not read
)

// A ConnError says why a connection could not be made or ended. Two errors with the same Cause, Status and Code are of one
// kind whatever their texts say.
type ConnError struct {
	Cause  Cause
	Status int    // HTTP status of an UpgradeRefused, else 0
	Code   int    // WebSocket or SockJS close code of a Closed, else 0
	Reason string // what the server said
	Err    error  // what the library said; may be nil
}

// Error returns the cause with its figures, then what the server or the library said.
func (e *ConnError) Error() string {
	s := e.Kind()
	switch {
	case e.Reason != "":
		s += fmt.Sprintf(" %q", e.Reason)
	case e.Err != nil && e.Cause != Closed:
		s += ": " + e.Err.Error()
	}
	return s
}

// Kind returns the cause with its status or code, and nothing that differs from one connection to the next.
func (e *ConnError) Kind() string {
	switch {
	case e.Status != 0:
		return fmt.Sprintf("%s with status %d", e.Cause, e.Status)
	case e.Code != 0:
		return fmt.Sprintf("%s with code %d", e.Cause, e.Code)
	}
	return string(e.Cause)
}

// Unwrap returns the library's error.
func (e *ConnError) Unwrap() error { return e.Err }

// wrap gives an error a cause, unless it has one.
func wrap(cause Cause, err error) error {
	var known *ConnError
	if errors.As(err, &known) {
		return err
	}
	return &ConnError{Cause: cause, Err: err}
}
