package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/ddpgate/ddpgate/gate"
)

// JUnit writes a report as JUnit XML, which most CI systems show: a suite a scenario, in it a test case a metric, and a case for the
// verdict as a whole. A regression is a failure and what is inconclusive an error, so that nothing reads as passed that is not; what is
// not gated is skipped, with its change as the message.
func JUnit(w io.Writer, c Comparison) error {
	p := newPage(c)
	all := junitSuites{Name: "ddpgate", Suites: []junitSuite{newJUnitSuite("ddpgate", []junitCase{verdictCase(p)})}}
	for _, s := range p.sections {
		all.Suites = append(all.Suites, newJUnitSuite(s.name, junitCases(s)))
	}
	for _, s := range all.Suites {
		all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
	}
	out, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, out)
	return err
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string       `xml:"classname,attr"`
	Name    string       `xml:"name,attr"`
	Failure *junitReason `xml:"failure"`
	Error   *junitReason `xml:"error"`
	Skipped *junitReason `xml:"skipped"`
	Output  string       `xml:"system-out,omitempty"`
}

type junitReason struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

func newJUnitSuite(name string, cases []junitCase) junitSuite {
	s := junitSuite{Name: plain(name), Tests: len(cases), Cases: cases}
	for i := range cases {
		c := &s.Cases[i]
		c.Class = s.Name
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	return s
}

// verdictCase is the build as a whole: what no metric shows (an app that died, a baseline that is missing) stands here.
func verdictCase(p page) junitCase {
	c := junitCase{Name: "verdict", Output: lines(append(each(p.warnings, warned), p.discarded...))}
	c.settle(p.judged, p.outcome, p.headline, lines(append(p.warnings, p.discarded...)))
	return c
}

func warned(s string) string { return "warning: " + s }

// settle sets what became of a case.
func (c *junitCase) settle(judged bool, o gate.Outcome, message, text string) {
	reason := &junitReason{Message: plain(cut(message, mostText)), Type: o.String(), Text: text}
	switch {
	case !judged:
		c.Skipped = &junitReason{Message: "not judged: " + reason.Message}
	case o == gate.Regression:
		c.Failure = reason
	case !o.Passed():
		c.Error = reason
	}
}

func junitCases(s section) []junitCase {
	var all []junitCase
	for _, r := range s.gated {
		figures := r.figures()
		c := junitCase{Name: plain(r.metric), Output: figures}
		var notes []string
		for _, n := range s.notes {
			for name := range strings.SplitSeq(n.metrics, ", ") {
				if name == r.metric {
					notes = append(notes, n.text)
				}
			}
		}
		c.settle(true, r.outcome, r.metric+" "+figures, lines(notes))
		all = append(all, c)
	}
	for _, r := range s.others {
		figures := r.figures()
		all = append(all, junitCase{Name: plain(r.metric), Skipped: &junitReason{Message: join(": ", "not gated", r.tendency(), figures)}})
	}
	for _, sum := range s.summaries {
		for _, f := range append(sum.gated, sum.others...) {
			message := fmt.Sprintf("not judged: median %s, from %s to %s in %s", f.median, f.low, f.high, plural(f.runs, "run"))
			all = append(all, junitCase{Name: plain(sum.arm + " " + f.metric), Skipped: &junitReason{Message: message}})
		}
	}
	return all
}

// figures says a row in a line.
func (r row) figures() string {
	return fmt.Sprintf("%s -> %s, %s (between %s), limit %s", r.base, r.head, r.change, strings.TrimSuffix(r.between, " %")+" %", r.limit)
}

// lines returns texts a line each, with nothing in them that is obeyed.
func lines(all []string) string { return strings.Join(each(all, plain), "\n") }
