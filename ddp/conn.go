package ddp

import (
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

// Transport says how messages travel.
type Transport string

// The transports.
const (
	SockJS    Transport = "sockjs" // SockJS over WebSocket, as browsers do
	WebSocket Transport = "websocket"
)

// Compression says what is offered for permessage-deflate.
type Compression string

// The compressions.
const (
	Browser    Compression = "browser" // with context takeover
	NoTakeover Compression = "no-takeover"
	Off        Compression = "off"
)

// Options of a connection. The zero value is a browser's connection.
type Options struct {
	Transport        Transport
	Compression      Compression
	Header           http.Header   // sent with the upgrade: cookies, a staging site's key, another Host
	TLS              *tls.Config   // own certificates, as Trust makes it; nil for the system's. Verification is never skipped
	ReadLimit        int64         // bytes of one message, uncompressed; default 64 MiB
	HandshakeTimeout time.Duration // from dialing until connected; default 10 s
	WriteTimeout     time.Duration // of one frame; default 10 s
	// Each HeartbeatInterval a client that has heard nothing since the last one sends a ping, and gives the connection up
	// when nothing comes within HeartbeatTimeout. Defaults 17.5 s and 15 s, as Meteor's client.
	HeartbeatInterval, HeartbeatTimeout time.Duration

	dial func(ctx context.Context, network, address string) (net.Conn, error) // for tests; nil for the network's
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, otherwise time.Duration) {
		if *d == 0 {
			*d = otherwise
		}
	}
	set(&o.HandshakeTimeout, 10*time.Second)
	set(&o.WriteTimeout, 10*time.Second)
	set(&o.HeartbeatInterval, 17500*time.Millisecond)
	set(&o.HeartbeatTimeout, 15*time.Second)
	if o.ReadLimit == 0 {
		o.ReadLimit = 64 << 20
	}
	if o.Transport == "" {
		o.Transport = SockJS
	}
	if o.Compression == "" {
		o.Compression = Browser
	}
	return o
}

// A Handler is told what comes over a connection, always by the goroutine that called Run. An error ends Run.
type Handler interface {
	// Message is told of every message but pings and pongs. m and its parts are good until it returns.
	Message(m *Message) error
	// Wake is called once at or soon after the time that WakeAt was given.
	Wake(now time.Time) error
}

// A Conn is one DDP connection. All methods but those that say otherwise belong to the goroutine that called Dial and Run;
// a Handler's methods run on it. A write blocks at most for Options.WriteTimeout, and no read waits for anybody but the peer.
type Conn struct {
	// Session is the id that the server gave.
	Session string
	// Bytes counts the payload of frames that came, uncompressed; Odd those that were no DDP message, or of a kind that
	// DDP does not know, and were survived.
	Bytes, Odd int64

	options Options
	version string // of DDP, agreed upon
	sock    socket
	net     net.Conn
	wake    *wakeConn
	handler Handler
	msg     Message
	scratch []byte // of one SockJS message
	out     []byte
	calls   int

	wakeAt    time.Time // the handler's
	woken     error     // why a wake ended the connection
	beatAt    time.Time // next look at whether anything has come; zero for never
	lostAt    time.Time // when a ping has gone unanswered for too long; zero for none that is open
	heard     bool      // since the last look
	closing   bool      // by us; what still comes is dropped
	closeWait time.Time
}

// errOver ends the reading of a connection that we closed.
var errOver = errors.New("closed by this side")

func errTooLarge(limit int64) error { return fmt.Errorf("over the read limit of %d bytes", limit) }

// versions are the DDP versions spoken, best first.
var versions = []string{"1", "pre2", "pre1"}

// handshake are the headers that an upgrade is made of.
var handshake = []string{"Upgrade", "Connection", "Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Extensions", "Sec-Websocket-Protocol"}

func checkHeader(h http.Header) error {
	for _, name := range handshake {
		if _, taken := h[name]; taken {
			return fmt.Errorf("header %s is part of the WebSocket handshake and cannot be set", name)
		}
	}
	return nil
}

// Dial connects to an app, by its address as a browser has it (http or https, with a path prefix if it has one; ws, wss and
// a path that ends in /websocket are understood too), and agrees on a DDP version. The error is a *ConnError, ctx's, or one of the arguments.
func Dial(ctx context.Context, address string, o Options) (*Conn, error) {
	o = o.withDefaults()
	if err := checkHeader(o.Header); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, o.HandshakeTimeout, context.DeadlineExceeded)
	defer cancel()
	version := versions[0]
	for range versions {
		c, pick, err := dialVersion(limited, address, version, o)
		if over := ended(ctx); over != nil && err != nil {
			return nil, over
		}
		if err != nil || pick == "" {
			return c, err
		}
		version = pick
	}
	return nil, &ConnError{Cause: VersionRefused, Reason: version}
}

