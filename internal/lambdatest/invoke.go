package lambdatest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

// The published limits of an event, in bytes.
const (
	maxEvent      = 6 << 20
	maxAsyncEvent = 1 << 20
)

// network is what an answer takes at least. The SDK counts on it: it closes a request's body when the answer begins, and where the transport
// has not looked for the body's end by then, it takes that for an error and closes the connection.
const network = 5 * time.Millisecond

func arn(region, name string) string {
	return "arn:aws:lambda:" + region + ":123456789012:function:" + name
}

// invoked answers the Invoke API.
func (l *Lambda) invoked(w http.ResponseWriter, r *http.Request) {
	region := signedFor(r)
	if slices.Contains(l.o.Down, region) {
		reset(w)
		return
	}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/") // VERSION/functions/NAME/OPERATION
	if r.Method != http.MethodPost || len(path) != 4 || path[1] != "functions" {
		l.refuse(w, Call{region, "", http.StatusNotFound, "UnknownOperationException"}, nil)
		return
	}
	c := Call{Region: region, Type: "Stream", Status: http.StatusOK}
	switch {
	case path[3] == "invocations":
		if c.Type = r.Header.Get("X-Amz-Invocation-Type"); c.Type == "" {
			c.Type = "RequestResponse"
		}
	case path[3] != "response-streaming-invocations":
		l.refuse(w, Call{region, "", http.StatusNotFound, "UnknownOperationException"}, nil)
		return
	}
	event, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	pause(network)
	if i := l.take(w, c, path[2], event); i != nil {
		l.answer(w, r, c, i)
	}
}

// take admits an event that is waited for; what is not waited for, or refused, it answers itself.
func (l *Lambda) take(w http.ResponseWriter, c Call, name string, event []byte) *invocation {
	limit := maxEvent
	if c.Type == "Event" {
		limit = maxAsyncEvent
	}
	refuse := func(status int, reason string, body map[string]string) *invocation {
		c.Status, c.Reason = status, reason
		l.refuse(w, c, body)
		return nil
	}
	switch {
	case l.o.Denied:
		return refuse(http.StatusForbidden, "AccessDeniedException", map[string]string{"Message": fmt.Sprintf(
			"User: arn:aws:iam::123456789012:user/tester is not authorized to perform: lambda:InvokeFunction on resource: %s because no identity-based policy allows the lambda:InvokeFunction action", arn(c.Region, name))})
	case name != Name:
		return refuse(http.StatusNotFound, "ResourceNotFoundException", map[string]string{"Type": "User", "Message": "Function not found: " + arn(c.Region, name)})
	case len(event) > limit:
		return refuse(http.StatusRequestEntityTooLarge, "RequestTooLargeException", map[string]string{"Type": "User", "message": fmt.Sprintf(
			"%d byte payload is too large for the %s invocation type (limit %d bytes)", len(event), c.Type, limit)})
	}
	if c.Type == "Event" { // which waits for room
		c.Status = http.StatusAccepted
		l.note(c)
		l.work.Go(func() { l.queue(c.Region, event) })
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	i, ok := l.admit(c.Region, event)
	if !ok {
		w.Header().Set("Retry-After", "1")
		return refuse(http.StatusTooManyRequests, "TooManyRequestsException", map[string]string{"Type": "User", "message": "Rate Exceeded.", "Reason": "ConcurrentInvocationLimitExceeded"})
	}
	return i
}

func (l *Lambda) answer(w http.ResponseWriter, r *http.Request, c Call, i *invocation) {
	l.note(c)
	l.work.Go(func() { l.deliver(c.Region, i) })
	if again, ok := l.again(c.Region, i); ok {
		i.then = again.answer
	}
	if c.Type == "Stream" {
		l.stream(w, r, i)
		return
	}
	l.whole(w, r, i)
}

// again delivers an event a second time, where that befalls it.
func (l *Lambda) again(region string, i *invocation) (*invocation, bool) {
	if !i.fault.Twice {
		return nil, false
	}
	second, ok := l.admit(region, i.event)
	if ok {
		second.fault = Fault{}
		l.work.Go(func() { l.deliver(region, second) })
	}
	return second, ok
}

// queue has an event done as soon as there is room.
func (l *Lambda) queue(region string, event []byte) {
	const every = 20 * time.Millisecond
	for {
		if i, ok := l.admit(region, event); ok {
			l.again(region, i)
			l.deliver(region, i)
			return
		}
		l.mu.Lock()
		closed := l.closed
		l.mu.Unlock()
		if closed {
			return
		}
		pause(every)
	}
}

// whole answers when the function has.
func (l *Lambda) whole(w http.ResponseWriter, r *http.Request, i *invocation) {
	for {
		content, ended, o, more := i.answer.from(0)
		if !ended {
			select {
			case <-more:
				continue
			case <-r.Context().Done():
				return
			}
		}
		w.Header().Set("X-Amz-Executed-Version", "$LATEST")
		if o != (outcome{}) {
			w.Header().Set("X-Amz-Function-Error", "Unhandled")
			content, _ = json.Marshal(map[string]string{"errorType": o.kind, "errorMessage": o.message})
		}
		_, _ = w.Write(content)
		return
	}
}

// stream answers as the function does, in the framing of event streams.
func (l *Lambda) stream(w http.ResponseWriter, r *http.Request, i *invocation) {
	w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	w.Header().Set("X-Amz-Executed-Version", "$LATEST")
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	_ = out.Flush()
	for seen := 0; ; {
		content, ended, o, more := i.answer.from(seen)
		if cut := i.fault.Cut; cut > 0 && seen+len(content) > cut {
			content = content[:max(0, cut-seen)]
			_ = frame(w, "PayloadChunk", "application/octet-stream", content)
			_ = out.Flush()
			reset(w)
			return
		}
		if seen += len(content); len(content) > 0 && frame(w, "PayloadChunk", "application/octet-stream", content) != nil {
			return
		}
		if ended && i.then != nil {
			i, seen = &invocation{answer: i.then}, 0
			continue
		}
		if ended {
			end := make(map[string]string)
			if o != (outcome{}) {
				end["ErrorCode"], end["ErrorDetails"] = o.kind, o.message
			}
			text, _ := json.Marshal(end)
			_ = frame(w, "InvokeComplete", "application/json", text)
			return
		}
		_ = out.Flush()
		select {
		case <-more:
		case <-r.Context().Done():
			return
		}
	}
}

func frame(w io.Writer, kind, content string, payload []byte) error {
	var m eventstream.Message
	m.Headers.Set(":message-type", eventstream.StringValue("event"))
	m.Headers.Set(":event-type", eventstream.StringValue(kind))
	m.Headers.Set(":content-type", eventstream.StringValue(content))
	m.Payload = payload
	return eventstream.NewEncoder().Encode(w, m)
}

// refuse answers with an error of the Invoke API.
func (l *Lambda) refuse(w http.ResponseWriter, c Call, body map[string]string) {
	l.note(c)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Errortype", c.Reason)
	w.WriteHeader(c.Status)
	_ = json.NewEncoder(w).Encode(body)
}

func (l *Lambda) note(c Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, c)
}

// signedFor returns the region that a request is signed for.
func signedFor(r *http.Request) string {
	_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if parts := strings.Split(scope, "/"); len(parts) > 3 { // KEY/DATE/REGION/lambda/aws4_request
		return parts[2]
	}
	return ""
}

// reset ends a connection as a network does that is gone.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, is := conn.(*net.TCPConn); is {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
