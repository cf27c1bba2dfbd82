package drive

import (
	"errors"
	"fmt"
)

// A Share says which of a load's sessions this driver starts: those whose number leaves Index when it is divided by Of. The
// shares of all Index below Of are the whole load, each with arrivals from its beginning to its end. The zero value is all of it.
type Share struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

// Check returns why there is no such share.
func (s Share) Check() error {
	switch {
	case s == Share{}:
		return nil
	case s.Of < 1:
		return fmt.Errorf("share %d of %d: there must be at least one", s.Index, s.Of)
	case s.Index < 0 || s.Index >= s.Of:
		return fmt.Errorf("share %d of %d: they are counted from 0", s.Index, s.Of)
	}
	return nil
}

// Sessions returns how many of a load's sessions are in the share.
func (s Share) Sessions(all int) int { return (all - s.Index + s.stride() - 1) / s.stride() }

// session returns the number that the share's session i has in the whole load.
func (s Share) session(i int) int { return s.Index + i*s.stride() }

func (s Share) stride() int { return max(1, s.Of) }

// checkName returns why a name cannot be a load's: sessions' documents are known by it, so that it must not be found in what an app
// says anyway.
func checkName(name string) error {
	const least, most = 8, 64
	if len(name) < least || len(name) > most {
		return fmt.Errorf("the load's name has %d bytes, want %d to %d", len(name), least, most)
	}
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' {
			return errors.New("the load's name has other characters than a to z, 0 to 9 and -")
		}
	}
	return nil
}
