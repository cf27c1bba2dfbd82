package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/mattn/go-shellwords"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/config"
	"github.com/ddpgate/ddpgate/ddp"
	"github.com/ddpgate/ddpgate/record"
	"github.com/ddpgate/ddpgate/runner"
)

// appFlags say what is measured, over what the configuration says.
type appFlags struct {
	URL     string `name:"url" placeholder:"URL" help:"An app that runs already; with --head-app, where the started apps answer." group:"app"`
	HeadApp string `placeholder:"CMD" help:"The command that starts the app, words split as a shell does." group:"app"`
	BaseApp string `placeholder:"CMD" help:"The command of a second arm to hold the first against, on this machine, run by run." group:"app"`
	HeadDir string `placeholder:"DIR" help:"Where the app's command runs." group:"app"`
	BaseDir string `placeholder:"DIR" help:"Where the second arm's command runs." group:"app"`

	AA          bool `name:"aa" help:"Measure the app against itself, and keep the record: twenty of them say what this machine can hold." group:"app"`
	NodeMetrics bool `help:"Measure what the app's Node tells of itself: collections, event loop, heap." group:"app"`
}

// usualURL is where a Meteor app answers unless it is told otherwise.
const usualURL = "http://127.0.0.1:3000"

// arms returns the apps to measure. What is wrong with them is the user's to mend.
func (f *appFlags) arms(ctx context.Context, c *command, cfg *config.Config) ([]runner.Arm, error) {
	head, err := f.head(cfg.App)
	if err != nil {
		return nil, usage(err)
	}
	base, err := f.base(cfg.Base, head)
	if f.AA {
		base, err = f.itself(cfg.Base, head)
	}
	if err != nil {
		return nil, usage(err)
	}
	var arms []runner.Arm
	if base != nil {
		arms = append(arms, runner.Arm{Name: record.Base, App: *base})
	}
	arms = append(arms, runner.Arm{Name: record.Head, App: head})
	for i := range arms {
		arm := &arms[i]
		err := address(&arm.App)
		if err == nil {
			err = arm.App.Validate()
		}
		if err == nil {
			arm.Options.Header, arm.Options.TLS, err = access(c, arm.App)
		}
		if err == nil {
			arm.Version, err = arm.App.ResolveVersion(ctx, arm.Options)
		}
		if err != nil {
			return nil, usage(fmt.Errorf("%s: %w", arm.Name, err))
		}
	}
	return arms, nil
}

// access returns what connections to an app are made with, by its configuration.
func access(c *command, a app.Config) (header http.Header, trust *tls.Config, err error) {
	for _, name := range slices.Sorted(maps.Keys(a.Headers)) {
		value := c.Env(a.Headers[name])
		if value == "" {
			return nil, nil, fmt.Errorf("headers.%s: the environment has no %s", name, a.Headers[name])
		}
		if header == nil {
			header = make(http.Header)
		}
		header.Set(name, value)
	}
	if a.CA == "" {
		return header, nil, nil
	}
	pem, err := os.ReadFile(a.CA)
	if err == nil {
		trust, err = ddp.Trust(pem)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("ca: %w", err)
	}
	return header, trust, nil
}

// head is the app under test: the flags', else the configuration's, else the embedded tasks app.
func (f *appFlags) head(configured *app.Config) (app.Config, error) {
	head := app.Config{Command: []string{ourName, "serve"}}
	switch {
	case f.URL != "" && f.HeadApp == "" && f.BaseApp == "":
		return app.Config{URL: f.URL, Node: f.NodeMetrics}, f.unused("--url is an app that runs already", "--head-dir", f.HeadDir)
	case configured != nil:
		head = *configured
	}
	if f.HeadApp != "" {
		words, err := split("--head-app", f.HeadApp)
		if err != nil {
			return head, err
		}
		head.Command = words
	}
	if f.HeadDir != "" {
		head.Dir = f.HeadDir
	}
	if f.URL != "" {
		head.URL = f.URL
	}
	head.Node = head.Node || f.NodeMetrics
	return head, nil
}

// base is the second arm, nil where there is none.
func (f *appFlags) base(configured *app.Config, head app.Config) (*app.Config, error) {
	if f.BaseApp == "" && (configured == nil || f.URL != "" && f.HeadApp == "") {
		return nil, f.unused("there is no second arm without --base-app", "--base-dir", f.BaseDir)
	}
	base := head
	if configured != nil {
		base = *configured
	}
	if f.BaseApp != "" {
		words, err := split("--base-app", f.BaseApp)
		if err != nil {
			return nil, err
		}
		base.Command = words
	}
	if f.BaseDir != "" {
		base.Dir = f.BaseDir
	}
	if f.URL != "" {
		base.URL = f.URL
	}
	base.Node = base.Node || f.NodeMetrics
	return &base, nil
}

// unused is the error for a flag that would do nothing.
func (f *appFlags) unused(why, flag, value string) error {
	if value == "" {
		return nil
	}
	return fmt.Errorf("%s has no use here: %s", flag, why)
}

func split(flag, text string) ([]string, error) {
	words, err := shellwords.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", flag, text, err)
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%s is empty", flag)
	}
	return words, nil
}

// ourName as a command's program is this very executable, wherever it lies.
const ourName = "ddpgate"

// address completes where an app answers: its URL, and in its environment the port and root URL that a Meteor app goes by.
func address(a *app.Config) error {
	if len(a.Command) == 0 {
		return nil
	}
	if a.Command[0] == ourName {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		if a.URL == "" {
			if a.URL, err = ownURL(a.Command[1:]); err != nil {
				return err
			}
		}
		a.Command = append([]string{self}, a.Command[1:]...)
	}
	if a.URL == "" {
		a.URL = usualURL
	}
	at, err := url.Parse(a.URL)
	if err != nil {
		return nil // Validate says it better
	}
	env := map[string]string{"ROOT_URL": a.URL}
	if port := at.Port(); port != "" {
		env["PORT"] = port
	}
	maps.Copy(env, a.Env)
	a.Env = env
	return nil
}

// ownURL is where ddpgate serve answers when it is given these arguments: at the address that they name, or at a free port.
func ownURL(args []string) (string, error) {
	for i, arg := range args {
		value, found := strings.CutPrefix(arg, "--listen=")
		if arg == "--listen" && i+1 < len(args) {
			value, found = args[i+1], true
		}
		if found {
			return "http://" + value, nil
		}
	}
	port, err := freePort()
	return "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), err
}

// freePort returns a port that nobody listens on. It is below those that systems give to outgoing connections, so that
// none of the load's own connections takes it between two runs.
func freePort() (int, error) {
	const lowest, highest = 20000, 32000
	for range 100 {
		port := lowest + rand.IntN(highest-lowest)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		return port, l.Close()
	}
	return 0, errors.New("no free port between 20000 and 32000")
}
