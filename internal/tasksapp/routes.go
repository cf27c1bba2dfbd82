package tasksapp

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/gorilla/websocket"
)

// maxIncoming is the longest message that a client may send, in bytes.
const maxIncoming = 1 << 20

// routes has the paths of a Meteor server: SockJS under its prefix, its raw transport also at the root.
func routes(s *Server) http.Handler {
	upgrader := &websocket.Upgrader{
		ReadBufferSize:    1024,
		WriteBufferSize:   256, // for the handshake; after it, the outbox writes
		EnableCompression: true,
		CheckOrigin:       func(*http.Request) bool { return true },
	}
	raw := func(w http.ResponseWriter, r *http.Request) { s.upgrade(upgrader, w, r, false) }
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "tasks\n") })
	mux.HandleFunc("GET /websocket", raw)
	mux.HandleFunc("GET /websocket/{$}", raw)
	mux.HandleFunc("GET /sockjs/websocket", raw)
	mux.HandleFunc("GET /sockjs/info", info)
	mux.HandleFunc("GET /sockjs/{server}/{session}/websocket", func(w http.ResponseWriter, r *http.Request) {
		if strings.ContainsRune(r.PathValue("server")+r.PathValue("session"), '.') {
			http.NotFound(w, r)
			return
		}
		s.upgrade(upgrader, w, r, true)
	})
	return mux
}

// info answers what a SockJS client asks before it chooses a transport.
func info(w http.ResponseWriter, _ *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "application/json; charset=UTF-8")
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Cache-Control", "no-store, no-cache, no-transform, must-revalidate, max-age=0")
	fmt.Fprintf(w, `{"websocket":true,"origins":["*:*"],"cookie_needed":false,"entropy":%d}`, rand.Uint32())
}

func (s *Server) upgrade(u *websocket.Upgrader, w http.ResponseWriter, r *http.Request, sockjs bool) {
	ws, err := u.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	defer ws.Close()
	ws.SetReadLimit(maxIncoming)
	wire := wire{sockjs: sockjs}
	if offersDeflate(r.Header) {
		wire.deflater = s.deflater
	}
	c := newConn(s, ws, wire)
	if s.join(c) {
		defer s.leave(c)
		c.serve(r.Context())
	}
}

// offersDeflate tells whether the client offers permessage-deflate, which the upgrader then accepts.
func offersDeflate(h http.Header) bool {
	for _, offers := range h.Values("Sec-WebSocket-Extensions") {
		for offer := range strings.SplitSeq(offers, ",") {
			name, _, _ := strings.Cut(offer, ";")
			if strings.TrimSpace(name) == "permessage-deflate" {
				return true
			}
		}
	}
	return false
}
