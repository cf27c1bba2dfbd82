package gate

import "fmt"

// An Outcome is the gate's answer, for one metric or for a build. The zero value is Inconclusive, so that an answer which
// nobody computed never reads as a pass.
type Outcome int

// The outcomes.
const (
	Inconclusive Outcome = iota // too little evidence, or none
	Pass                        // no change as large as the threshold
	Improvement                 // of one metric: better by the threshold or more; a pass
	Unmeasured                  // of a build: what was asked for could not be measured
	Regression                  // worse by the threshold or more
)

var outcomes = [...]string{"inconclusive", "pass", "improvement", "unmeasured", "regression"}

// String returns the outcome's word in JSON.
func (o Outcome) String() string {
	if o < 0 || int(o) >= len(outcomes) {
		return fmt.Sprintf("outcome %d", int(o))
	}
	return outcomes[o]
}

// MarshalText writes the outcome's word.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (o *Outcome) UnmarshalText(text []byte) error {
	for i, word := range outcomes {
		if word == string(text) {
			*o = Outcome(i)
			return nil
		}
	}
	return fmt.Errorf("unknown outcome %q", text)
}

// Passed says whether the outcome lets a build through.
func (o Outcome) Passed() bool { return o == Pass || o == Improvement }

// The exit codes that an outcome may end a command with.
const (
	ExitPass         = 0
	ExitRegression   = 1
	ExitUnmeasured   = 3
	ExitInconclusive = 4
)

// Exit returns the exit code for the outcome. With warn, an inconclusive one does not fail the command.
func (o Outcome) Exit(warn bool) int {
	switch {
	case o.Passed(), o == Inconclusive && warn:
		return ExitPass
	case o == Regression:
		return ExitRegression
	case o == Unmeasured:
		return ExitUnmeasured
	}
	return ExitInconclusive
}

// worse returns the outcome that a whole takes from its parts: a regression before what was not measured, that before what
// is not known, and all of them before a pass.
func worse(a, b Outcome) Outcome {
	if severity(b) > severity(a) {
		return b
	}
	return a
}

func severity(o Outcome) int {
	switch o {
	case Regression:
		return 3
	case Unmeasured:
		return 2
	case Pass, Improvement:
		return 0
	}
	return 1
}
