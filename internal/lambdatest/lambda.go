// Package lambdatest is an AWS Lambda for tests: it speaks the Invoke API to the real SDK and the Runtime API to real workers, which
// it runs as processes, and fails on request as Lambda does.
//
// It is written after the API references of AWS Lambda (Invoke, InvokeWithResponseStream, Runtime API) and takes what they leave open from
// the SDK's own types.
package lambdatest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Options say what the function is, and what befalls it. The zero value of each is the usual.
type Options struct {
	Binary  string            // of the worker, see Build
	Env     map[string]string // of the function
	Timeout time.Duration     // of one invocation; 15 minutes
	Memory  int               // MB; 1769

	Concurrent int           // invocations at a time, in each region; 1000
	Cold       time.Duration // before a sandbox's process is started
	Response   int           // bytes that an invocation may answer with; no limit
	Denied     bool          // the caller may not invoke the function
	Down       []string      // regions whose connections are reset

	// Befall says what befalls an invocation, counted from 0 as they are accepted, by the event that it was given.
	Befall func(n int, event []byte) Fault
}

// A Fault is what befalls one invocation. The zero value is nothing.
type Fault struct {
	Slow  time.Duration // before the worker is handed the event
	Kill  time.Duration // after which the sandbox is killed; 0 for never
	Stop  time.Duration // after which the sandbox is stopped as one whose time is over, earlier than it was told; 0 for never
	Cut   int           // bytes of the answer after which the caller's connection is dead; 0 for never. The function goes on
	Twice bool          // the event is delivered to another sandbox too; of a synchronous one the caller is told what both answer
	// Error, where set, is what the function fails with: the worker never sees the event.
	Error string
}

// Name is the name of the function, in each region.
const Name = "ddpgate-worker"

// A Lambda is one that runs. It and its workers end with the test.
type Lambda struct {
	t       testing.TB
	o       Options
	server  *httptest.Server
	runtime *httptest.Server

	work sync.WaitGroup // asynchronous invocations, and those that watch sandboxes

	mu        sync.Mutex
	closed    bool
	count     int
	sandboxes map[string]*sandbox
	busy      map[string]int // by region
	calls     []Call
}

// A Call is one answered call of the Invoke API.
type Call struct {
	Region string
	Type   string // RequestResponse, Event or Stream
	Status int
	Reason string // the error's type, where the status is one
}

// Start runs a Lambda, and points the environment of the test at it.
func Start(t testing.TB, o Options) *Lambda {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = 15 * time.Minute
	}
	if o.Memory == 0 {
		o.Memory = 1769
	}
	if o.Concurrent == 0 {
		o.Concurrent = 1000
	}
	l := &Lambda{t: t, o: o, sandboxes: make(map[string]*sandbox), busy: make(map[string]int)}
	l.server = httptest.NewServer(http.HandlerFunc(l.invoked))
	l.runtime = httptest.NewServer(l.runtimeAPI())
	t.Cleanup(l.close)
	Credentials(t)
	t.Setenv("AWS_ENDPOINT_URL_LAMBDA", l.server.URL)
	return l
}

// Credentials sets the environment of somebody who may do all, and whom nobody else's files tell otherwise.
func Credentials(t testing.TB) {
	none := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "", "AWS_REGION": "eu-west-1", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
}

// Build builds the worker as it is released, but for its version, which is (devel), and returns the binary's path.
func Build(dir string) (string, error) {
	path := filepath.Join(dir, "bootstrap")
	cmd := exec.Command("go", "build", "-tags", "lambda.norpc", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", path,
		"github.com/ddpgate/ddpgate/lambda")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
}

// Calls returns the calls that were answered so far.
func (l *Lambda) Calls() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Call(nil), l.calls...)
}

// Busy returns how many workers are at work.
func (l *Lambda) Busy() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, busy := range l.busy {
		n += busy
	}
	return n
}

// close ends all workers, and waits until they have.
func (l *Lambda) close() {
	l.mu.Lock()
	l.closed = true
	var all []*sandbox
	for _, s := range l.sandboxes {
		all = append(all, s)
	}
	l.mu.Unlock()
	for _, s := range all {
		s.kill(outcome{kind: "Sandbox.Shutdown", message: "the test is over"})
	}
	l.server.CloseClientConnections()
	l.runtime.CloseClientConnections()
	l.work.Wait()
	l.server.Close()
	l.runtime.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections() // which the SDK's client uses
}
