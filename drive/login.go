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

// A credential is what one login step sends, and what of it nobody may read.
type credential struct {
	params  []byte
	secrets []string
}

// credentials looks up what the logins say. The error names the variables that are not set.
func credentials(logins []scenario.Login, lookup func(name string) (string, bool)) ([]credential, error) {
	var errs []error
	get := func(s *scenario.Secret) string {
		if s == nil {
			return ""
		}
		if lookup != nil {
			if v, set := lookup(s.Env); set && v != "" {
				return v
			}
		}
		errs = append(errs, fmt.Errorf("login: environment variable %s is not set", s.Env))
		return ""
	}
	var all []credential
	for _, l := range logins {
		token, user, password := get(l.Token), get(l.User), get(l.Password)
		if l.Token != nil {
			all = append(all, credential{ddp.ResumeParams(token), []string{token}})
			continue
		}
		all = append(all, credential{ddp.PasswordParams(user, password), []string{password, ddp.PasswordDigest(password)}})
	}
	return all, errors.Join(errs...)
}

// redacted is an error without the secrets, which a server may repeat.
func (c credential) redacted(err error) error {
	text := err.Error()
	for _, s := range c.secrets {
		text = strings.ReplaceAll(text, s, "(secret)")
	}
	return errors.New(text)
}
