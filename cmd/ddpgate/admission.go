package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
)

// A candidate is a record that is to become a key's baseline, with what the gate says of it.
type candidate struct {
	record  *record.Record
	verdict *gate.Verdict
	apart   error // why it could not be held against the baseline that is there, so that the verdict is on itself alone
}

// nominate holds a record against its own base arm, else against the key's baseline, else against nothing. entries are the key's log. An error means that nothing can be said.
func nominate(ctx context.Context, c *command, store baseline.Store, key string, entries []baseline.Entry, rec *record.Record, p gate.Policy) (n candidate, err error) {
	n.record = rec
	current, ok := baseline.Current(entries)
	if _, paired := rec.Apps[record.Base]; paired {
		n.verdict, n.apart = gate.JudgePairs(rec, p)
	} else if ok && current.ID != rec.ID {
		var base *record.Record
		if base, p.History, n.apart = withEarlier(ctx, c, store, key, entries, current); n.apart == nil {
			n.verdict, n.apart = gate.Judge(base, rec, p)
		}
	}
	if n.verdict == nil {
		p.History = nil
		n.verdict, err = gate.JudgeAlone(rec, p, "")
	}
	return n, errors.Join(err, ctx.Err())
}

// obstacle says why the record must not become the baseline, empty where nothing speaks against it: one that regressed, that nobody can say of whether it did, or that is not
// whole would hide what comes after it. Somebody may take it for a reason, but never one that says nothing of the app at all, for then final is true.
func (n candidate) obstacle(accepted string) (why string, final bool) {
	v := n.verdict
	if why := nothing(n.record); why != "" {
		return why, true
	}
	switch {
	case accepted != "":
		return "", false
	case n.apart != nil:
		return fmt.Sprintf("it cannot be held against the baseline: %v", n.apart), false
	case red(v.Outcome), v.Outcome == gate.Inconclusive && v.Design != gate.Alone:
		return fmt.Sprintf("the verdict is %v: %s", v.Outcome, v.Reason), false
	case n.record.Interrupted:
		return "it was interrupted before it was whole", false
	}
	return short(n.record), false
}

// refused is the exit code of a command that does not take the record, never a pass.
func (n candidate) refused() int {
	switch {
	case n.apart != nil:
		return exitUsage
	case n.verdict.Outcome.Passed():
		return exitInconclusive
	}
	return n.verdict.Exit(false)
}

// red says whether a verdict is a bad one, so that it keeps a record from becoming a baseline by itself.
func red(o gate.Outcome) bool { return o == gate.Regression || o == gate.Unmeasured }

// valid says whether a run may be judged.
func valid(r record.Run) bool { return r.Outcome == record.OK || r.Outcome == record.Failed }

// nothing says why a record says nothing of the app, empty where it says something.
func nothing(rec *record.Record) string {
	why := "no run of it may be judged"
	for i := range rec.Scenarios {
		for _, r := range rec.Scenarios[i].Arm(record.Head) {
			if valid(r) && !r.Died {
				return ""
			}
			if r.Died {
				why = "the app died in every run that may be judged"
			}
		}
	}
	return why
}

// short says which arm has fewer valid runs than were asked for. Those that are not valid and were made up for do not matter.
func short(rec *record.Record) string {
	wanted := max(1, rec.Planned.Min)
	arms := []string{record.Head}
	if _, paired := rec.Apps[record.Base]; paired {
		arms = append(arms, record.Base)
	}
	for i := range rec.Scenarios {
		for _, arm := range arms {
			found := 0
			for _, r := range rec.Scenarios[i].Arm(arm) {
				if valid(r) {
					found++
				}
			}
			if found < wanted {
				return fmt.Sprintf("%s has %d valid %s of %s, and %d were asked for", rec.Scenarios[i].Name, found, plural(found, "run"), arm, wanted)
			}
		}
	}
	return ""
}

// save keeps the record under a key: as its baseline, or with a warning in its history only where something speaks against that or hold is set.
func (n candidate) save(ctx context.Context, c *command, store baseline.Store, key string, as slimFlag, accepted string, hold bool) (baseline.Entry, error) {
	why, final := n.obstacle(accepted)
	notes := []baseline.Note{baseline.Judged(n.verdict.Outcome.String())}
	if !final {
		notes = append(notes, baseline.Accepted(accepted))
	}
	if why != "" || hold {
		notes = append(notes, baseline.Held())
	}
	e, err := store.Save(ctx, key, as.of(n.record), time.Now(), notes...)
	if err != nil || why == "" || hold {
		return e, err
	}
	how := " (--accept REASON takes it as the baseline)"
	if final {
		how = ""
	}
	c.warn("not saved as a baseline of %s: %s; it is in the key's history%s", key, why, how)
	return e, nil
}
