package baseline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A log is what a key's file says.
type log struct {
	live    []Entry         // oldest first, without those that were dropped
	at      []int           // the line of each, from 1
	lines   int             // of the file
	dropped map[string]bool // ids of records that prune took out of the log, and that did not come back
}

// A line is an entry, or says that the record is no longer under the key: a log is never rewritten.
type line struct {
	Entry
	Dropped bool `json:"dropped,omitempty"`
	Until   int  `json:"until,omitempty"` // the last line that who dropped the record had read: what was saved since stays. 0 for all
}

// line returns the entry's line.
func (e Entry) line() ([]byte, error) { return line{Entry: e}.encode() }

func (l line) encode() ([]byte, error) {
	b, err := json.Marshal(l)
	return append(b, '\n'), err
}

// parseLog reads a log; skipped is told of each line that is none, by its number from 1.
func parseLog(b []byte, skipped func(line int, err error)) log {
	l := log{dropped: make(map[string]bool)}
	for text := range bytes.Lines(b) {
		l.lines++
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		next, err := parseLine(text)
		if err != nil {
			skipped(l.lines, err)
			continue
		}
		l.add(next)
	}
	return l
}

func (l *log) add(next line) {
	if !next.Dropped {
		l.live, l.at = append(l.live, next.Entry), append(l.at, l.lines)
		delete(l.dropped, next.ID)
		return
	}
	l.dropped[next.ID] = true
	live, at := l.live, l.at
	l.live, l.at = l.live[:0], l.at[:0]
	for i, e := range live {
		if e.ID == next.ID && (next.Until == 0 || at[i] <= next.Until) {
			continue
		}
		l.live, l.at = append(l.live, e), append(l.at, at[i])
		if e.ID == next.ID {
			delete(l.dropped, e.ID)
		}
	}
}

func parseLine(text []byte) (line, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return line{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if !idForm.MatchString(l.ID) {
		return line{}, fmt.Errorf("%w: its id is no hash", ErrDamaged)
	}
	return l, nil
}

// recordFile returns the name of a record's file.
func recordFile(id string) string { return strings.TrimPrefix(id, hash) + packed }

const (
	hash   = "sha256:"
	packed = ".json.gz"
)

// recordOf returns the id of the record whose file this is.
func recordOf(file string) (id string, ok bool) {
	name, found := strings.CutSuffix(file, packed)
	return hash + name, found && idForm.MatchString(hash+name)
}

// isCut says whether a log's last line has no end, as a crash may leave it.
func isCut(log []byte) bool { return len(log) > 0 && log[len(log)-1] != '\n' }
