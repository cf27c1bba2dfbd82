package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ddpgate/ddpgate/baseline"
	"github.com/ddpgate/ddpgate/gate"
	"github.com/ddpgate/ddpgate/record"
)

// A keeper saves records in a store of its own, as somebody does by hand.
type keeper struct {
	t     *testing.T
	store baseline.Store
	said  bytes.Buffer
}

func newKeeper(t *testing.T) *keeper {
	t.Chdir(t.TempDir())
	store, err := baseline.Open("dir:store", nil)
	if err != nil {
		t.Fatal(err)
	}
	return &keeper{t: t, store: store}
}

func (k *keeper) do(args ...string) int {
	k.said.Reset()
	c := &command{Stdout: &k.said, Stderr: &k.said, Env: func(string) string { return "" }}
	return c.Main(context.Background(), append(args, "--store", "dir:store"))
}

// save keeps a record under main, and returns the entry that it has then.
func (k *keeper) save(rec *record.Record, flags ...string) baseline.Entry {
	k.t.Helper()
	if err := record.Write("record.json", rec); err != nil {
		k.t.Fatal(err)
	}
	if code := k.do(append([]string{"baseline", "save", "main", "record.json"}, flags...)...); code != exitPass {
		k.t.Fatalf("exit code %d:\n%s", code, k.said.String())
	}
	entries, err := k.store.Load(k.t.Context(), "main")
	if err != nil {
		k.t.Fatal(err)
	}
	return entries[len(entries)-1]
}

// single is a record of one app, which uses so many times the usual processor time.
func single(worse float64) *record.Record {
	rec := pairs(worse)
	delete(rec.Apps, record.Base)
	rec.Scenarios[0].Runs = rec.Scenarios[0].Arm(record.Head)
	return rec
}

func each(rec *record.Record, from int, change func(*record.Run)) *record.Record {
	runs := rec.Scenarios[0].Runs
	for i := from; i < len(runs); i++ {
		change(&runs[i])
	}
	return rec
}

func invalid(r *record.Run) { r.Outcome = record.Invalid; r.Reasons = []string{"the driver was late"} }

func died(r *record.Run) {
	r.Outcome, r.Died, r.Sessions = record.Failed, true, record.Sessions{Planned: 240, Started: 240, Failed: 240}
}

func planned(rec *record.Record, least, most int) *record.Record {
	rec.Planned = record.Planned{Min: least, Max: most}
	return rec
}

