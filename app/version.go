package app

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// A Version names a build: a text, or a command whose first line of output it is. In YAML it is a string or a mapping with
// the key command.
type Version struct {
	Text    string
	Command []string
}

// UnmarshalYAML reads either form.
func (v *Version) UnmarshalYAML(decode func(any) error) error {
	*v = Version{}
	if decode(&v.Text) == nil {
		return nil
	}
	var form struct {
		Command []string `yaml:"command"`
	}
	if err := decode(&form); err != nil {
		return err
	}
	v.Command = form.Command
	return nil
}

// MarshalYAML writes the form that it has.
func (v Version) MarshalYAML() (any, error) {
	if len(v.Command) == 0 {
		return v.Text, nil
	}
	return map[string][]string{"command": v.Command}, nil
}

// IsZero tells that no version is set.
func (v Version) IsZero() bool { return v.Text == "" && len(v.Command) == 0 }

// ResolveVersion returns the app's version: the text, or the first line that the command prints to its standard output, run
// where the app's command is and with its environment. Without a version it is empty.
func (c Config) ResolveVersion(ctx context.Context, o Options) (string, error) {
	if len(c.Version.Command) == 0 {
		return c.Version.Text, nil
	}
	s, err := command{c.Version.Command, c.Dir, c.Env}.resolve(o.withDefaults().Environ, "")
	if err != nil {
		return "", fmt.Errorf("version: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Path)
	cmd.Args, cmd.Env, cmd.Dir, cmd.WaitDelay = s.Args, s.Env, s.Dir, time.Second
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && len(exit.Stderr) > 0 {
			err = fmt.Errorf("%w: %s", err, firstLine(exit.Stderr))
		}
		return "", fmt.Errorf("version: %s: %w", strings.Join(s.Args, " "), err)
	}
	line := firstLine(out)
	if line == "" {
		return "", fmt.Errorf("version: %s printed nothing", strings.Join(s.Args, " "))
	}
	return line, nil
}

// versionLimit is how long a version's command may take.
const versionLimit = time.Minute

func firstLine(out []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(line)
}
