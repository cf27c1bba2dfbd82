package runner

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/ddpgate/ddpgate/app"
	"github.com/ddpgate/ddpgate/internal/tasksapp"
)

// serveTasks as the first argument makes the test binary the app that the tests measure.
const serveTasks = "serve-tasks"

func TestMain(m *testing.M) {
	if code, ok := app.Guard(os.Args); ok {
		os.Exit(code)
	}
	if len(os.Args) == 4 && os.Args[1] == serveTasks {
		os.Exit(serve(os.Args[2], os.Args[3]))
	}
	goleak.VerifyTestMain(m)
}

// serve is the tasks app at an address; it crashes at the session with that number, 0 for never.
func serve(address, crashAt string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	n, err := strconv.Atoi(crashAt)
	if err != nil {
		return 2
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	fmt.Println("serving at", address)
	if err := tasksapp.New(tasksapp.Options{CrashAt: n}).Serve(ctx, listener); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 7
	}
	return 0
}
