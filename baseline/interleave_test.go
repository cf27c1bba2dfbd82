package baseline

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The tests here hold a save of a record that prune takes away at this moment against that prune: at each step of the one, the other is made whole, and then the one goes on or
// is killed. Whatever the order, a save that has ended is kept, and no log names a record that is gone.

// again is the writer whose record is there already and would be pruned.
const again = 1

// contested fills a store whose oldest record is the writer's, and about to be pruned.
func contested(t *testing.T, spec string) {
	t.Helper()
	s := open(t, spec)
	save(t, s, "main", again*each)
	for i := range 2 {
		save(t, s, "main", 100+i)
	}
}

// pruner returns a process that prunes a store.
func pruner(spec string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asPruner+"="+spec)
	return cmd
}

// saveAgain saves the record that is about to be pruned.
func saveAgain(ctx context.Context, s Store) error {
	_, err := s.Save(ctx, "main", numbered(again*each), at(1))
	return err
}

// checkContested checks that every entry of the log reads, now and after the prunes of the next days, and the record that was saved again is one of them if the save has ended.
func checkContested(t *testing.T, spec string, saved bool) {
	t.Helper()
	s, err := Open(spec, nil) // a line that was cut short is warned of
	if err != nil {
		t.Fatal(err)
	}
	want := numbered(again * each).Seed
	now := time.Now()
	for day := range 3 {
		entries := load(t, s, "main")
		found := false
		for _, e := range entries {
			rec, err := s.Record(t.Context(), e.ID)
			if err != nil {
				t.Fatalf("day %d: %v", day, err)
			}
			found = found || rec.Seed == want
		}
		if saved && !found {
			t.Fatalf("day %d: the record that was saved again is not in the log", day)
		}
		now = now.Add(settling + time.Hour)
		if _, err := s.Prune(t.Context(), Pruning{Keep: 365, Now: now}); err != nil {
			t.Fatal(err)
		}
	}
}

// A meeting is what the one does and the other does meanwhile.
type meeting struct {
	name   string
	prunes bool // the one who is stopped; the other saves
	killed bool // the one who is stopped does not go on
}

var meetings = []meeting{
	{"prune in a save", false, false}, {"prune in a save that is killed", false, true},
	{"save in a prune", true, false}, {"save in a prune that is killed", true, true},
}

// other does what the one who is stopped does not.
func (m meeting) other(ctx context.Context, s Store) error {
	if m.prunes {
		return saveAgain(ctx, s)
	}
	return pruneHard(ctx, s)
}

func (m meeting) one(ctx context.Context, s Store) error {
	if m.prunes {
		return pruneHard(ctx, s)
	}
	return saveAgain(ctx, s)
}

// process returns the one who is stopped as a process.
func (m meeting) process(spec string) *exec.Cmd {
	if m.prunes {
		return pruner(spec)
	}
	return writer(spec, again)
}

// saved says whether the save has ended, whoever made it; met says whether the one was stopped and the other came.
func (m meeting) saved(met bool) bool {
	if m.prunes {
		return met
	}
	return !met || !m.killed
}

// TestPruneAgainstSaveInS3 stops at each request.
func TestPruneAgainstSaveInS3(t *testing.T) {
	for _, m := range meetings {
		t.Run(m.name, func(t *testing.T) {
			const spec = "s3://baselines/x"
			for n, met := 1, true; met; n++ {
				server := serveS3(t)
				contested(t, spec)
				behind, err := url.Parse(server.URL)
				if err != nil {
					t.Fatal(err)
				}
				other := open(t, spec)
				load(t, other, "main") // has its client from now on
				ctx, cancel := context.WithCancel(t.Context())
				var seen atomic.Int64
				through := proxy(behind)
				front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if seen.Add(1) == int64(n) {
						if err := m.other(t.Context(), other); err != nil {
							t.Error(err)
						}
						if m.killed {
							cancel()
							panic(http.ErrAbortHandler)
						}
					}
					through.ServeHTTP(w, r)
				}))
				useS3(t, front.URL)
				err = m.one(ctx, open(t, spec))
				met = seen.Load() >= int64(n)
				if err != nil && !(m.killed && met) {
					t.Errorf("request %d: %v", n, err)
				}
				cancel()
				front.Close()
				useS3(t, server.URL)
				checkContested(t, spec, m.saved(met))
				if n == 1 && !met {
					t.Error("no request was seen")
				}
			}
		})
	}
}

