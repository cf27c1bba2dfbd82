package fleet

import (
	"bytes"
	"context"
	"crypto/rand"
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
	attempt := h.ID + "-" + rand.Text() // one worker may be handed a job twice
	err = write(ctx, store, object(job.Run, job.Share, claimed), []byte(attempt+"\n"))
	if !errors.Is(err, fs.ErrExist) {
		return store, err
	}
	if err := write(ctx, store, object(job.Run, job.Share, duplicate+"-"+attempt), []byte(attempt+"\n")); err != nil {
		return nil, errors.Join(errTaken, err)
	}
	return nil, errTaken
}

// write puts a new object into the store. That it is there already is no error where it is this one: the answer to an earlier try was lost.
func write(ctx context.Context, store Store, name string, content []byte) error {
	err := store.PutNew(ctx, name, content)
	if errors.Is(err, fs.ErrExist) {
		if there, failed := store.Get(ctx, name); failed == nil && bytes.Equal(there, content) {
			return nil
		}
	}
	return err
}

// keep puts the answer, or why there is none, into the store, as the line that it would have been. It does so even where the job's time is over.
func keep(ctx context.Context, store Store, a Answer, fault error, now time.Time) error {
	if fault != nil {
		a.Fault, a.Parts = fault.Error(), nil
	}
	text, err := json.Marshal(line{At: now, Answer: &a})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := write(ctx, store, object(a.Run, a.Share, kept), text); err != nil {
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
