package fleet

import (
	"fmt"
	"math"
	"time"

	"github.com/ddpgate/ddpgate/drive"
)

// maxAhead is by how much a worker's clock may differ from the coordinator's: more than any network takes one way, and less than
// what changes the arrivals of a load from what was asked for.
const maxAhead = 250 * time.Millisecond

// A clock is what is known of how far a worker's clock is ahead of the coordinator's. A job cannot come before it was sent, nor a line be
// heard before it was written: each bounds it from one side, by what the way took (Cristian 1989).
type clock struct {
	sent      time.Time // the job, by the coordinator's clock
	low, high time.Duration
	below     bool // low is known
	above     bool // high is known
	live      bool // lines were heard as they came, and not read from the store later
}

// heard takes in a line that was written at one time by the worker's clock, and heard at another by ours.
func (c *clock) heard(written, heard time.Time) {
	if ahead := written.Round(0).Sub(heard.Round(0)); !c.below || ahead > c.low {
		c.low, c.below = ahead, true
	}
}

// received takes in when the job came, by the worker's clock.
func (c *clock) received(at time.Time) {
	if !at.IsZero() && !c.sent.IsZero() {
		c.high, c.above = at.Round(0).Sub(c.sent.Round(0)), true
	}
}

// ahead returns between what the clock is ahead, in s; zero for what is not known.
func (c *clock) ahead() drive.Range {
	var r drive.Range
	if c.below {
		r.Low = c.low.Seconds()
	}
	if c.above {
		r.High = c.high.Seconds()
	}
	return r
}

// fault returns why the clock may not be trusted.
func (c *clock) fault() string {
	ms := func(d time.Duration) time.Duration {
		return time.Duration(math.Abs(float64(d.Round(time.Millisecond))))
	}
	switch {
	case c.below && c.low > maxAhead:
		return fmt.Sprintf("its clock was ahead by %v or more, so that its sessions came early", ms(c.low))
	case c.above && c.high < -maxAhead:
		return fmt.Sprintf("its clock was behind by %v or more, so that its sessions came late", ms(c.high))
	case c.live && c.below && c.low < -maxAhead:
		return fmt.Sprintf("its clock was behind, or every line of it on the way for %v: when its sessions came is not known", ms(c.low))
	}
	return ""
}
