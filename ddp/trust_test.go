package ddp

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// overTLS runs a server whose certificate is for 127.0.0.1 and no authority's, and returns it with the certificate.
func overTLS(t *testing.T, handler http.HandlerFunc) (address string, certificate []byte) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that the client gave up
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func TestTLS(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.String(), func(t *testing.T) {
			address, certificate := overTLS(t, func(rw http.ResponseWriter, r *http.Request) {
				ws, err := upgrade(rw, r, w.extension())
				if err != nil {
					return // the client did not like the certificate
				}
				defer ws.Close()
				if err := ws.greet(w.transport); err != nil {
					t.Error(err)
				}
				answerPings(ws, w.transport, 5)
				if err := ws.bye(); err != nil {
					t.Error(err)
				}
			})
			trust, err := Trust(certificate)
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Transport: w.transport, Compression: w.compression, TLS: trust, HeartbeatInterval: 5 * time.Millisecond}
			for _, a := range []string{address, strings.Replace(address, "https", "wss", 1) + "/websocket"} {
				c, err := Dial(t.Context(), a, o)
				if err != nil {
					t.Fatal(err)
				}
				// Each ping comes of a wake within a read: the connection must go on after it.
				if err := c.Run(t.Context(), told{}); !endedWith(err, Closed) {
					t.Errorf("%s: got %v, want %s", a, err, Closed)
				}
			}
			for what, config := range map[string]*tls.Config{
				"unknown authority":    nil,
				"verification forgone": {InsecureSkipVerify: true},
				"another host's":       {RootCAs: trust.RootCAs, ServerName: "app.test"},
			} {
				o.TLS = config
				c, err := Dial(t.Context(), address, o)
				if err == nil {
					c.Abandon()
				}
				if !endedWith(err, NotTrusted) || !strings.HasPrefix(fmt.Sprint(err), "certificate: ") {
					t.Errorf("%s: got %v, want %s", what, err, NotTrusted)
				}
			}
		})
	}
}

// answerPings answers the client's pings, and returns after n.
func answerPings(ws *peer, transport Transport, n int) {
	for range n {
		if _, err := ws.receive(transport); err != nil {
			return
		}
		if err := ws.send(transport, `{"msg":"pong"}`); err != nil {
			return
		}
	}
}

func TestTrustNeedsACertificate(t *testing.T) {
	for _, text := range []string{"", "not PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"} {
		if config, err := Trust([]byte(text)); err == nil {
			t.Errorf("%q: got %v, want an error", text, config)
		}
	}
}

// A server that speaks no TLS is not taken for a slow one.
func TestNoTLS(t *testing.T) {
	n := overTCP(t, http.NotFoundHandler())
	dialAll(t, strings.Replace(n.address, "http", "https", 1), Options{}, ConnError{Cause: NotTrusted})
}

func TestHeader(t *testing.T) {
	header := http.Header{"Cookie": {"a=1; b=2"}, "X-Staging-Key": {"one", "two"}, "Host": {"staging.test"}}
	for _, w := range ways() {
		var got *http.Request
		n := overTCP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			got = r
			rw.WriteHeader(http.StatusTeapot)
		}))
		_, err := Dial(t.Context(), n.address, Options{Transport: w.transport, Compression: w.compression, Header: header})
		if !endedWith(err, UpgradeRefused) {
			t.Fatalf("%v: got %v", w, err)
		}
		for name := range header {
			want := fmt.Sprint(header[name])
			if have := fmt.Sprint(got.Header[name]); name != "Host" && have != want {
				t.Errorf("%v: got %s %s, want %s", w, name, have, want)
			}
		}
		if got.Host != "staging.test" {
			t.Errorf("%v: got host %s, want staging.test", w, got.Host)
		}
		if cookie, err := got.Cookie("b"); err != nil || cookie.Value != "2" {
			t.Errorf("%v: got cookie %v, %v", w, cookie, err)
		}
	}
	_, err := Dial(t.Context(), "http://127.0.0.1:1", Options{Header: http.Header{"Upgrade": {"h2c"}}})
	if err == nil || !strings.Contains(err.Error(), "header Upgrade") {
		t.Errorf("got %v, want the header named", err)
	}
}

func TestIPv6(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6: %v", err)
	}
	serve(t, l, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ws, err := upgrade(rw, r, "")
		if err != nil {
			t.Error(err)
			return
		}
		defer ws.Close()
		if err := ws.greet(SockJS); err != nil {
			t.Error(err)
		}
		ws.drain()
	}))
	c, err := Dial(t.Context(), "http://"+l.Addr().String(), Options{Compression: Off})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := c.Run(t.Context(), told{}); err != nil {
		t.Error(err)
	}
}
