package report

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ddpgate/ddpgate/gate"
)

// A Comment is a report on a pull request: the worst scenario first, what is settled on demand, and never longer than it may be.
type Comment struct {
	Limit    int    // most characters; 0 for no limit
	Link     string // where all of it can be seen, an http or https address; empty for nowhere
	Resolved bool   // what an earlier comment complained of is gone, if this one passes
	Accepted string // who or what lets a regression through; empty for nobody
}

// Write writes the comment in GitHub's Markdown. Where it is cut, that is between two lines, rows stay whole, and it says so.
func (o Comment) Write(w io.Writer, c Comparison) error {
	p := newPage(c)
	slices.SortStableFunc(p.sections, func(a, b section) int { return b.worst() - a.worst() })
	p.facts = append(p.facts, o.facts(c)...)
	head, body, tail := new(markdown), &markdown{folds: true}, new(markdown)
	head.block("### " + o.title(p) + ": " + prose(p.headline))
	if p.accepts(o.Accepted) {
		head.block("> Accepted: " + prose(o.Accepted))
	}
	head.warn(p)
	for _, s := range p.sections {
		body.section(s)
	}
	tail.foot(p)
	if link := o.link("The full report"); link != "" {
		tail.block(link)
	}
	_, err := io.WriteString(w, o.fit(head.out.String(), body.out.String(), tail.out.String()))
	return err
}

func (o Comment) title(p page) string {
	switch {
	case p.judged && p.outcome.Passed() && o.Resolved:
		return signs[p.outcome] + " Resolved"
	case p.accepts(o.Accepted):
		return "⚠️ Regression, accepted"
	}
	return p.title()
}

func (p page) accepts(by string) bool { return by != "" && p.judged && p.outcome == gate.Regression }

// link is a link to where all of it is, if that is an address.
func (o Comment) link(text string) string {
	u, err := url.Parse(o.Link)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return "[" + text + "](<" + strings.NewReplacer("<", "%3C", ">", "%3E").Replace(u.String()) + ">)"
}

// facts are what a reviewer asks next: what the runs could have shown at all.
func (o Comment) facts(c Comparison) []fact {
	if !c.compared() {
		return nil
	}
	return slices.DeleteFunc([]fact{{"visible", smallest(c.Verdict)}}, func(f fact) bool { return f.text == "" })
}

// smallest says which changes the runs could have shown, from the metric that is measured best to the one measured worst.
func smallest(v *gate.Verdict) string {
	known := slices.DeleteFunc(v.Deciding(), func(f gate.Finding) bool { return visible(f) == "" || counted(f.Metric) })
	if len(known) == 0 {
		return ""
	}
	compare := func(a, b gate.Finding) int {
		switch {
		case a.SmallestVisible < b.SmallestVisible:
			return -1
		case a.SmallestVisible > b.SmallestVisible:
			return 1
		}
		return 0
	}
	best, worst := slices.MinFunc(known, compare), slices.MaxFunc(known, compare)
	text := fmt.Sprintf("changes of %s of %s", share(best.SmallestVisible), best.Metric)
	if best.SmallestVisible != worst.SmallestVisible {
		text += fmt.Sprintf(", up to %s of %s", share(worst.SmallestVisible), worst.Metric)
	}
	return text
}

// worst ranks a section by the worst of its gated metrics.
func (s section) worst() int {
	rank := 0
	for _, r := range s.gated {
		switch {
		case r.outcome == gate.Regression:
			return 2
		case !r.outcome.Passed():
			rank = 1
		}
	}
	return rank
}

// unsettled parts the gated rows: those to look at, and those that only confirm.
func (s section) unsettled() (open, settled []row) {
	for _, r := range s.gated {
		if r.outcome.Passed() {
			settled = append(settled, r)
		} else {
			open = append(open, r)
		}
	}
	return open, settled
}

// fit puts the parts together. What does not fit is cut off the middle, or off the end where that is not enough.
func (o Comment) fit(head, body, tail string) string {
	all := head + body + tail
	if o.Limit <= 0 || utf8.RuneCountInString(all) <= o.Limit {
		return all
	}
	note := "**Cut here: the rest is too long for a comment.**"
	if link := o.link("See the full report"); link != "" {
		note += " " + link
	}
	note += "\n\n"
	room := o.Limit - utf8.RuneCountInString(note)
	if rest := room - utf8.RuneCountInString(head+tail); rest > room/2 {
		return head + shorten(body, rest) + note + tail
	}
	return shorten(all, room) + note
}

// shorten returns the first lines of our Markdown, so many that they stay within a number of characters with whatever must be
// closed behind them: a block of code, and what is shown on demand.
func shorten(s string, most int) string {
	var out strings.Builder
	used, fence, depth := 0, "", 0
	closing := func(fence string, depth int) string {
		end := strings.Repeat("\n</details>\n", depth) + "\n"
		if fence != "" {
			end = fence + "\n" + end
		}
		return end
	}
	for line := range strings.Lines(s) {
		f, d := fence, depth
		switch bare := strings.TrimRight(line, "\n"); {
		case fence != "" && bare == fence:
			f = ""
		case fence != "":
		case strings.HasPrefix(bare, "```") && strings.HasSuffix(bare, "`text"):
			f = strings.TrimSuffix(bare, "text")
		case strings.HasPrefix(bare, "<details>"):
			d++
		case bare == "</details>":
			d--
		}
		n := utf8.RuneCountInString(line)
		if used+n+utf8.RuneCountInString(closing(f, d)) > most {
			break
		}
		used, fence, depth = used+n, f, d
		out.WriteString(line)
	}
	return out.String() + closing(fence, depth)
}
