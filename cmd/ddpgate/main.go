// Ddpgate measures a Meteor app under load and fails when it got worse. See docs/ for its commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/ddpgate/ddpgate/app"
)

func main() {
	if code, ok := app.Guard(os.Args); ok {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait
	c := command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv}
	code := c.Main(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
