package baseline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// A record that no key uses is not deleted at once: somebody may save it again between the look at the logs and the deletion, on a store that cannot do both in one step. It is copied
// to the trash under a name of its own, and only then taken out of the records; whoever asks for it finds it there, the next prune brings it back if a key names it, and deletes it a day
// later if none does. So one of both copies is there as long as a save that has begun can still end.

// A grave is a file in the trash.
type grave struct {
	id string
	at time.Time // when it was set aside
}

const graveTime = "20060102T150405.000000000Z"

func (g grave) name() string { return g.at.UTC().Format(graveTime) + "-" + recordFile(g.id) }

// graveOf returns the grave whose file this is.
func graveOf(file string) (g grave, ok bool) {
	at, name, _ := strings.Cut(file, "-")
	id, isRecord := recordOf(name)
	when, err := time.Parse(graveTime, at)
	g = grave{id, when}
	return g, isRecord && err == nil && g.name() == file
}

// aside returns what is in the trash, oldest first.
func (l *ledger) aside(ctx context.Context) ([]grave, error) {
	there, err := l.list(ctx, trashDir)
	if err != nil {
		return nil, err
	}
	var found []grave
	for _, f := range there {
		if g, ok := graveOf(f.name); ok && f.plain {
			found = append(found, g)
		}
	}
	slices.SortFunc(found, func(a, b grave) int { return a.at.Compare(b.at) })
	return found, nil
}

// A clearing is what a sweep does.
type clearing struct {
	back []grave  // brought back into the records
	gone []string // ids of records that are set aside
	old  []grave  // deleted for good
}

// sweep sets aside the records that no key uses, brings back those that one uses again, and deletes what was set aside long ago. Logs are read after the files are listed: what
// a log names was in its place before.
func (l *ledger) sweep(ctx context.Context, p Pruning, cuts map[string]cut, done *Pruned) error {
	there, err := l.list(ctx, recordsDir)
	if err != nil {
		return err
	}
	aside, err := l.aside(ctx)
	if err != nil {
		return err
	}
	u, err := l.uses(ctx, cuts)
	if err != nil {
		return err
	}
	c, kept := clearing{}, make(map[string]bool)
	for _, f := range there {
		id, ok := recordOf(f.name)
		switch {
		case strings.HasPrefix(f.name, ".") && p.Now.Sub(f.written) < settling: // being written
		case !ok || !f.plain:
			l.warn(fmt.Errorf("%s: %s/%s is not a record's file, skipped", l, recordsDir, f.name))
		case u.live[id]:
			kept[id] = true
			done.Kept++
		case !u.dropped[id] && (u.damaged || p.Now.Sub(f.written) < settling):
		default:
			sound, err := l.isSound(ctx, id)
			if err != nil {
				return err
			}
			if sound {
				c.gone = append(c.gone, id)
				done.Removed = append(done.Removed, id)
				done.Bytes += f.size
			}
		}
	}
	c.dig(aside, u, kept, p.Now, done)
	if p.DryRun {
		return nil
	}
	return l.clear(ctx, c, p.Now)
}

// dig decides what becomes of what was set aside before.
func (c *clearing) dig(aside []grave, u use, kept map[string]bool, now time.Time, done *Pruned) {
	for _, g := range aside {
		switch {
		case u.live[g.id] && !kept[g.id]:
			kept[g.id] = true
			c.back = append(c.back, g)
			done.Kept++
		case !u.damaged && now.Sub(g.at) >= settling:
			c.old = append(c.old, g)
			done.Deleted = append(done.Deleted, g.id)
		}
	}
}

// batch is how many bytes of records are held and written together.
const batch = 16 << 20

// clear does it, each copy before its deletion.
func (l *ledger) clear(ctx context.Context, c clearing, now time.Time) error {
	var edits []edit
	size := 0
	flush := func(least int) error {
		if len(edits) == 0 || size < least {
			return nil
		}
		err := l.edit(ctx, edits)
		edits, size = nil, 0
		return err
	}
	// carry copies a file. One that is gone was copied by who took it away.
	carry := func(from, name, to, as string, after ...edit) error {
		b, err := l.read(ctx, from, name, maxRecord)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		edits, size = append(append(edits, edit{to, as, b}), after...), size+len(b)
		return flush(batch)
	}
	for _, g := range c.back {
		if err := carry(trashDir, g.name(), recordsDir, recordFile(g.id)); err != nil {
			return err
		}
	}
	for _, id := range c.gone {
		file := recordFile(id)
		if err := carry(recordsDir, file, trashDir, grave{id, now}.name(), edit{recordsDir, file, nil}); err != nil {
			return err
		}
	}
	for _, g := range c.old {
		edits = append(edits, edit{trashDir, g.name(), nil})
	}
	return flush(0)
}

// isSound says whether a record is whole. One that is not is reported; one that is gone was taken away by another.
func (l *ledger) isSound(ctx context.Context, id string) (bool, error) {
	b, err := l.read(ctx, recordsDir, recordFile(id), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	_, damage := unpacked(id, b)
	if damage != nil {
		l.warn(fmt.Errorf("not deleted: %w", damage))
	}
	return damage == nil, nil
}
