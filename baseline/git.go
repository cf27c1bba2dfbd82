package baseline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A branch keeps a store's files on a branch of the repository in the current directory, or of one of its remotes, through the git
// command. Each change is one commit. Neither index nor working tree is touched.
type branch struct {
	name   string
	remote string // a remote's name or address; empty for the repository itself

	mu   sync.Mutex
	seen string // the newest commit that was fetched; empty for none
}

var branchForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/+-]*$`)

func newBranch(place string) (*branch, error) {
	name, remote, hasRemote := strings.Cut(place, "@")
	switch {
	case !branchForm.MatchString(name) || strings.Contains(name, "..") || strings.Contains(name, "//") || strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".lock"):
		return nil, fmt.Errorf("%q cannot be a branch", name)
	case hasRemote && (remote == "" || strings.HasPrefix(remote, "-")):
		return nil, fmt.Errorf("%q cannot be a remote", remote)
	}
	return &branch{name: name, remote: remote}, nil
}

func (b *branch) String() string {
	if b.remote == "" {
		return "git:" + b.name
	}
	return "git:" + b.name + "@" + redacted(b.remote)
}

func (b *branch) ref() string { return "refs/heads/" + b.name }

// tip returns the branch's newest commit, which is here afterwards; empty if there is no branch.
func (b *branch) tip(ctx context.Context) (string, error) {
	if b.remote == "" {
		return b.local(ctx)
	}
	var tip string
	err := patiently(ctx, func() (err error) {
		if tip, err = b.advertised(ctx); err != nil || tip == "" {
			return err
		}
		return b.fetch(ctx, tip)
	})
	if err != nil {
		return "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen = tip
	return tip, nil
}

func (b *branch) local(ctx context.Context) (string, error) {
	out, err := git{}.run(ctx, "for-each-ref", "--format=%(objectname)", b.ref())
	return strings.TrimSpace(string(out)), err
}

// advertised asks the remote for the branch's newest commit; empty if there is no branch.
func (b *branch) advertised(ctx context.Context) (string, error) {
	out, err := git{}.run(ctx, "ls-remote", b.remote, b.ref())
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		if tip, ref, _ := strings.Cut(strings.TrimSpace(line), "\t"); ref == b.ref() {
			return tip, nil
		}
	}
	return "", nil
}

// fetch brings a commit of the branch here. Nothing of the repository's changes but its objects and a reference of our own, from which the
// next fetch goes on. A clone that is shallow gets the newest commit alone.
func (b *branch) fetch(ctx context.Context, tip string) error {
	if b.has(ctx, tip) {
		return nil
	}
	shallow, err := git{}.run(ctx, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return err
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--no-recurse-submodules", "--no-auto-maintenance"}
	if strings.TrimSpace(string(shallow)) == "true" {
		args = append(args, "--depth=1")
	}
	_, err = git{}.run(ctx, append(args, b.remote, b.ref())...)
	if !b.has(ctx, tip) {
		if err != nil && !isLocked(err) {
			return err
		}
		return errMoved // the branch went on between the two
	}
	// Only makes the next fetch cheaper: others may do the same at this moment.
	_, _ = git{}.run(ctx, "update-ref", "refs/ddpgate/"+b.name, tip)
	return ctx.Err()
}

func (b *branch) has(ctx context.Context, commit string) bool {
	_, err := git{}.run(ctx, "cat-file", "-e", commit+"^{tree}")
	return err == nil
}

// list implements files. A branch that is not a store's own is refused.
func (b *branch) list(ctx context.Context, folder string) ([]file, error) {
	tip, err := b.tip(ctx)
	if err != nil {
		return nil, err
	}
	return b.listAt(ctx, tip, folder)
}

func (b *branch) listAt(ctx context.Context, tip, folder string) ([]file, error) {
	if tip == "" {
		return nil, nil
	}
	out, err := git{}.run(ctx, "ls-tree", "--full-tree", "-z", "-l", tip, keysDir+"/", folder+"/")
	if err != nil {
		return nil, err
	}
	var found []file
	ours := false
	for _, line := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		attributes, name, _ := strings.Cut(line, "\t")
		if log, inside := strings.CutPrefix(name, keysDir+"/"); inside {
			_, isLog := keyOf(log)
			ours = ours || isLog
		}
		if name, inside := strings.CutPrefix(name, folder+"/"); inside {
			mode := strings.Fields(attributes)
			size, _ := strconv.ParseInt(mode[3], 10, 64)
			found = append(found, file{name: name, plain: strings.HasPrefix(mode[0], "100"), size: size})
		}
	}
	if !ours {
		return nil, b.foreign(ctx, tip)
	}
	return found, nil
}

// foreign returns an error unless the commit has no files at all: a branch of something else must not become a store.
func (b *branch) foreign(ctx context.Context, tip string) error {
	out, err := git{}.run(ctx, "ls-tree", "--full-tree", "-z", "--name-only", tip)
	if err != nil || len(out) == 0 {
		return err
	}
	first, _, _ := strings.Cut(string(out), "\x00")
	return fmt.Errorf("branch %s holds other things (%q) and no baselines: take a branch of its own", b.name, first)
}

// read implements files. A record never changes, so that what was fetched once is not asked for again.
func (b *branch) read(ctx context.Context, folder, name string, limit int64) ([]byte, error) {
	b.mu.Lock()
	tip := b.seen
	b.mu.Unlock()
	if folder == recordsDir && tip != "" {
		if content, err := b.readAt(ctx, tip, folder, name, limit); !errors.Is(err, fs.ErrNotExist) {
			return content, err
		}
	}
	tip, err := b.tip(ctx)
	if err != nil {
		return nil, err
	}
	return b.readAt(ctx, tip, folder, name, limit)
}

func (b *branch) readAt(ctx context.Context, tip, folder, name string, limit int64) ([]byte, error) {
	if tip == "" {
		return nil, fs.ErrNotExist
	}
	out, err := git{in: []byte(tip + ":" + folder + "/" + name + "\n")}.run(ctx, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	header, content, _ := bytes.Cut(out, []byte("\n"))
	fields := strings.Fields(string(header))
	if len(fields) != 3 || fields[1] != "blob" {
		return nil, fs.ErrNotExist
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err == nil && size > limit {
		err = tooLarge(folder, name, limit)
	}
	if err != nil {
		return nil, err
	}
	if int64(len(content)) < size {
		return nil, fmt.Errorf("git gave %d of %d bytes of %s/%s", len(content), size, folder, name)
	}
	return content[:size], nil
}

// grow implements files: one commit has the record and the line. It needs no claim: of two who would be first, the second finds the other's log.
func (b *branch) grow(ctx context.Context, c change) error {
	return b.commit(ctx, "Keep a record under "+strings.TrimSuffix(c.log, suffix), func(tip string) ([]edit, error) {
		logs, err := b.listAt(ctx, tip, keysDir)
		if err != nil {
			return nil, err
		}
		names := namesOf(logs)
		if err := c.admit(names); err != nil {
			return nil, err
		}
		var text []byte
		if slices.Contains(names, c.log) {
			if text, err = b.readAt(ctx, tip, keysDir, c.log, maxLog); err != nil {
				return nil, err
			}
		} else if slices.ContainsFunc(logs, func(f file) bool { return f.name == c.log }) {
			return nil, fmt.Errorf("%s/%s is no file", keysDir, c.log)
		}
		if isCut(text) {
			text = append(text, '\n')
		}
		edits := []edit{{keysDir, c.log, append(text, c.lines...)}}
		if c.record != "" {
			edits = append(edits, edit{recordsDir, c.record, c.packed})
		}
		return edits, nil
	})
}

// edit implements files: one commit has all.
func (b *branch) edit(ctx context.Context, edits []edit) error {
	return b.commit(ctx, "Prune records", func(string) ([]edit, error) { return edits, nil })
}