// TestWhatBecomesTheBaseline: what is red, not decided, not whole or not comparable is in the history only, and somebody can take it all the same.
func TestWhatBecomesTheBaseline(t *testing.T) {
	interrupted, other := single(1), single(1)
	interrupted.Interrupted, other.Scenarios[0].Identity = true, "sha256:2"
	other.Scenarios[0].Load.Rate = 5
	few := single(1.002)
	few.Scenarios[0].Runs = few.Scenarios[0].Runs[:1]
	for name, tc := range map[string]struct {
		before, rec *record.Record
		verdict     gate.Outcome
		held        string // why; empty for the baseline
		never       bool   // and no reason helps
	}{
		"the first":                    {nil, single(1), gate.Pass, "", false},
		"the first, of few runs":       {nil, few, gate.Pass, "", false},
		"no worse than the baseline":   {single(1), single(1.001), gate.Pass, "", false},
		"no worse than its base arm":   {nil, pairs(1), gate.Pass, "", false},
		"worse than the baseline":      {single(1), single(1.5), gate.Regression, "the verdict is regression: cpu_seconds of tiny rose", false},
		"worse than its base arm":      {nil, pairs(1.5), gate.Regression, "the verdict is regression: cpu_seconds of tiny rose", false},
		"not decided":                  {single(1), few, gate.Inconclusive, "the verdict is inconclusive", false},
		"of another load":              {single(1), other, gate.Pass, "it cannot be held against the baseline: scenario tiny differs", false},
		"interrupted":                  {nil, interrupted, gate.Unmeasured, "the verdict is unmeasured: the record was interrupted", false},
		"every run invalid":            {nil, each(single(1), 0, invalid), gate.Unmeasured, "no run of it may be judged", true},
		"an app that died every time":  {nil, each(single(1), 0, died), gate.Unmeasured, "the app died in every run", true},
		"an app that died in the end":  {nil, each(single(1), 7, died), gate.Unmeasured, "the verdict is unmeasured", false},
		"fewer valid runs than wanted": {nil, planned(each(single(1), 4, invalid), 5, 9), gate.Pass, "tiny has 4 valid runs of head, and 5 were asked for", false},
		"as many, with others":         {nil, planned(each(single(1), 5, invalid), 5, 9), gate.Pass, "", false},
		"a base arm that has fewer": {nil, planned(each(pairs(1), 8, func(r *record.Run) {
			if r.Arm == record.Base {
				invalid(r)
			}
		}), 5, 9), gate.Pass, "tiny has 4 valid runs of base, and 5 were asked for", false},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeeper(t)
			if tc.before != nil {
				k.save(tc.before)
			}
			e := k.save(tc.rec)
			if e.Held != (tc.held != "") || e.Verdict != tc.verdict.String() || !strings.Contains(k.said.String(), tc.held) {
				t.Errorf("entry %+v, want verdict %v and held %q:\n%s", e, tc.verdict, tc.held, k.said.String())
			}
			if tc.held != "" && strings.Contains(k.said.String(), "--accept REASON") == tc.never {
				t.Errorf("how to take it is said, or not, and never is %v:\n%s", tc.never, k.said.String())
			}
			if code := k.do("baseline", "promote", "main", e.ID); (code == exitPass) != (tc.held == "") || !strings.Contains(k.said.String(), tc.held) {
				t.Errorf("promote: exit code %d, held %q:\n%s", code, tc.held, k.said.String())
			}
			if code := k.do("baseline", "promote", "main", e.ID, "--accept", "worth it"); (code == exitPass) == tc.never {
				t.Errorf("promote and accept: exit code %d, never %v:\n%s", code, tc.never, k.said.String())
			}
			if e = k.save(tc.rec, "--accept", "worth it"); e.Held != tc.never || !e.Held && e.Accepted != "worth it" || e.Held && e.Accepted != "" {
				t.Errorf("accepted: entry %+v, never %v", e, tc.never)
			}
		})
	}
}

// TestABaselineThatCannotBeRead keeps nobody from saving: what cannot be held against it waits in the history for somebody to take it.
func TestABaselineThatCannotBeRead(t *testing.T) {
	k := newKeeper(t)
	k.save(single(1))
	files, err := filepath.Glob("store/records/*")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	held := k.save(single(1.001))
	if !held.Held || !strings.Contains(k.said.String(), "damaged") {
		t.Errorf("entry %+v:\n%s", held, k.said.String())
	}
	if code := k.do("baseline", "promote", "main", held.ID); code != exitUsage || !strings.Contains(k.said.String(), "damaged") {
		t.Errorf("promote: exit code %d:\n%s", code, k.said.String())
	}
	if code := k.do("baseline", "promote", "main", held.ID, "--accept", "the old one is broken"); code != exitPass {
		t.Errorf("promote and accept: exit code %d:\n%s", code, k.said.String())
	}
	if e := k.save(single(1.002), "--accept", "the old one is broken"); e.Held || e.Accepted == "" {
		t.Errorf("accepted: entry %+v", e)
	}
}

// TestHeldOnPurpose is not said to be the baseline, and is judged all the same.
func TestHeldOnPurpose(t *testing.T) {
	k := newKeeper(t)
	if e := k.save(pairs(1.5), "--hold"); !e.Held || e.Verdict != "regression" || !strings.Contains(k.said.String(), "in the history of main") {
		t.Errorf("entry %+v:\n%s", e, k.said.String())
	}
}
