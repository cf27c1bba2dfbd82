//go:build unix

package baseline

import (
	"bytes"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// limitFiles lets no file of this process grow beyond so many bytes: as on a full disk, a part of the last write comes through.
func limitFiles(bytes uint64) error {
	signal.Ignore(syscall.SIGXFSZ)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: bytes})
}

// TestFullDisk ends a save where there is no room for the record, for the whole of the log's line, or for a part of it.
func TestFullDisk(t *testing.T) {
	path := t.TempDir()
	var line []byte
	for i := range 3 {
		e := save(t, open(t, path), "main", i)
		line, _ = e.line()
	}
	log := filepath.Join(path, keysDir, fileOf("main"))
	writeFile(t, log, append(bytes.Repeat([]byte("\n"), 10_000), readFile(t, log)...)) // larger than a record
	size := len(readFile(t, log))
	for i, room := range []int{10, size, size + 1, size + len(line)/2} {
		cmd := writer(path, 10+i)
		cmd.Env = append(cmd.Env, withRoom+"="+strconv.Itoa(room))
		said, err := cmd.CombinedOutput()
		if err == nil || !bytes.Contains(said, []byte("baselines in dir:"+path)) || !bytes.Contains(said, []byte("too large")) {
			t.Errorf("room for %d bytes: got %v: %s", room, err, said)
		}
		s, _ := watched(t, path)
		if got := load(t, s, "main"); len(got) != 3 {
			t.Errorf("room for %d bytes: %d entries, want the 3 of before", room, len(got))
		}
	}
	checkCut(t, path, 3)
}
