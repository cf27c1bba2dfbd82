package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/ddpgate/ddpgate/drive"
)

// A Store keeps the parts of loads where both workers and coordinator reach them. It is safe for concurrent use.
type Store interface {
	// PutNew keeps an object that is not there yet, in one step: of two who write one name at once, one succeeds. The other's error is
	// fs.ErrExist.
	PutNew(ctx context.Context, name string, content []byte) error
	// Get returns an object, fs.ErrNotExist where there is none.
	Get(ctx context.Context, name string) ([]byte, error)
	// List returns the names of the objects that begin with a prefix.
	List(ctx context.Context, prefix string) ([]string, error)
}

// The objects of one share, after RUN/SHARE.
const (
	claimed   = ".claim"     // a worker has taken the job
	kept      = ".json"      // its parts
	duplicate = ".duplicate" // another worker was handed the same job; its ID follows
)

func object(run string, share drive.Share, kind string) string {
	return fmt.Sprintf("%s/%04d%s", run, share.Index, kind)
}

// errTaken says that another worker does the job.
var errTaken = errors.New("another worker had taken this job")

// take makes the job this worker's own, where there is a store: whoever comes second drives nothing.
func (h *Host) take(ctx context.Context, job *Job) (Store, error) {
	if job.Parts == "" {
		return nil, nil
	}
	if h.Open == nil {
		return nil, errors.New("this worker cannot keep parts")
	}
	store, err := h.Open(ctx, job.Parts)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", job.Parts, err)
	}
	err = store.PutNew(ctx, object(job.Run, job.Share, claimed), []byte(h.ID+"\n"))
	if !errors.Is(err, fs.ErrExist) {
		return store, err
	}
	err = store.PutNew(ctx, object(job.Run, job.Share, duplicate+"-"+h.ID), []byte(h.ID+"\n"))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, errors.Join(errTaken, err)
	}
	return nil, errTaken
}

// keep puts the answer into the store, as the line that it would have been.
func keep(ctx context.Context, store Store, a *Answer, now time.Time) error {
	text, err := json.Marshal(line{At: now, Answer: a})
	if err != nil {
		return err
	}
	if err := store.PutNew(ctx, object(a.Run, a.Share, kept), text); err != nil {
		return fmt.Errorf("keep the parts: %w", err)
	}
	return nil
}

// duplicates counts, by share, the workers that were handed a job which another had taken.
func duplicates(ctx context.Context, store Store, run string) (map[int]int, error) {
	names, err := store.List(ctx, run+"/")
	if err != nil {
		return nil, err
	}
	found := make(map[int]int)
	for _, name := range names {
		share, rest, is := strings.Cut(strings.TrimPrefix(name, run+"/"), duplicate)
		var index int
		if _, err := fmt.Sscanf(share, "%d", &index); is && err == nil && rest != "" {
			found[index]++
		}
	}
	return found, nil
}