// gitThatMeets is a git that runs another program before the command of a number that looks up or moves the branch, between which nothing can change; and then kills who called
// it if asked. It counts in a file.
const gitThatMeets = `#!/bin/sh
case $1 in for-each-ref|update-ref) ;; *) exec "$REAL_GIT" "$@" ;; esac
n=$(($(cat "$MEET_COUNT") + 1))
echo $n > "$MEET_COUNT"
if [ $n = "$MEET_AT" ]; then
	PATH=$REAL_PATH "$OTHER" || echo failed >> "$MEET_COUNT"
	if [ -n "$THEN_KILL" ]; then kill -9 $PPID; exit 1; fi
fi
exec "$REAL_GIT" "$@"
`

// TestPruneAgainstSaveOnABranch stops at each look at the branch and each move of it.
func TestPruneAgainstSaveOnABranch(t *testing.T) {
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range meetings {
		t.Run(m.name, func(t *testing.T) {
			bin := t.TempDir()
			count, other := filepath.Join(bin, "count"), filepath.Join(bin, "other")
			if err := os.WriteFile(filepath.Join(bin, "git"), []byte(gitThatMeets), 0o755); err != nil {
				t.Fatal(err)
			}
			spec := stores["branch"](t)
			contested(t, spec)
			tip := head(t, ".", "ddpgate")
			n := 1
			for met := true; met; n++ {
				inRepository(t, ".", "update-ref", "refs/heads/ddpgate", tip)
				cmd, theirs := m.process(spec), meeting{prunes: !m.prunes}.process(spec)
				script := "#!/bin/sh\nunset " + asWriter + " " + asPruner + "\n" + strings.Join(mine(theirs), " ") + " exec " + os.Args[0] + "\n"
				if err := os.WriteFile(other, []byte(script), 0o755); err != nil {
					t.Fatal(err)
				}
				writeFile(t, count, []byte("0\n"))
				cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"), "REAL_PATH="+os.Getenv("PATH"), "REAL_GIT="+real, "MEET_COUNT="+count, fmt.Sprintf("MEET_AT=%d", n), "OTHER="+other)
				if m.killed {
					cmd.Env = append(cmd.Env, "THEN_KILL=1")
				}
				said, err := cmd.CombinedOutput()
				var made int
				after := string(readFile(t, count))
				if _, err := fmt.Sscan(after, &made); err != nil || strings.Contains(after, "failed") {
					t.Fatalf("the other: %q, %v", after, err)
				}
				met = made >= n
				if (err != nil) != (m.killed && met) {
					t.Fatalf("command %d: %v: %s", n, err, said)
				}
				checkContested(t, spec, m.saved(met))
			}
			if n < 4 {
				t.Errorf("%d commands: the test does not see them", n)
			}
		})
	}
}

// mine returns the variables of a process that tell it what to do.
func mine(cmd *exec.Cmd) []string {
	var vars []string
	for _, v := range cmd.Env {
		if strings.HasPrefix(v, "BASELINE_TEST_") {
			vars = append(vars, v)
		}
	}
	return vars
}

// TestTwoPrunesAgainstSave lets two prune and one save at once, again and again.
func TestTwoPrunesAgainstSave(t *testing.T) {
	inEach(t, func(t *testing.T, spec string) {
		rounds := 10
		if strings.HasPrefix(spec, "git:") {
			rounds = 2
		}
		contested(t, spec)
		for range rounds {
			var all sync.WaitGroup
			for _, act := range []func(context.Context, Store) error{pruneHard, saveAgain, pruneHard} {
				all.Go(func() {
					if err := act(t.Context(), open(t, spec)); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			save(t, open(t, spec), "main", 200) // so that the contested one is not the baseline of the next round
		}
		if err := saveAgain(t.Context(), open(t, spec)); err != nil {
			t.Error(err)
		}
		checkContested(t, spec, true)
	})
}
