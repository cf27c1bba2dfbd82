package lambdatest

import (
	"bytes"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A sandbox is one copy of the worker. It does one invocation at a time, and stays for the next.
type sandbox struct {
	id     string
	region string
	l      *Lambda
	cmd    *exec.Cmd
	next   chan *invocation
	gone   chan struct{} // closed when its process has ended

	mu      sync.Mutex
	current *invocation
	doomed  *outcome // why it is killed, where it is
	stderr  bytes.Buffer
}

// An invocation is one delivery of an event to a worker.
type invocation struct {
	id       string
	event    []byte
	fault    Fault
	deadline time.Time
	answer   *answer
	then     *answer // of another delivery, which the caller is told after this one's
}

// An outcome is how an invocation ended; the zero value is well.
type outcome struct{ kind, message string }

// An answer is what a worker answers, as it comes. It is safe for concurrent use.
type answer struct {
	mu      sync.Mutex
	content []byte
	ended   bool
	outcome outcome
	more    chan struct{} // closed, and made anew, when there is more to know
	most    int           // bytes, 0 for no limit
}

func newAnswer(most int) *answer { return &answer{more: make(chan struct{}), most: most} }

func (a *answer) add(content []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	if a.most > 0 && len(a.content)+len(content) > a.most {
		a.ended = true
		a.outcome = outcome{"Function.ResponseSizeTooLarge", fmt.Sprintf("Response payload size exceeded maximum allowed payload size (%d bytes).", a.most)}
		close(a.more)
		return
	}
	a.content = append(a.content, content...)
	close(a.more)
	a.more = make(chan struct{})
}

// end notes how the invocation ended; what comes later is not heard.
func (a *answer) end(o outcome) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		a.ended, a.outcome = true, o
		close(a.more)
	}
}

// from returns what came after the first bytes, and when there is more.
func (a *answer) from(seen int) (content []byte, ended bool, o outcome, more <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.content[seen:len(a.content):len(a.content)], a.ended, a.outcome, a.more
}

// admit takes an event for a region, where there is a sandbox for it. The caller must deliver the invocation.
func (l *Lambda) admit(region string, event []byte) (*invocation, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.busy[region] >= l.o.Concurrent {
		return nil, false
	}
	l.busy[region]++
	n := l.count
	l.count++
	i := &invocation{id: fmt.Sprintf("%08d-0000-4000-8000-000000000000", n), event: event, answer: newAnswer(l.o.Response)}
	if l.o.Befall != nil {
		i.fault = l.o.Befall(n, event)
	}
	return i, true
}

// deliver has a sandbox do an invocation, and returns when it is over for the function: there is then room for another.
func (l *Lambda) deliver(region string, i *invocation) {
	defer func() {
		l.mu.Lock()
		l.busy[region]--
		l.mu.Unlock()
	}()
	pause(i.fault.Slow)
	if i.fault.Error != "" {
		i.answer.end(outcome{i.fault.Error, "as the test wants it"})
		return
	}
	s, err := l.sandbox(region)
	if err != nil {
		i.answer.end(outcome{"Runtime.InvalidEntrypoint", err.Error()})
		return
	}
	i.deadline = time.Now().Add(l.o.Timeout)
	s.mu.Lock()
	s.current = i
	s.mu.Unlock()
	select {
	case s.next <- i:
	case <-s.gone:
	}
	s.watch(i)
}

func pause(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
}

// watch waits for an invocation's end, and ends the sandbox where it takes too long.
func (s *sandbox) watch(i *invocation) {
	limit := s.l.o.Timeout
	if i.fault.Stop > 0 {
		limit = i.fault.Stop
	}
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	kill := time.NewTimer(s.l.o.Timeout + time.Hour)
	defer kill.Stop()
	if i.fault.Kill > 0 {
		kill.Reset(i.fault.Kill)
	}
	for seen := 0; ; {
		content, ended, _, more := i.answer.from(seen)
		if ended {
			return
		}
		seen += len(content)
		select {
		case <-more:
		case <-s.gone:
			i.answer.end(*s.doomed)
		case <-timeout.C:
			s.kill(outcome{"Sandbox.Timedout", fmt.Sprintf("RequestId: %s Error: Task timed out after %.2f seconds", i.id, limit.Seconds())})
		case <-kill.C:
			s.kill(outcome{"Runtime.ExitError", fmt.Sprintf("RequestId: %s Error: Runtime exited with error: signal: killed", i.id)})
		}
	}
}

