package drive

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ddpgate/ddpgate/internal/tasksapp"
)

// What clients of Meteor's accounts send for the password "sesame", and the token and user of the tests.
const (
	password = "sesame"
	digest   = "d0c04f4b1951e4aeaaec8223ed2039e542f3aae805a6fa7f6d794e5afff5d272"
	token    = "Xo5NdCWtZQ3kLkZl4TBBOBiWfW3pR3yPUNQjqpvYxJl"
)

func variables(name string) string {
	return map[string]string{"TOKEN": token, "USER_NAME": "ann", "ADDRESS": "ann@app.test", "PASSWORD": password, "EMPTY": ""}[name]
}

// accounts is an app that knows one user, and repeats in its errors what it was sent.
func accounts(t *testing.T) *app {
	return &app{t: t, answer: func(c *client, m message) {
		params, err := json.Marshal(m["params"])
		if err != nil {
			t.Error(err)
		}
		want := map[string]bool{
			`[{"resume":"` + token + `"}]`: true,
			`[{"password":{"algorithm":"sha-256","digest":"` + digest + `"},"user":{"username":"ann"}}]`:       true,
			`[{"password":{"algorithm":"sha-256","digest":"` + digest + `"},"user":{"email":"ann@app.test"}}]`: true,
		}
		if m["msg"] != "method" || m["method"] != "login" {
			t.Errorf("got %v", m)
		}
		if !want[string(params)] {
			c.tell(fmt.Sprintf(`{"msg":"result","id":%q,"error":{"error":403,"reason":%q}}`, m["id"], "no such user: "+string(params)))
			return
		}
		c.done(m, `{"id":"u1","token":"another","type":"resume"}`)
	}}
}

func TestLogin(t *testing.T) {
	for _, how := range []string{
		"{token: {env: TOKEN}}", "{user: {env: USER_NAME}, password: {env: PASSWORD}}", "{user: {env: ADDRESS}, password: {env: PASSWORD}}",
	} {
		a := accounts(t)
		sc := parsed(t, "  - login: "+how+"\n", "arrivals: {rate: 100/s, for: 30ms}")
		p := driven(t, sc, Options{URL: a.serve(), Env: variables})
		if p.OK != 3 || p.Histograms["login"].Count() != 3 || p.Histograms["login.updated"].Count() != 3 {
			t.Errorf("%s: got %+v", how, p)
		}
		if p.Actions != 0 {
			t.Errorf("%s: got %d actions: signing in is none", how, p.Actions)
		}
	}
}

// Neither a part nor a scenario holds a secret, not even where the app repeats it.
func TestSecretsAreNotTold(t *testing.T) {
	for _, how := range []string{"{token: {env: USER_NAME}}", "{user: {env: TOKEN}, password: {env: PASSWORD}}"} {
		a := accounts(t)
		sc := parsed(t, "  - login: "+how+"\n")
		p := driven(t, sc, Options{URL: a.serve(), Env: func(name string) string {
			if name == "USER_NAME" {
				return "a wrong and \"quoted\" token"
			}
			return variables(name)
		}})
		if got := causes(p); got["refused in step 1 (login)"] != 1 || p.Histograms["login"].Censored() != 1 {
			t.Errorf("got %v", got)
		}
		if !strings.Contains(p.Failures[0].Example, "no such user") {
			t.Errorf("got %q, want what the app said", p.Failures[0].Example)
		}
		said, err := json.Marshal([]any{p, sc})
		if err != nil {
			t.Fatal(err)
		}
		text := string(said) + fmt.Sprintf("%+v", p)
		for _, secret := range []string{password, digest, "wrong and"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s is told: %s", secret, text)
			}
		}
	}
}

// Without a variable nothing is started.
func TestLoginNeedsItsVariables(t *testing.T) {
	sc := parsed(t, "  - login: {user: {env: NOBODY}, password: {env: EMPTY}}\n")
	for name, lookup := range map[string]func(string) string{"set elsewhere": variables, "no environment": nil} {
		p, err := Run(t.Context(), sc, Options{URL: tasks(t, tasksapp.Options{}), Env: lookup})
		if p != nil || err == nil {
			t.Fatalf("%s: got %v, want an error", name, p)
		}
		if checked := CheckEnv(sc, lookup); checked == nil || checked.Error() != err.Error() {
			t.Errorf("%s: beforehand got %v, want %v", name, checked, err)
		}
		for _, variable := range []string{"NOBODY", "EMPTY"} {
			if !strings.Contains(err.Error(), "environment variable "+variable+" is not set") {
				t.Errorf("%s: got %v, want %s named", name, err, variable)
			}
		}
	}
}
