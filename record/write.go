package record

import (
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/renameio/v2"
)

// Write stores a record at path and sets its ID and Format. The file is whole or not there: it is written beside path, synced and
// renamed, so that neither a full disk nor a crash costs the file that stood there before. Missing directories are made.
// A name that ends in .gz is compressed.
func Write(path string, r *Record) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	defer root.Close()
	if err := WriteIn(root, func(string) string { return filepath.Base(path) }, r); err != nil {
		return fmt.Errorf("write record %s: %w", path, err)
	}
	return nil
}

// WriteIn is Write for a plain file name, which may rest on the record's id, in a directory that no link may leave.
func WriteIn(dir *os.Root, name func(id string) string, r *Record) error {
	b, id, err := encode(r)
	if err != nil {
		return err
	}
	if err := writeFile(dir, name(id), b); err != nil {
		return err
	}
	r.Format, r.ID = Format, id
	return SyncDir(dir)
}

func writeFile(dir *os.Root, name string, b []byte) (err error) {
	f, err := renameio.NewPendingFile(name, renameio.WithRoot(dir), renameio.WithPermissions(0o644))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Cleanup())
		}
	}()
	if strings.HasSuffix(name, ".gz") {
		zip := gzip.NewWriter(f)
		if _, err = zip.Write(b); err == nil {
			err = zip.Close()
		}
	} else {
		_, err = f.Write(b)
	}
	if err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}

// SyncDir makes the names in a directory last over a crash. A file system that cannot is let be.
func SyncDir(dir *os.Root) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
