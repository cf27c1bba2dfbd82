package baseline

import (
	"context"
	"fmt"
	"time"
)

// files is a place that holds a store's files: keys/NAME.jsonl, one entry a line; records/HASH.json.gz; trash/TIME-HASH.json.gz, what prune set aside; and where a
// place must be told claims/NAME, which says how the key is written that has this name in lower case. Reading makes nothing.
type files interface {
	fmt.Stringer
	// list returns what is in a folder, nothing where there is none.
	list(ctx context.Context, folder string) ([]file, error)
	// read returns a file: fs.ErrNotExist where there is none, an error where it is larger than the limit in bytes.
	read(ctx context.Context, folder, name string, limit int64) ([]byte, error)
	// grow makes the change: whoever looks sees the key's log as before or as after, and after it the record too.
	grow(ctx context.Context, c change) error
	// edit makes the edits in their order, each whole or not at all.
	edit(ctx context.Context, edits []edit) error
}

// An edit puts a file in its place, or takes it away where there is no content. One that is gone already is no error.
type edit struct {
	folder, name string
	content      []byte
}

// A file is one thing in a folder.
type file struct {
	name    string
	plain   bool      // neither a folder nor a link
	size    int64     // bytes; 0 where the store does not tell
	written time.Time // zero where nothing can be half written
}

// A change adds lines to a key's log, after it has put a record in its place.
type change struct {
	log    string               // the log's file
	lines  []byte               // whole lines
	record string               // the record's file, empty for none
	packed []byte               // its content
	admit  func([]string) error // refuses a log beside those that are there
}

// The folders.
const (
	keysDir    = "keys"
	recordsDir = "records"
	trashDir   = "trash"
	claimsDir  = "claims"
)

// The largest files that are read, in bytes. 10,000 entries take some 3 MB; a record is smaller packed than not.
const (
	maxLog    = 64 << 20
	maxRecord = 256 << 20
	maxClaim  = 1 << 20
)

func tooLarge(folder, name string, limit int64) error {
	return fmt.Errorf("%s/%s has more than %d MiB", folder, name, limit>>20)
}
