package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

// A Function is a place in AWS Lambda: each job is one invocation. Credentials, and the region where none is named, come from where AWS's own
// tools take them.
type Function struct {
	Name   string // or ARN, with :QUALIFIER where it has one
	In     string // region; empty for the environment's
	Memory int    // MB that the function has, for the plan's cost; 0 for what the template gives it

	mu     sync.Mutex
	config *aws.Config // read at the first call
}

// The published limits of AWS Lambda, and prices of arm64 in us-east-1. Of 1,024 descriptors some are the runtime's own.
const (
	functionTime    = 15 * time.Minute
	functionSockets = 900
	concurrent      = 1000
	syncEvent       = 6 << 20
	asyncEvent      = 256 << 10
	perGBs          = 0.0000133334
	perInvoke       = 0.0000002

	// DefaultMemory is what the template gives a function, in MB: one whole processor.
	DefaultMemory = 1769
)

// Region is where the function is; before the first job, only where it was named.
func (f *Function) Region() string {
	if f.In == "" {
		return "aws"
	}
	return f.In
}

// Lead is enough for functions to be started first.
func (f *Function) Lead() time.Duration { return 5 * time.Second }

func (f *Function) String() string {
	if f.In == "" {
		return "lambda:" + f.Name
	}
	return "lambda:" + f.In + "/" + f.Name
}

// Limits are those of AWS Lambda, as they are by default.
func (f *Function) Limits() Limits {
	memory := f.Memory
	if memory == 0 {
		memory = DefaultMemory
	}
	return Limits{
		Sockets: functionSockets, Length: functionTime, Concurrent: concurrent, Event: syncEvent, AsyncEvent: asyncEvent,
		Memory: memory, PerGBs: perGBs, PerInvoke: perInvoke,
	}
}

// open returns a client for one call, since the streams of one client share a buffer without a lock (smithy-go v1.28.9). It tries nothing
// twice: a job that is handed out again may be done twice.
func (f *Function) open(ctx context.Context) (*lambda.Client, error) {
	cfg, err := f.configured(ctx)
	if err != nil {
		return nil, err
	}
	return lambda.NewFromConfig(*cfg, func(o *lambda.Options) {
		o.Retryer = aws.NopRetryer{}
		calls := http.DefaultTransport.(*http.Transport).Clone()
		calls.DisableKeepAlives = true                // a call takes as long as its load
		o.HTTPClient = &http.Client{Transport: calls} // without a time limit of its own: a job's context has one
	}), nil
}

// configured returns what AWS's own tools go by.
func (f *Function) configured(ctx context.Context) (*aws.Config, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.config != nil {
		return f.config, nil
	}
	var options []func(*config.LoadOptions) error
	if f.In != "" {
		options = append(options, config.WithRegion(f.In))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, err
	}
	if cfg.Region == "" {
		return nil, unfit(errors.New("no region: name one as lambda:REGION/FUNCTION, or set AWS_REGION"))
	}
	if _, err := cfg.Credentials.Retrieve(ctx); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		return nil, unfit(fmt.Errorf("no credentials: %w", err))
	}
	f.config = &cfg
	return f.config, nil
}

// Invoke calls the function and returns what it streams.
func (f *Function) Invoke(ctx context.Context, job []byte) (io.ReadCloser, error) {
	client, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	out, err := client.InvokeWithResponseStream(ctx, &lambda.InvokeWithResponseStreamInput{FunctionName: &f.Name, Payload: job})
	if err != nil {
		return nil, f.refused(err)
	}
	return &stream{events: out.GetStream()}, nil
}

// Send puts a job into the function's queue.
func (f *Function) Send(ctx context.Context, job []byte) error {
	client, err := f.open(ctx)
	if err != nil {
		return err
	}
	_, err = client.Invoke(ctx, &lambda.InvokeInput{FunctionName: &f.Name, Payload: job, InvocationType: types.InvocationTypeEvent})
	return f.refused(err)
}

// refused says which call failed, and whether it may be tried again.
func (f *Function) refused(err error) error {
	if err == nil {
		return nil
	}
	if busy := new(types.TooManyRequestsException); errors.As(err, &busy) {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	if calledWrong(err) {
		return unfit(err)
	}
	if answer := new(awshttp.ResponseError); !errors.As(err, &answer) {
		return fmt.Errorf("%w: %w", ErrLost, err) // whether the call came there nobody knows
	}
	return err
}

// A stream reads the payload of a response stream.
type stream struct {
	events *lambda.InvokeWithResponseStreamEventStream
	rest   []byte
	done   bool
	failed error
}

func (s *stream) Read(into []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.done {
			return 0, s.end()
		}
		s.next()
	}
	n := copy(into, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next takes in one event.
func (s *stream) next() {
	event, open := <-s.events.Events()
	if !open {
		s.done = true
		s.failed = fmt.Errorf("%w: %w", ErrLost, cmp.Or(s.events.Err(), io.ErrUnexpectedEOF))
		return
	}
	switch e := event.(type) {
	case *types.InvokeWithResponseStreamResponseEventMemberPayloadChunk:
		s.rest = e.Value.Payload
	case *types.InvokeWithResponseStreamResponseEventMemberInvokeComplete:
		s.done = true
		if code := aws.ToString(e.Value.ErrorCode); code != "" {
			s.failed = fmt.Errorf("the function failed: %s: %s", code, aws.ToString(e.Value.ErrorDetails))
		}
	}
}

func (s *stream) end() error {
	if s.failed != nil {
		return s.failed
	}
	return io.EOF
}

// Close ends the stream. What the function does it cannot end.
func (s *stream) Close() error { return s.events.Close() }
