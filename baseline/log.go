package baseline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ddpgate/ddpgate/record"
)

// maxLog is the largest log that is read; 10,000 entries take some 3 MB.
const maxLog = 64 << 20

// read returns a key's entries, without the lines that are none.
func (d *dir) read(keys *os.Root, key string) ([]Entry, error) {
	f, err := keys.Open(fileOf(key))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxLog+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxLog {
		return nil, fmt.Errorf("%s/%s has more than %d MiB", keysDir, fileOf(key), maxLog>>20)
	}
	var entries []Entry
	n := 0
	for line := range bytes.Lines(b) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e, err := parseEntry(line)
		if err != nil {
			d.warn(fmt.Errorf("%s: %s/%s, line %d is skipped: %w", d, keysDir, fileOf(key), n, err))
			continue
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func parseEntry(line []byte) (Entry, error) {
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if !idForm.MatchString(e.ID) {
		return Entry{}, fmt.Errorf("%w: its id is no hash", ErrDamaged)
	}
	return e, nil
}

// add appends one line in one write, so that many who append at once lose none. A line that a crash cut short
// stays alone.
func add(keys *os.Root, file string, e Entry) (err error) {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := keys.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	line = append(line, '\n')
	if cut, err := isCut(f); err != nil {
		return err
	} else if cut {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := f.Write(line); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return record.SyncDir(keys)
}

// isCut says whether the file's last line has no end.
func isCut(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}
