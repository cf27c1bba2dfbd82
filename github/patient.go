package github

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A patient transport asks again where that may help: after as long as GitHub asks for, or a little longer each time.
// What creates something is asked again only where GitHub surely did not act.
type patient struct{ next http.RoundTripper }

// How patient it is, for one request.
const (
	tries       = 4
	longestWait = time.Minute
	firstPause  = time.Second // doubled each time
)

// RoundTrip implements http.RoundTripper.
func (p *patient) RoundTrip(req *http.Request) (*http.Response, error) {
	for try := 1; ; try++ {
		attempt, err := again(req, try)
		if err != nil {
			return nil, err
		}
		resp, err := p.next.RoundTrip(attempt)
		wait, worth := pause(req, resp, err, try)
		if !worth || try == tries || wait > longestWait {
			return resp, err
		}
		if resp != nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16)) // so that the connection is used again
			resp.Body.Close()
		}
		if err := sleep(req.Context(), wait); err != nil {
			return nil, err
		}
	}
}

// again returns the request with its body from the start.
func again(req *http.Request, try int) (*http.Request, error) {
	if try == 1 || req.Body == nil {
		return req, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	next := req.Clone(req.Context())
	next.Body = body
	return next, nil
}

// pause says whether asking again is worth while, and after how long.
func pause(req *http.Request, resp *http.Response, err error, try int) (time.Duration, bool) {
	if req.Body != nil && req.GetBody == nil {
		return 0, false
	}
	backoff := firstPause << (try - 1)
	repeatable := req.Method != http.MethodPost || strings.HasSuffix(req.URL.Path, "/graphql") // where only questions are put
	switch {
	case err != nil:
		var network net.Error
		return backoff, repeatable && req.Context().Err() == nil && (errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF))
	case limited(resp):
		if asked, ok := askedFor(resp); ok {
			return asked, true
		}
		return backoff, true
	case resp.StatusCode >= 500:
		return backoff, repeatable
	}
	return 0, false
}

// limited says whether an answer is that of a rate limit, in which case GitHub did not act.
// GitHub, "Rate limits for the REST API": 403 or 429, with retry-after or x-ratelimit-remaining: 0.
func limited(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusForbidden:
		return resp.Header.Get("Retry-After") != "" || resp.Header.Get("X-Ratelimit-Remaining") == "0"
	}
	return false
}

// askedFor returns how long GitHub wants to be left alone.
func askedFor(resp *http.Response) (time.Duration, bool) {
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s >= 0 {
		return time.Duration(s) * time.Second, true
	}
	if resp.Header.Get("X-Ratelimit-Remaining") != "0" {
		return 0, false
	}
	reset, err := strconv.ParseInt(resp.Header.Get("X-Ratelimit-Reset"), 10, 64)
	if err != nil {
		return 0, false
	}
	return max(0, time.Until(time.Unix(reset, 0))), true
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
