package app

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	pollEvery = 20 * time.Millisecond // the resolution of the start-up time
	pollLimit = 10 * time.Second      // of one try
)

// A probe finds out whether something is ready. The error says what it found instead.
type probe struct {
	address string // HOST:PORT, empty when there is nothing to ask
	url     string // asked by GET when set
	header  http.Header
	tls     *tls.Config
}

// httpProbe reads an app's or a service's URL.
func httpProbe(raw string) (probe, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return probe{}, errors.Unwrap(err)
	}
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	if port == "" || u.Hostname() == "" {
		return probe{}, errors.New("want http://HOST or https://HOST")
	}
	if u.User != nil {
		return probe{}, errors.New("a name and password in it would be written into the record: send them as a header from the environment (app.headers)")
	}
	if u.Port() != "" {
		port = u.Port()
	}
	return probe{address: net.JoinHostPort(u.Hostname(), port), url: raw}, nil
}

// serviceProbe reads Service.Ready.
func serviceProbe(ready string) (probe, error) {
	address, tcp := strings.CutPrefix(ready, "tcp:")
	switch {
	case ready == "":
		return probe{}, nil
	case !tcp:
		p, err := httpProbe(ready)
		if err != nil {
			return probe{}, errors.New("want tcp:PORT, tcp:HOST:PORT or an http URL")
		}
		return p, nil
	}
	address = strings.TrimPrefix(address, "//")
	if !strings.Contains(address, ":") {
		address = "localhost:" + address
	}
	host, port, err := net.SplitHostPort(address)
	if n, perr := net.LookupPort("tcp", port); err != nil || perr != nil || n == 0 || host == "" {
		return probe{}, errors.New("want tcp:PORT or tcp:HOST:PORT")
	}
	return probe{address: address}, nil
}

// taken returns an error when something listens where the process that is about to start should.
func (p probe) taken(ctx context.Context) error {
	if p.address == "" || p.dial(ctx) != nil {
		return nil
	}
	who := cmp.Or(holder(p.port()), "something")
	return fmt.Errorf("%w: %s already listens on %s, and would be measured instead", ErrPortInUse, who, p.address)
}

// port is the number of the port, 0 where there is none.
func (p probe) port() uint64 {
	_, port, _ := net.SplitHostPort(p.address)
	n, _ := strconv.ParseUint(port, 10, 16)
	return n
}

func (p probe) dial(ctx context.Context) error {
	d := net.Dialer{Timeout: pollLimit}
	conn, err := d.DialContext(ctx, "tcp", p.address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// try asks once.
func (p probe) try(ctx context.Context) error {
	switch {
	case p.address == "":
		return nil
	case p.url == "":
		return p.dial(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, pollLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
	if err != nil {
		return err
	}
	for name, values := range p.header {
		req.Header[name] = values
	}
	client := http.Client{
		// A connection that is kept would be one that no session made.
		Transport:     &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment, TLSClientConfig: p.tls.Clone()},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	if res.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("%s answered %s", p.url, res.Status)
	}
	return nil
}

// wait asks until it is ready. It gives up with ErrNeverReady after the limit, with ErrDied when ended is closed, and
// with ctx.
func (p probe) wait(ctx context.Context, limit time.Duration, ended <-chan struct{}) error {
	asking, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-ended:
			cancel() // a try under way would only end at its own limit
		case <-asking.Done():
		}
	}()
	err := p.poll(asking)
	cancel()
	<-watched
	select {
	case <-ended:
		return ErrDied // whatever answers, it is something else
	default:
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w within %v: %w", ErrNeverReady, limit, err)
}

// poll returns nil at the first good answer, else the last try's own error when ctx is done.
func (p probe) poll(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var last error
	for {
		err := p.try(ctx)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return last
		case <-tick.C:
		}
	}
}
