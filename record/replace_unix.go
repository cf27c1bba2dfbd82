//go:build !windows

package record

import (
	"errors"
	"os"

	"github.com/google/renameio/v2"
)

// replace writes a file beside its place, syncs it and renames it.
func replace(dir *os.Root, name string, b []byte) (err error) {
	f, err := renameio.NewPendingFile(name, renameio.WithRoot(dir), renameio.WithPermissions(0o644))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Cleanup())
		}
	}()
	if _, err = f.Write(b); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}
