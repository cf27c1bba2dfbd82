package baseline

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/ddpgate/ddpgate/record"
)

// claim returns the name of the file that says how a change's key is written.
func (c change) claim() string { return strings.ToLower(strings.TrimSuffix(c.log, suffix)) }

// admitted returns an error unless the claim's content names the change's log.
func (c change) admitted(content []byte) error {
	holder := strings.TrimSpace(string(content))
	if holder == c.log {
		return nil
	}
	key, _ := keyOf(c.log)
	other, ok := keyOf(holder)
	if !ok {
		return fmt.Errorf("%s/%s is damaged: it should name the log of key %q", claimsDir, c.claim(), key)
	}
	return fmt.Errorf("%w; %s/%s keeps the name for %q", clash(key, other), claimsDir, c.claim(), other)
}

// claim takes the name of a key that has no log yet. Of two keys that differ only in case, one has it: a link is made whole, and once.
func (d dir) claim(c change) error {
	claims, err := d.open(claimsDir, true)
	if err != nil {
		return err
	}
	defer claims.Close()
	content, err := claims.ReadFile(c.claim())
	if errors.Is(err, fs.ErrNotExist) {
		if err := link(claims, c.claim(), []byte(c.log+"\n")); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		content, err = claims.ReadFile(c.claim())
	}
	if err != nil {
		return err
	}
	return c.admitted(content)
}

// link makes a file that must not be there yet, fs.ErrExist if it is. Where a file system has no links, a crash may leave it without its content.
func link(dir *os.Root, name string, content []byte) (err error) {
	draft := "." + rand.Text()
	if err := record.WriteFile(dir, draft, content); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Remove(draft)) }()
	if err := dir.Link(draft, name); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}
