package httpguard

import (
	"context"
	"log"
	"net"
	"net/http"
	"strings"
	"time"
)

// How long a client may take.
const (
	HeadLimit = 10 * time.Second // for the head of a request
	IdleLimit = 2 * time.Minute  // between two requests

	headSize = 16 << 10 // of the head, in bytes; net/http adds 4 KiB

	// writeLimit bounds how long a client may take to read what it is sent: a message,
	// not a stream, which may be silent for hours.
	writeLimit = 30 * time.Second
)

// NewServer returns a server of HTTP/1.1 for the connections of a [ConnLimiter]: there a
// connection carries one request at a time, so the limit of connections is one of
// requests too. base is the context of all requests.
func NewServer(base context.Context, h http.Handler, log *log.Logger) *http.Server {
	s := &http.Server{
		Handler:                      h,
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            HeadLimit,
		IdleTimeout:                  IdleLimit,
		MaxHeaderBytes:               headSize,
		ErrorLog:                     log,
		BaseContext:                  func(net.Listener) context.Context { return base },
		ConnContext:                  WithConn,
		ConnState:                    TrackState,
		Protocols:                    &http.Protocols{},
	}
	s.Protocols.SetHTTP1(true)
	return s
}

// IsPath reports whether the target of a request is a path, and not a whole address as a
// proxy takes it.
func IsPath(r *http.Request) bool { return r.URL.Host == "" && strings.HasPrefix(r.RequestURI, "/") }

// LimitRead bounds how long the rest of the request may take to come, and
// [LimitWrite] the first of the answer to leave. The limits are of the connection, so
// they replace what is left of an earlier request. The writer of a test has none.
func LimitRead(w http.ResponseWriter, limit time.Duration) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(limit))
}

// EndReadLimit ends a limit of [LimitRead] once the request has come. Otherwise net/http
// takes a client that has nothing more to say for one that has left, and cancels the
// request.
func EndReadLimit(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// LimitWrite bounds how long a client may take to read what comes next.
func LimitWrite(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeLimit))
}