// sandbox returns an idle one, or starts one.
func (l *Lambda) sandbox(region string) (*sandbox, error) {
	l.mu.Lock()
	for _, s := range l.sandboxes {
		s.mu.Lock()
		idle := s.region == region && s.current == nil && s.doomed == nil
		if idle {
			s.current = new(invocation) // taken
		}
		s.mu.Unlock()
		if idle {
			l.mu.Unlock()
			return s, nil
		}
	}
	l.mu.Unlock()
	pause(l.o.Cold)
	return l.start(region)
}

func (l *Lambda) start(region string) (*sandbox, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, fmt.Errorf("the test is over")
	}
	s := &sandbox{
		id: strconv.Itoa(len(l.sandboxes)), region: region, l: l, cmd: exec.Command(l.o.Binary),
		current: new(invocation), next: make(chan *invocation), gone: make(chan struct{}),
	}
	s.cmd.Env = append(s.environ(), "AWS_LAMBDA_RUNTIME_API="+strings.TrimPrefix(l.runtime.URL, "http://")+"/"+s.id)
	s.cmd.Stderr = &s.stderr
	dieWithTest(s.cmd)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	l.sandboxes[s.id] = s
	l.work.Go(s.wait)
	return s, nil
}

// environ is what a function's environment has, and nothing of this process's.
func (s *sandbox) environ() []string {
	env := []string{
		"AWS_REGION=" + s.region, "AWS_DEFAULT_REGION=" + s.region, "AWS_LAMBDA_FUNCTION_NAME=" + Name,
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=" + strconv.Itoa(s.l.o.Memory), "AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand", "AWS_EXECUTION_ENV=AWS_Lambda_provided.al2023",
		"AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret", "AWS_SESSION_TOKEN=token", "TZ=:UTC", "LANG=en_US.UTF-8",
	}
	for name, value := range s.l.o.Env {
		env = append(env, name+"="+value)
	}
	return env
}

// wait tells whoever waits for the sandbox's answer that its process has ended, and says what it wrote where a test failed.
func (s *sandbox) wait() {
	err := s.cmd.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doomed == nil {
		s.doomed = &outcome{"Runtime.ExitError", fmt.Sprintf("Error: Runtime exited with error: %v", err)}
		if err == nil {
			s.doomed.message = "Error: Runtime exited without providing a reason"
		}
	}
	if s.current != nil && s.current.answer != nil {
		s.current.answer.end(*s.doomed)
	}
	close(s.gone)
	if text := strings.TrimSpace(s.stderr.String()); text != "" {
		s.l.t.Logf("worker %s wrote: %s", s.id, text)
	}
}

// kill ends the sandbox's process: what it was doing ended so.
func (s *sandbox) kill(o outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doomed == nil {
		s.doomed = &o
	}
	_ = s.cmd.Process.Kill() // it may have ended
}

// over notes that the worker is done with an invocation.
func (s *sandbox) over(id string, o outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && s.current.id == id {
		s.current.answer.end(o)
		s.current = nil
	}
}

// working returns the invocation that the worker is at.
func (s *sandbox) working(id string) *invocation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && s.current.id == id {
		return s.current
	}
	return nil
}

// Written returns all that workers have written to their logs.
func (l *Lambda) Written() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all strings.Builder
	for _, s := range l.sandboxes {
		select {
		case <-s.gone:
			all.WriteString(s.stderr.String())
		default: // its process still writes
		}
	}
	return all.String()
}
