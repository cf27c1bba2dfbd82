package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/ddpgate/ddpgate/meter"
)

// agentCmd serves what an app on this host uses to a ddpgate on another one.
type agentCmd struct {
	Listen    string `default:"127.0.0.1:9464" placeholder:"HOST:PORT" help:"Where to listen. Beyond this machine only with a token."`
	PID       int    `name:"pid" placeholder:"N" help:"Serve a process and all that descends from it." xor:"what"`
	Cgroup    string `placeholder:"DIR" help:"Serve a control group, by its directory." xor:"what"`
	Container string `placeholder:"NAME" help:"Serve a container, by Docker's API at DOCKER_HOST." xor:"what"`
}

// agentToken is where an agent and who asks it find their bearer token.
const agentToken = "DDPGATE_AGENT_TOKEN"

func (a *agentCmd) run(ctx context.Context, c *command) (int, error) {
	token := c.Env(agentToken)
	if err := a.check(token); err != nil {
		return 0, usage(err)
	}
	target, err := a.target(ctx, c.Env)
	if err != nil {
		return 0, err
	}
	agent, err := meter.NewAgent(ctx, target, token)
	if err != nil {
		return 0, err
	}
	defer agent.Close()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", a.Listen)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(c.Stdout, "serving http://%s/metrics\n", listener.Addr())
	return exitPass, serveUntil(ctx, listener, agent)
}

// check refuses what would show figures to a network without a token.
func (a *agentCmd) check(token string) error {
	if a.PID == 0 && a.Cgroup == "" && a.Container == "" {
		return errors.New("give one of --pid, --cgroup and --container")
	}
	host, _, err := net.SplitHostPort(a.Listen)
	if err != nil {
		return fmt.Errorf("--listen %q: %w", a.Listen, err)
	}
	if ip := net.ParseIP(host); token == "" && host != "localhost" && !ip.IsLoopback() {
		return fmt.Errorf("--listen %s can be reached from elsewhere: set a token in %s", a.Listen, agentToken)
	}
	return nil
}

func (a *agentCmd) target(ctx context.Context, env func(string) string) (meter.Target, error) {
	switch {
	case a.PID != 0:
		return meter.Target{PID: a.PID}, nil
	case a.Cgroup != "":
		return meter.Target{Groups: []string{a.Cgroup}}, nil
	}
	docker, err := meter.NewDocker(env("DOCKER_HOST"))
	if err != nil {
		return meter.Target{}, err
	}
	found, err := docker.Container(ctx, a.Container)
	if err != nil {
		return meter.Target{}, err
	}
	return found.Target("app")
}

// serveUntil serves until ctx is done.
func serveUntil(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
