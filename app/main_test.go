//go:build unix

package app

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary plays the processes too: PLAY says which.
func TestMain(m *testing.M) {
	if os.Getenv("UNGUARDED") == "" {
		if code, ok := Guard(os.Args); ok {
			os.Exit(code)
		}
	}
	if part := os.Getenv("PLAY"); part != "" {
		os.Exit(play(part))
	}
	// A guard is this binary too, and under the race detector each one would wait a second before it exits.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	goleak.VerifyTestMain(m)
}

// play is one of the processes that the tests start.
func play(part string) int {
	switch part {
	case "serve":
		return serve()
	case "die":
		fmt.Println("to stdout")
		fmt.Fprintln(os.Stderr, "to stderr")
		fmt.Print("cannot go on")
		code, _ := strconv.Atoi(os.Getenv("CODE"))
		return code
	case "mute":
		fmt.Println("thinking")
		register()
		select {}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		register()
		select {}
	case "parent":
		return parent()
	case "tool":
		return tool()
	case "starter":
		return starter()
	}
	return 99
}

// register tells the test that this process is there. The connection is open until the process has ended.
func register() net.Conn {
	at := os.Getenv("REGISTER")
	if at == "" {
		return nil
	}
	conn, err := net.Dial("unix", at)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(conn, cmp.Or(os.Getenv("NAME"), os.Getenv("PLAY")), os.Getpid())
	return conn
}

// serve is an app: it answers at ADDR with STATUS, ends with a path's status, and notes its signals.
func serve() int {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if os.Getenv("FAMILY") != "" {
		haveFamily()
	}
	ln, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	conn := register()
	fmt.Println("listening")
	go http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if code, found := strings.CutPrefix(r.URL.Path, "/exit/"); found {
			n, _ := strconv.Atoi(code)
			fmt.Printf("asked to exit\nwith %d", n)
			os.Exit(n)
		}
		status, _ := strconv.Atoi(cmp.Or(os.Getenv("STATUS"), "200"))
		w.WriteHeader(status)
	}))
	s := <-signals
	if conn != nil {
		fmt.Fprintln(conn, s)
	}
	return 0
}

// haveFamily starts a child, one in a session of its own, and one that is orphaned at once in a session of its own.
func haveFamily() {
	child(false, "PLAY=mute", "NAME=child")
	child(true, "PLAY=stubborn", "NAME=session")
	_ = child(true, "PLAY=parent").Wait()
}

// parent leaves a child behind.
func parent() int {
	child(true, "PLAY=mute", "NAME=orphan")
	return 0
}

// tool is like meteor run: it answers itself, and has started the app that it built.
func tool() int {
	build := exec.Command(os.Args[0], "--no-wasm", os.TempDir()+"/.meteor/local/build/main.js")
	build.Env = append(os.Environ(), "PLAY=mute", "NAME=build")
	if err := build.Start(); err != nil {
		panic(err)
	}
	return serve()
}

func child(session bool, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd
}

// starter is a program that starts the app in CONFIG, and stops it when it is interrupted.
func starter() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var c Config
	if err := json.Unmarshal([]byte(os.Getenv("CONFIG")), &c); err != nil {
		panic(err)
	}
	a, err := Start(ctx, c, Options{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	os.Unsetenv("NAME")
	register()
	<-ctx.Done()
	if err := a.Stop(context.Background()); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// patience is how long a test waits for what must happen.
const patience = 60 * time.Second

// A cast is the processes that have told that they are there.
type cast struct {
	t  *testing.T
	at string
	ln net.Listener
	in map[string]*actor
}

// An actor is one process.
type actor struct {
	pid  int
	conn net.Conn
	said *bufio.Reader
}

func newCast(t *testing.T) *cast {
	t.Helper()
	dir, err := os.MkdirTemp("", "cast") // t.TempDir may be too long for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	at := dir + "/s"
	ln, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	c := &cast{t: t, at: at, ln: ln, in: make(map[string]*actor)}
	t.Cleanup(func() {
		ln.Close()
		os.RemoveAll(dir)
		for _, a := range c.in {
			a.conn.Close()
		}
	})
	return c
}

// enter waits until a process of that name is there.
func (c *cast) enter(name string) *actor {
	c.t.Helper()
	c.ln.(*net.UnixListener).SetDeadline(time.Now().Add(patience))
	for c.in[name] == nil {
		conn, err := c.ln.Accept()
		if err != nil {
			c.t.Fatalf("%s did not come: %v", name, err)
		}
		a := &actor{conn: conn, said: bufio.NewReader(conn)}
		var who string
		if _, err := fmt.Fscanln(a.said, &who, &a.pid); err != nil {
			c.t.Fatal(err)
		}
		c.in[who] = a
	}
	return c.in[name]
}

// leave waits until the process of that name, which has entered, has ended, and returns what it said.
func (c *cast) leave(name string) string {
	c.t.Helper()
	a := c.enter(name)
	a.conn.SetReadDeadline(time.Now().Add(patience))
	said, err := io.ReadAll(a.said)
	if e, ok := err.(net.Error); ok && e.Timeout() {
		c.t.Errorf("%s (process %d) is still there", name, a.pid)
	}
	return strings.TrimSpace(string(said))
}

// present tells whether a process that has entered is still there.
func (a *actor) present() bool {
	return syscall.Kill(a.pid, 0) == nil
}

// freeAddr is an address where nothing listens.
func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// exe is this test binary.
func exe(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// serving is an app that serves at a free address.
func serving(t *testing.T, c *cast, env ...string) Config {
	t.Helper()
	addr := freeAddr(t)
	conf := Config{
		Command: []string{exe(t)},
		URL:     "http://" + addr,
		Env:     map[string]string{"PLAY": "serve", "ADDR": addr},
		Ready:   patience,
	}
	if c != nil {
		conf.Env["REGISTER"] = c.at
	}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		conf.Env[k] = v
	}
	return conf
}

// started starts an app and stops it when the test ends.
func started(t *testing.T, c Config, o Options) *App {
	t.Helper()
	a, err := Start(t.Context(), c, o)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Errorf("Stop: %v", err)
		}
	})
	return a
}

// eventually asks again until it is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !so() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("not so after %v: %s", patience, what)
		}
	}
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
