package baseline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/ddpgate/ddpgate/internal/objects"
)

// A bucket keeps a store's files as objects of S3, or of whatever AWS_ENDPOINT_URL names. A log grows by conditional writes: of two who
// write at once, the second reads again what the first wrote.
type bucket struct{ *objects.Bucket }

func newBucket(place string) (*bucket, error) {
	b, err := objects.Parse("s3:" + place)
	if err != nil {
		return nil, err
	}
	return &bucket{b}, nil
}

// list implements files.
func (b *bucket) list(ctx context.Context, folder string) ([]file, error) {
	all, err := b.List(ctx, folder+"/")
	if err != nil {
		return nil, err
	}
	found := make([]file, len(all))
	for i, o := range all {
		found[i] = file{o.Name, !o.Folder, o.Size, o.Changed}
	}
	return found, nil
}

// read implements files.
func (b *bucket) read(ctx context.Context, folder, name string, limit int64) ([]byte, error) {
	content, _, err := b.get(ctx, folder, name, limit)
	return content, err
}

// get returns an object with its tag.
func (b *bucket) get(ctx context.Context, folder, name string, limit int64) (content []byte, tag string, err error) {
	content, tag, err = b.Get(ctx, folder+"/"+name, limit)
	if e := new(objects.TooLarge); errors.As(err, &e) {
		err = tooLarge(folder, name, limit)
	}
	return content, tag, err
}

// grow implements files. The record is in the bucket before the key names it, and the name is claimed before there is a log.
func (b *bucket) grow(ctx context.Context, c change) error {
	logs, err := b.list(ctx, keysDir)
	if err != nil {
		return err
	}
	names := namesOf(logs)
	if err := c.admit(names); err != nil {
		return err
	}
	if !slices.Contains(names, c.log) {
		if err := b.claim(ctx, c); err != nil {
			return err
		}
	}
	if c.record != "" {
		if err := b.apply(ctx, edit{recordsDir, c.record, c.packed}); err != nil {
			return err
		}
	}
	before := -1 // how long the log was at the first look
	return patiently(ctx, func() error {
		log, tag, err := b.get(ctx, keysDir, c.log, maxLog)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if before >= 0 && bytes.Contains(log[min(before, len(log)):], c.lines) {
			return nil // the answer was lost, not the write
		}
		before = max(before, len(log))
		if isCut(log) {
			log = append(log, '\n')
		}
		on := objects.New()
		if err == nil {
			on = objects.Still(tag)
		}
		return b.put(ctx, keysDir, c.log, "application/jsonl", append(log, c.lines...), on)
	})
}

// put writes an object. Where its condition does not hold, the error is errMoved.
func (b *bucket) put(ctx context.Context, folder, name, kind string, content []byte, on objects.Condition) error {
	err := b.Put(ctx, folder+"/"+name, kind, content, on)
	if errors.Is(err, objects.ErrMoved) {
		return fmt.Errorf("%w: %w", errMoved, err)
	}
	return err
}

// claim takes the name of a key that has no log yet. Of two keys that differ only in case, one has it.
func (b *bucket) claim(ctx context.Context, c change) error {
	return patiently(ctx, func() error {
		content, err := b.read(ctx, claimsDir, c.claim(), maxClaim)
		if errors.Is(err, fs.ErrNotExist) {
			content = []byte(c.log + "\n")
			err = b.put(ctx, claimsDir, c.claim(), "text/plain", content, objects.New())
		}
		if err != nil {
			return err
		}
		return c.admitted(content)
	})
}

// edit implements files.
func (b *bucket) edit(ctx context.Context, edits []edit) error {
	for _, e := range edits {
		if err := b.apply(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (b *bucket) apply(ctx context.Context, e edit) error {
	if e.content != nil {
		return b.put(ctx, e.folder, e.name, "application/gzip", e.content, objects.Condition{})
	}
	return b.Delete(ctx, e.folder+"/"+e.name)
}
