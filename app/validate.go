package app

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// roleName is what a role may be called: it stands before a dot in metrics' names.
var roleName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// redacted returns a URL as it may be shown.
func redacted(raw string) string {
	if u, err := url.Parse(raw); err == nil {
		return u.Redacted()
	}
	return raw
}

// Validate returns all that is wrong with the Config, joined. It looks at the words only, not at files or ports.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	switch {
	case c.URL == "" && len(c.Command) == 0:
		fault("neither command nor url: an app is started by a command, or runs already at a url")
	case c.URL == "":
		fault("url is missing: it tells when the app is ready and where the load goes")
	default:
		if _, err := httpProbe(c.URL); err != nil {
			fault("url %q: %w", redacted(c.URL), err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		if name == "" || strings.ContainsAny(name, " :\r\n") || c.Headers[name] == "" {
			fault("headers.%s: want a header's name, and the name of the environment variable that holds its value", name)
		}
	}
	if blank(c.Command) {
		fault("command: the program is empty")
	}
	if blank(c.Reset) {
		fault("reset: the program is empty")
	}
	if blank(c.Version.Command) {
		fault("version.command: the program is empty")
	}
	if c.Version.Text != "" && len(c.Version.Command) > 0 {
		fault("version: both a text and a command")
	}
	if c.Node && len(c.Command) == 0 {
		fault("node: Node's own figures are those of an app that is started by a command")
	}
	if c.Ready < 0 {
		fault("ready %v: a time cannot be negative", c.Ready)
	}
	for _, role := range slices.Sorted(maps.Keys(c.Roles)) {
		if err := checkRole(role); err != nil {
			fault("roles: %w", err)
		}
		if _, err := regexp.Compile(c.Roles[role]); err != nil {
			fault("roles.%s: %w", role, err)
		} else if c.Roles[role] == "" {
			fault("roles.%s: an empty expression matches every process", role)
		}
	}
	return errors.Join(slices.Concat(faults, c.checkElsewhere(), c.checkServices())...)
}

func (c Config) checkServices() (faults []error) {
	names := make(map[string]bool)
	for i, s := range c.Services {
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("services[%d]%w", i, fmt.Errorf(format, args...)))
		}
		if err := checkRole(s.Name); err != nil {
			fault(".name: %w", err)
		}
		_, role := c.Roles[s.Name]
		switch {
		case s.Name == "app":
			fault(".name: app is the app's own role")
		case names[s.Name] || role:
			fault(".name %q is taken", s.Name)
		}
		names[s.Name] = true
		if len(s.Command) == 0 || blank(s.Command) {
			fault(".command: the program is empty")
		}
		if _, err := serviceProbe(s.Ready); err != nil {
			fault(".ready %q: %w", s.Ready, err)
		}
	}
	return faults
}

func checkRole(name string) error {
	switch {
	case !roleName.MatchString(name):
		return fmt.Errorf("%q is no role: want small letters, digits, - and _, a letter first", name)
	case name == "driver" || name == "meter" || name == "host":
		return fmt.Errorf("%s is ddpgate's own role", name)
	}
	return nil
}

// blank tells of a command that is there but has no program.
func blank(command []string) bool { return len(command) > 0 && command[0] == "" }
