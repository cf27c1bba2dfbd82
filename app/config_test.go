package app

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

const whole = `
command: [node, main.js]
dir: bundle
env: {PORT: "3000", MONGO_URL: mongodb://127.0.0.1:27017/bench}
url: http://127.0.0.1:3000
ready: 120s
roles: {db: mongod}
services:
  - {name: redis, command: [redis-server, --dir, "${tmp}"], ready: "tcp:6379"}
reset: [./drop-database.sh]
version: {command: [git, rev-parse, HEAD]}
`

func TestConfigFromYAML(t *testing.T) {
	want := Config{
		Command:  []string{"node", "main.js"},
		Dir:      "bundle",
		Env:      map[string]string{"PORT": "3000", "MONGO_URL": "mongodb://127.0.0.1:27017/bench"},
		URL:      "http://127.0.0.1:3000",
		Ready:    2 * time.Minute,
		Roles:    map[string]string{"db": "mongod"},
		Services: []Service{{Name: "redis", Command: []string{"redis-server", "--dir", "${tmp}"}, Ready: "tcp:6379"}},
		Reset:    []string{"./drop-database.sh"},
		Version:  Version{Command: []string{"git", "rev-parse", "HEAD"}},
	}
	var got Config
	if err := yaml.UnmarshalWithOptions([]byte(whole), &got, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := got.Validate(); err != nil {
		t.Errorf("Validate: %v", err)
	}
	text, err := yaml.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var again Config
	if err := yaml.UnmarshalWithOptions(text, &again, yaml.Strict()); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if diff := cmp.Diff(want, again); diff != "" {
		t.Errorf("after a round trip (-want +got):\n%s", diff)
	}
}

func TestVersionFromYAML(t *testing.T) {
	for text, want := range map[string]Version{
		"version: 3.1.1": {Text: "3.1.1"},
		"version: {command: [meteor, --version]}": {Command: []string{"meteor", "--version"}},
		"version:": {},
	} {
		var c Config
		if err := yaml.UnmarshalWithOptions([]byte(text), &c, yaml.Strict()); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, c.Version); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{"version: {comand: [x]}", "version: [x]"} {
		var c Config
		if err := yaml.UnmarshalWithOptions([]byte(text), &c, yaml.Strict()); err == nil {
			t.Errorf("%s: got %+v, want an error", text, c.Version)
		}
	}
}

func TestValidate(t *testing.T) {
	good := func() Config { return Config{Command: []string{"x"}, URL: "http://h:1"} }
	service := func(s Service) func(*Config) {
		return func(c *Config) {
			if s.Command == nil {
				s.Command = []string{"x"}
			}
			c.Services = []Service{s}
		}
	}
	tests := []struct {
		name   string
		change func(*Config)
		says   []string // nothing: it is good
	}{
		{"command and url", func(*Config) {}, nil},
		{"url only", func(c *Config) { c.Command = nil }, nil},
		{"https", func(c *Config) { c.URL = "https://h" }, nil},
		{"service by port", service(Service{Name: "db", Ready: "tcp:27017"}), nil},
		{"service by address", service(Service{Name: "db", Ready: "tcp:127.0.0.1:27017"}), nil},
		{"service by address of version 6", service(Service{Name: "db", Ready: "tcp:[::1]:27017"}), nil},
		{"service by URL of a port", service(Service{Name: "db", Ready: "tcp://h:27017"}), nil},
		{"service by answer", service(Service{Name: "db", Ready: "http://h:1/up"}), nil},
		{"nothing", func(c *Config) { *c = Config{} }, []string{"neither command nor url"}},
		{"no url", func(c *Config) { c.URL = "" }, []string{"url is missing"}},
		{"secrets in the address", func(c *Config) { c.URL = "https://me:hidden@h" }, []string{`url "https://me:xxxxx@h": a name and password`}},
		{"other scheme", func(c *Config) { c.URL = "ftp://h" }, []string{`url "ftp://h": want http://HOST`}},
		{"no host", func(c *Config) { c.URL = "http://:80" }, []string{"want http://HOST"}},
		{"no url at all", func(c *Config) { c.URL = "http://h:x" }, []string{`url "http://h:x": invalid port`}},
		{"empty program", func(c *Config) { c.Command[0] = "" }, []string{"command: the program is empty"}},
		{"empty reset", func(c *Config) { c.Reset = []string{""} }, []string{"reset: the program is empty"}},
		{"two versions", func(c *Config) { c.Version = Version{"1", []string{"x"}} }, []string{"version: both"}},
		{"negative time", func(c *Config) { c.Ready = -time.Second }, []string{"ready -1s"}},
		{"bad expression", func(c *Config) { c.Roles = map[string]string{"db": "("} }, []string{"roles.db: error parsing regexp"}},
		{"empty expression", func(c *Config) { c.Roles = map[string]string{"db": ""} }, []string{"roles.db: an empty expression"}},
		{"role with a dot", func(c *Config) { c.Roles = map[string]string{"d.b": "x"} }, []string{`roles: "d.b" is no role`}},
		{"the driver's role", func(c *Config) { c.Roles = map[string]string{"driver": "x"} }, []string{"driver is ddpgate's own role"}},
		{"no name", service(Service{}), []string{`services[0].name: "" is no role`}},
		{"the app's name", service(Service{Name: "app"}), []string{"services[0].name: app is the app's own role"}},
		{"no command", service(Service{Name: "db", Command: []string{}}), []string{"services[0].command: the program is empty"}},
		{"no port", service(Service{Name: "db", Ready: "tcp:"}), []string{`services[0].ready "tcp:": want tcp:PORT`}},
		{"no number", service(Service{Name: "db", Ready: "tcp:h:many"}), []string{"want tcp:PORT"}},
		{"port too great", service(Service{Name: "db", Ready: "tcp:70000"}), []string{"want tcp:PORT"}},
		{"unknown way", service(Service{Name: "db", Ready: "27017"}), []string{"want tcp:PORT, tcp:HOST:PORT or an http URL"}},
		{"name twice", func(c *Config) {
			c.Services = []Service{{Name: "db", Command: []string{"x"}}, {Name: "db", Command: []string{"x"}}}
		}, []string{`services[1].name "db" is taken`}},
		{"name of a role", func(c *Config) {
			c.Roles = map[string]string{"db": "x"}
			c.Services = []Service{{Name: "db", Command: []string{"x"}}}
		}, []string{`services[0].name "db" is taken`}},
		{"all at once", func(c *Config) {
			*c = Config{URL: "x", Ready: -1, Roles: map[string]string{"A": "("}, Services: []Service{{}}}
		}, []string{"url", "ready", `roles: "A"`, "roles.A", "services[0].name", "services[0].command"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := good()
			tt.change(&c)
			err := c.Validate()
			if (err != nil) != (tt.says != nil) {
				t.Fatalf("got %v, want %q", err, tt.says)
			}
			for _, want := range tt.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want %q in it", err, want)
				}
			}
			if err != nil && strings.Count(err.Error(), "\n") != len(tt.says)-1 {
				t.Errorf("got %q, want %d faults", err, len(tt.says))
			}
		})
	}
}

func TestMerge(t *testing.T) {
	base := []string{"A=1", "B=2", "C=3"}
	got := merge(base, map[string]string{"B": "x=y", "Z": "", "D": "4"})
	if want := []string{"A=1", "C=3", "B=x=y", "D=4", "Z="}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := []string{"A=1", "B=2", "C=3"}; !slices.Equal(base, want) {
		t.Errorf("the environment was changed to %q", base)
	}
}

func TestStartErrorText(t *testing.T) {
	err := &StartError{What: "service db", Err: errors.New("it broke"), Output: []string{"one", "two"}}
	if got, want := err.Error(), "service db: it broke\n  | one\n  | two"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
