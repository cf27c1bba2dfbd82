package record

import (
	"crypto/rand"
	"errors"
	"os"
)

// replace writes a file beside its place, syncs it and renames it. The library that does so elsewhere does not support
// Windows, whose rename it does not hold to be atomic; a reader there may find no file for a moment, never half of one.
func replace(dir *os.Root, name string, b []byte) error {
	pending := "." + name + rand.Text()
	f, err := dir.OpenFile(pending, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(pending, name)
	}
	if err != nil {
		return errors.Join(err, dir.Remove(pending))
	}
	return nil
}
