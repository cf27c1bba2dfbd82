package fleet

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ddpgate/ddpgate/drive"
)

// counts are those of a part's counts that do not depend on how long anything took.
func counts(p *drive.Part) map[string]int64 {
	c := map[string]int64{"planned": int64(p.Planned), "actions": int64(p.Actions)}
	for name, h := range p.Histograms {
		if name != "foreign" { // of documents of the same worker only
			c["of "+name] = h.Count() + h.Censored()
		}
	}
	return c
}

// One process and four workers put the same load on an app: as many sessions, actions and messages, each session due at the same time.
func TestOneAndFour(t *testing.T) {
	for _, name := range []string{"tasks-reactive", "tasks-nonreactive", "fanout"} {
		sc := small(t, name)
		one, err := drive.Run(t.Context(), sc, drive.Options{URL: tasks(t), Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		f := local(t, 4)
		var last drive.Progress
		four, err := f.Drive(t.Context(), sc, drive.Options{URL: tasks(t), Seed: 5, Progress: func(p drive.Progress) { last = p }})
		if err != nil {
			t.Fatal(err)
		}
		if name == "fanout" && one.DataMessages != four.DataMessages { // of the others it depends on who is still there
			t.Errorf("%s: %d messages came to one process, %d to four", name, one.DataMessages, four.DataMessages)
		}
		if len(four.Faults) > 0 || four.OK != 40 || one.OK != 40 {
			t.Fatalf("%s: %d and %d sessions ended well; faults %q, failures %+v and %+v", name, one.OK, four.OK, four.Faults, one.Failures, four.Failures)
		}
		if diff := cmp.Diff(counts(one), counts(four)); diff != "" {
			t.Errorf("%s (-one +four):\n%s", name, diff)
		}
		if last.Planned != 40 {
			t.Errorf("%s: the last progress was %+v", name, last)
		}
		if len(four.Sources) != 4 {
			t.Fatalf("%s: %d sources", name, len(four.Sources))
		}
		workers := make(map[string]bool)
		for i, s := range four.Sources {
			if s.Share != (drive.Share{Index: i, Of: 4}) || s.Sessions != 10 || s.Ahead.Low > 0 || s.Ahead.High < 0 || s.Self.CPU <= 0 {
				t.Errorf("%s: source %d is %+v", name, i, s)
			}
			workers[s.Worker] = true
		}
		if len(workers) != 4 {
			t.Errorf("%s: the workers were %q", name, slices.Collect(maps.Keys(workers)))
		}
	}
}
