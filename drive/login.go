package drive

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ddpgate/ddpgate/ddp"
	"github.com/ddpgate/ddpgate/scenario"
)

const loginMethod = "login"

// login compiles a login. What it says is known only to the load: it is looked up there, and stands in no program.
func (c *compiler) login(l *scenario.Login) error {
	o := op{kind: opLogin, name: loginMethod, method: c.method(loginMethod), secrets: len(c.logins)}
	o.what = fmt.Sprintf("step %d (login)", c.step)
	c.logins = append(c.logins, *l)
	c.ops = append(c.ops, o)
	return nil
}

// credentials are what the login steps of a load send, and what of it nobody may read.
type credentials struct {
	params  [][]byte // by login
	secrets []string
}

// CheckEnv names the variables that a sound scenario's logins need and the environment has not. Run fails without them.
func CheckEnv(sc scenario.Scenario, env func(name string) string) error {
	_, err := newLoad(&sc, Options{URL: "http://localhost", Env: env})
	return err
}

// findCredentials looks up what the logins say. The error names the variables that are not set.
func findCredentials(logins []scenario.Login, env func(name string) string) (c credentials, err error) {
	var errs []error
	get := func(s *scenario.Secret) string {
		if s == nil {
			return ""
		}
		if env != nil {
			if v := env(s.Env); v != "" {
				return v
			}
		}
		errs = append(errs, fmt.Errorf("login: environment variable %s is not set", s.Env))
		return ""
	}
	for _, l := range logins {
		token, user, password := get(l.Token), get(l.User), get(l.Password)
		if l.Token != nil {
			c.params = append(c.params, ddp.ResumeParams(token))
			c.secrets = append(c.secrets, token)
			continue
		}
		c.params = append(c.params, ddp.PasswordParams(user, password))
		c.secrets = append(c.secrets, password, ddp.PasswordDigest(password))
	}
	return c, errors.Join(errs...)
}

// redacted returns a text without the secrets, which a server may repeat, as they are or as JSON writes them.
func (c credentials) redacted(text string) string {
	for _, s := range c.secrets {
		quoted := ddp.AppendString(nil, []byte(s))
		for _, form := range []string{s, string(unquoted(quoted))} {
			text = strings.ReplaceAll(text, form, "(secret)")
		}
	}
	return text
}
