package fleet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ddpgate/ddpgate/internal/objects"
)

// maxObject is how many bytes an object of a share may have.
const maxObject = 64 << 20

// OpenStore returns the store that s3://BUCKET/PREFIX names. It asks nobody whether there is one.
func OpenStore(_ context.Context, name string) (Store, error) {
	b, err := objects.Parse(name)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, err)
	}
	return bucket{b}, nil
}

// A bucket keeps parts as objects of S3.
type bucket struct{ objects *objects.Bucket }

// PutNew implements Store.
func (b bucket) PutNew(ctx context.Context, name string, content []byte) error {
	err := b.objects.Put(ctx, name, "application/json", content, objects.New())
	if errors.Is(err, objects.ErrMoved) {
		return fmt.Errorf("%s: %w", name, fs.ErrExist)
	}
	return err
}

// Get implements Store.
func (b bucket) Get(ctx context.Context, name string) ([]byte, error) {
	content, _, err := b.objects.Get(ctx, name, maxObject)
	return content, err
}

// List implements Store.
func (b bucket) List(ctx context.Context, folder string) ([]string, error) {
	found, err := b.objects.List(ctx, folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, o := range found {
		if !o.Folder {
			names = append(names, folder+o.Name)
		}
	}
	return names, nil
}
