package baseline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// commit makes the branch's next commit of the edits to its newest one, again and again until nobody else is quicker.
func (b *branch) commit(ctx context.Context, message string, edits func(tip string) ([]edit, error)) error {
	scratch, err := os.MkdirTemp("", "ddpgate-git-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	g := git{index: filepath.Join(scratch, "index")}
	return patiently(ctx, func() error {
		tip, err := b.tip(ctx)
		if err != nil {
			return err
		}
		changes, err := edits(tip)
		if err != nil {
			return err
		}
		next, err := g.commit(ctx, tip, message, changes)
		if err != nil {
			return err
		}
		return b.publish(ctx, tip, next)
	})
}

// publish makes a commit the branch's newest, if the newest is still the one that it was made from.
func (b *branch) publish(ctx context.Context, from, to string) error {
	var err error
	if b.remote == "" {
		_, err = git{}.run(ctx, "update-ref", "-m", "ddpgate", b.ref(), to, orZero(from, to))
	} else {
		_, err = git{}.run(ctx, "push", "--quiet", "--no-verify", "--force-with-lease="+b.ref()+":"+from, b.remote, to+":"+b.ref())
	}
	if err == nil {
		return nil
	}
	now, askErr := b.now(ctx)
	switch {
	case askErr != nil:
		return errors.Join(err, askErr)
	case now == to: // the answer was lost, not the commit
		return nil
	case now != from || isLocked(err):
		return fmt.Errorf("%w: %w", errMoved, err)
	}
	return err
}

func (b *branch) now(ctx context.Context) (string, error) {
	if b.remote == "" {
		return b.local(ctx)
	}
	return b.advertised(ctx)
}

// orZero returns the name of no commit where there is none, in the length that the repository's hashes have.
func orZero(commit, like string) string {
	if commit == "" {
		return strings.Repeat("0", len(like))
	}
	return commit
}
