package record

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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
	b, id, err := encode(r)
	if err == nil && strings.HasSuffix(path, ".gz") {
		b, err = compress(b)
	}
	if err == nil {
		err = WriteFile(root, filepath.Base(path), b)
	}
	if err != nil {
		return fmt.Errorf("write record %s: %w", path, err)
	}
	r.Format, r.ID = Format, id
	return nil
}

// Pack returns a record as stores keep it, compressed with gzip, and sets its ID and Format.
func Pack(r *Record) ([]byte, error) {
	b, id, err := encode(r)
	if err == nil {
		b, err = compress(b)
	}
	if err != nil {
		return nil, err
	}
	r.Format, r.ID = Format, id
	return b, nil
}

func compress(b []byte) ([]byte, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(b); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// WriteFile writes a file of a plain name in a directory that no link may leave. It is whole or not there, and lasts over a
// crash: it is written beside its place, synced and renamed.
func WriteFile(dir *os.Root, name string, b []byte) error {
	if err := replace(dir, name, b); err != nil {
		return err
	}
	return SyncDir(dir)
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