// ended returns ctx's error. A connection with ctx's deadline may strike a moment before ctx does.
func ended(ctx context.Context) error {
	if deadline, has := ctx.Deadline(); has && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// dialVersion proposes one version. pick is the server's own choice where it is another.
func dialVersion(ctx context.Context, address, version string, o Options) (c *Conn, pick string, err error) {
	target, err := parseAddress(address, o.Transport)
	if err != nil {
		return nil, "", err
	}
	conn, wake, err := dialNet(ctx, target.secure, target.hostPort, target.host, o)
	if err != nil {
		return nil, "", err
	}
	// Closed, and not given a deadline: the libraries set their own and may lift it.
	stop := context.AfterFunc(ctx, func() { wake.Close() })
	defer stop()
	c = &Conn{options: o, net: conn, wake: wake}
	c.sock, err = openSocket(ctx, target.url, o, conn)
	if err == nil {
		pick, err = c.negotiate(version)
	}
	if err != nil || pick != "" {
		conn.Close()
		return nil, pick, stalledIf(ctx, err)
	}
	if !stop() {
		conn.Close()
		return nil, "", stalledIf(ctx, ctx.Err())
	}
	return c, "", conn.SetDeadline(time.Time{})
}

// stalledIf gives an error that came of the dial's time limit its name.
func stalledIf(ctx context.Context, err error) error {
	var known *ConnError
	if errors.As(err, &known) && known.Cause == UpgradeRefused {
		return err
	}
	if err != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return &ConnError{Cause: HandshakeStalled, Err: errors.New("no answer within the time limit")}
	}
	return err
}

func openSocket(ctx context.Context, url string, o Options, conn net.Conn) (socket, error) {
	if o.Compression == Browser {
		return dialTakeover(ctx, url, o, conn)
	}
	return dialGorilla(ctx, url, o, conn)
}

// ParseAddress tells whether an app's address is one that Dial understands, and returns its host and port.
func ParseAddress(address string) (hostPort string, err error) {
	t, err := parseAddress(address, WebSocket)
	return t.hostPort, err
}

type target struct {
	url, host, hostPort string
	secure              bool
}

// parseAddress gives the WebSocket URL of an app's address.
func parseAddress(address string, transport Transport) (target, error) {
	u, err := url.Parse(address)
	if err != nil {
		return target{}, fmt.Errorf("address of the app: %w", err)
	}
	var t target
	switch u.Scheme {
	case "http", "ws":
		u.Scheme = "ws"
	case "https", "wss":
		u.Scheme, t.secure = "wss", true
	default:
		return target{}, fmt.Errorf("address of the app %q: want http://, https://, ws:// or wss://", address)
	}
	if u.Host == "" {
		return target{}, fmt.Errorf("address of the app %q has no host", address)
	}
	port := u.Port()
	if port == "" {
		port = map[bool]string{false: "80", true: "443"}[t.secure]
	}
	prefix := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/websocket"), "/")
	u.Path = prefix + "/websocket"
	if transport == SockJS {
		u.Path = prefix + SockJSPath()
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil
	t.url, t.host, t.hostPort = u.String(), u.Hostname(), net.JoinHostPort(u.Hostname(), port)
	return t, nil
}

// negotiate proposes a version and waits for the answer.
func (c *Conn) negotiate(version string) (pick string, err error) {
	open := c.options.Transport == WebSocket
	if open {
		if err := c.sendConnect(version); err != nil {
			return "", err
		}
	}
	answered := false
	for !answered {
		err := c.frame(func(m *Message) error {
			switch m.Kind {
			case Connected:
				c.Session, c.version, answered = string(m.Session), version, true
			case Failed:
				pick, answered = string(m.Version), true
			}
			return nil
		}, func() error { return c.sendConnect(version) })
		if err != nil && !answered {
			return "", err
		}
	}
	if pick != "" && (pick == version || !known(pick)) {
		return "", &ConnError{Cause: VersionRefused, Reason: pick}
	}
	return pick, nil
}

func known(version string) bool {
	for _, v := range versions {
		if v == version {
			return true
		}
	}
	return false
}

func (c *Conn) sendConnect(version string) error {
	return c.send([]byte(`{"msg":"connect","version":"` + version + `","support":["` + strings.Join(versions, `","`) + `"]}`))
}

// Abandon closes a connection at once that Run is not called for.
func (c *Conn) Abandon() { c.net.Close() }

// Extensions returns the WebSocket extensions that the server agreed to, as it said it; empty for none.
func (c *Conn) Extensions() string { return c.sock.extensions() }

// Subscribe starts a subscription and returns its id. params is a JSON array, nil for none.
func (c *Conn) Subscribe(name string, params []byte) (id string, err error) {
	id = c.newID()
	c.out = append(c.out[:0], `{"msg":"sub","id":"`...)
	c.out = append(c.out, id...)
	c.out = append(c.out, `","name":`...)
	c.out = AppendString(c.out, []byte(name))
	c.out = appendParams(c.out, params)
	return id, c.send(append(c.out, '}'))
}

// Unsubscribe ends a subscription; the server answers with nosub.
func (c *Conn) Unsubscribe(id string) error {
	c.out = append(c.out[:0], `{"msg":"unsub","id":`...)
	c.out = AppendString(c.out, []byte(id))
	return c.send(append(c.out, '}'))
}

// Call calls a method and returns the call's id. params is a JSON array, nil for none.
func (c *Conn) Call(method string, params []byte) (id string, err error) {
	id = c.newID()
	c.out = append(c.out[:0], `{"msg":"method","method":`...)
	c.out = AppendString(c.out, []byte(method))
	c.out = appendParams(c.out, params)
	c.out = append(c.out, `,"id":"`...)
	c.out = append(c.out, id...)
	return id, c.send(append(c.out, `"}`...))
}

func (c *Conn) newID() string {
	c.calls++
	return strconv.Itoa(c.calls)
}

func appendParams(dst, params []byte) []byte {
	dst = append(dst, `,"params":`...)
	if params == nil {
		return append(dst, "[]"...)
	}
	return append(dst, params...)
}

// send sends one message, framed for the transport. The buffer of the last one is used again.
func (c *Conn) send(message []byte) error {
	if c.options.Transport == SockJS {
		c.scratch = AppendSockJS(c.scratch[:0], message)
		message = c.scratch
	}
	return c.sock.text(message)
}
