package baseline

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/ddpgate/ddpgate/record"
)

// A dir keeps a store's files in a directory, out of which no name and no link leads.
type dir struct{ path string }

func (d dir) String() string { return "dir:" + d.path }

// open returns a folder, nil if it does not exist and need not be made.
func (d dir) open(folder string, create bool) (*os.Root, error) {
	if create {
		if err := os.MkdirAll(d.path, 0o755); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return nil, absent(err, create)
	}
	defer root.Close()
	if create {
		if err := root.MkdirAll(folder, 0o755); err != nil {
			return nil, err
		}
		if err := record.SyncDir(root); err != nil {
			return nil, err
		}
	}
	sub, err := root.OpenRoot(folder)
	return sub, absent(err, create)
}

func absent(err error, matters bool) error {
	if !matters && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (d dir) list(ctx context.Context, folder string) ([]file, error) {
	root, err := d.open(folder, false)
	if err != nil || root == nil {
		return nil, err
	}
	defer root.Close()
	return listIn(root)
}

func listIn(root *os.Root) ([]file, error) {
	there, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var found []file
	for _, f := range there {
		info, err := f.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone since
		} else if err != nil {
			return nil, err
		}
		found = append(found, file{f.Name(), f.Type().IsRegular(), info.Size(), info.ModTime()})
	}
	return found, nil
}

func (d dir) read(ctx context.Context, folder, name string, limit int64) ([]byte, error) {
	root, err := d.open(folder, false)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, fs.ErrNotExist
	}
	defer root.Close()
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = tooLarge(folder, name, limit)
	}
	return b, err
}

// grow implements files. The record is on the disk before the key names it, and the name is claimed before there is a log.
func (d dir) grow(ctx context.Context, c change) error {
	keys, err := d.open(keysDir, true)
	if err != nil {
		return err
	}
	defer keys.Close()
	logs, err := listIn(keys)
	if err != nil {
		return err
	}
	names := namesOf(logs)
	if err := c.admit(names); err != nil {
		return err
	}
	if !slices.Contains(names, c.log) {
		if err := d.claim(c); err != nil {
			return err
		}
	}
	if c.record != "" {
		records, err := d.open(recordsDir, true)
		if err != nil {
			return err
		}
		defer records.Close()
		if err := record.WriteFile(records, c.record, c.packed); err != nil {
			return err
		}
	}
	return appendTo(keys, c.log, c.lines)
}

func namesOf(there []file) []string {
	var names []string
	for _, f := range there {
		if f.plain {
			names = append(names, f.name)
		}
	}
	return names
}

// appendTo appends lines in one write, so that many who append at once lose none. A line that a crash cut short stays alone.
func appendTo(keys *os.Root, log string, lines []byte) (err error) {
	f, err := keys.OpenFile(log, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if end, err := lastByte(f); err != nil {
		return err
	} else if isCut(end) {
		lines = append([]byte{'\n'}, lines...)
	}
	if _, err := f.Write(lines); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return record.SyncDir(keys)
}

func lastByte(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return last, err
}

// edit implements files.
func (d dir) edit(ctx context.Context, edits []edit) error {
	for _, e := range edits {
		if err := errors.Join(ctx.Err(), d.apply(e)); err != nil {
			return err
		}
	}
	return nil
}

func (d dir) apply(e edit) error {
	folder, err := d.open(e.folder, e.content != nil)
	if err != nil || folder == nil {
		return err
	}
	defer folder.Close()
	if e.content != nil {
		return record.WriteFile(folder, e.name, e.content)
	}
	if err := absent(folder.Remove(e.name), false); err != nil {
		return err
	}
	return record.SyncDir(folder)
}
